"""The objects that the API server answers for, as its options make them."""

import pytest
from hyperkube_host.apiserver.controlplane.system_objects import SystemObjects
from hyperkube_host.apiserver.options import Options
from hyperkube_host.apiserver.resources.registry import Registry
from hyperkube_lib.client_certificates.noted import notes_of
from hyperkube_lib.client_certificates.noting import note
from hyperkube_lib.serving.published_authority import REQUEST_HEADER_CA, REQUEST_HEADER_NOTES
from hyperkube_lib.watch_cache.watch_cache import StoreCache
from hyperkube_testing.peers.certificates import issue

from hyperkube.machinery.clock import FakeClock
from hyperkube.storage.memory import MemoryStore

CLOCK = FakeClock()
PROXIES = issue("proxies", authority=True, days=100)


@pytest.fixture
def authority(tmp_path):
    path = tmp_path / "request-header-ca.crt"
    path.write_bytes(PROXIES.pem)
    return path


def published(authority):
    options = Options.of({"requestheader-client-ca-file": str(authority), "advertise-address": "127.0.0.1"})
    objects = SystemObjects(Registry(StoreCache(MemoryStore(), CLOCK)), options, CLOCK).objects()
    return next(each for each in objects if each["metadata"]["name"] == "extension-apiserver-authentication")["data"]


def test_delegates_are_told_the_front_proxys_authority(authority):
    data = published(authority)

    assert data[REQUEST_HEADER_CA] == PROXIES.pem.decode()
    assert REQUEST_HEADER_NOTES not in data


def test_what_is_noted_beside_it_is_published_too(authority):
    noted = note(authority, [issue("proxy", by=PROXIES).pem], CLOCK.now())
    notes_of(authority).write_bytes(noted)

    assert published(authority)[REQUEST_HEADER_NOTES] == noted.decode()
