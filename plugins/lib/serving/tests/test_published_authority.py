"""Whose certificates a server believes that stands beside the API server: what that publishes, as it changes."""

import orjson
import pytest
from hyperkube_lib.client_certificates import CertificateAuthorities, CertificateRefused
from hyperkube_lib.serving.published_authority import PUBLISHED, REFRESH_SECONDS, PublishedAuthority
from hyperkube_testing.peers.certificates import issue

from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import CONFIG_MAPS
from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import UsageError

CA = issue("ca", authority=True, days=1000)
JANE = issue("jane", by=CA, days=1000)


@pytest.fixture
def clock():
    return FakeClock(CA.certificate.not_valid_before_utc)


@pytest.fixture
def client(clock):
    return FakeClient(clock)


def publish(client, text):
    namespace, name = PUBLISHED
    client.create(CONFIG_MAPS, {"metadata": {"name": name}, "data": {"client-ca-file": text}}, namespace)


def believes(authority, clock):
    try:
        return bool(CertificateAuthorities(str(authority.path)).verify((JANE.der,), clock.now()))
    except CertificateRefused:
        return False


def test_what_is_published_is_believed(client, clock, tmp_path):
    publish(client, CA.pem.decode())
    authority = PublishedAuthority(client, clock, tmp_path, tolerant=True)
    authority.start()

    assert believes(authority, clock)


def test_nobody_is_believed_before_something_is_published(client, clock, tmp_path):
    authority = PublishedAuthority(client, clock, tmp_path, tolerant=True)
    authority.start()
    before = believes(authority, clock)
    publish(client, CA.pem.decode())
    clock.advance(REFRESH_SECONDS + 1)

    assert not before
    assert believes(authority, clock)


def test_what_was_published_stays_when_nobody_answers(client, clock, tmp_path):
    publish(client, CA.pem.decode())
    authority = PublishedAuthority(client, clock, tmp_path, tolerant=True)
    authority.start()
    client.fail_next("get", "configmaps", ConnectionError("down"))
    clock.advance(REFRESH_SECONDS + 1)

    assert believes(authority, clock)


def test_an_end_is_the_end(client, clock, tmp_path):
    authority = PublishedAuthority(client, clock, tmp_path, tolerant=True)
    authority.start()
    authority.close()
    publish(client, CA.pem.decode())
    clock.advance(REFRESH_SECONDS * 3)

    assert not believes(authority, clock)


def test_a_look_up_that_must_succeed_is_one_line(client, clock, tmp_path):
    with pytest.raises(UsageError, match="cannot look up configmap kube-system/extension-apiserver-authentication"):
        PublishedAuthority(client, clock, tmp_path, tolerant=False).start()


PROXIES = issue("proxies", authority=True, days=1000)
FRONT, STRANGER = (issue(name, by=PROXIES, days=1000).der for name in ("front", "stranger"))
HEADERS = {"x-remote-user": ["jane"], "x-remote-group": ["devs"]}


def publish_front_proxy(client, **lists):
    namespace, name = PUBLISHED
    data = {"requestheader-client-ca-file": PROXIES.pem.decode()}
    lists = {"username-headers": ["X-Remote-User"], "group-headers": ["X-Remote-Group"], **lists}
    data |= {f"requestheader-{name}": orjson.dumps(values).decode() for name, values in lists.items()}
    client.create(CONFIG_MAPS, {"metadata": {"name": name}, "data": data}, namespace)


def test_a_published_front_proxy_names_users(client, clock, tmp_path):
    publish_front_proxy(client, **{"allowed-names": ["front"]})
    authority = PublishedAuthority(client, clock, tmp_path, tolerant=True)
    authority.start()

    assert authority.front_proxy.user([FRONT], HEADERS, clock.now()).name == "jane"
    with pytest.raises(CertificateRefused):
        authority.front_proxy.user([STRANGER], HEADERS, clock.now())


def test_no_header_names_a_user_before_a_front_proxy_is_published(client, clock, tmp_path):
    authority = PublishedAuthority(client, clock, tmp_path, tolerant=True)
    authority.start()
    before = authority.front_proxy.user([FRONT], HEADERS, clock.now())
    publish_front_proxy(client)
    clock.advance(REFRESH_SECONDS + 1)

    assert before is None
    assert authority.front_proxy.user([FRONT], HEADERS, clock.now()).groups == ("devs", "system:authenticated")


def test_a_front_proxy_stays_when_what_is_published_is_broken(client, clock, tmp_path):
    publish_front_proxy(client)
    authority = PublishedAuthority(client, clock, tmp_path, tolerant=True)
    authority.start()
    namespace, name = PUBLISHED
    client.patch(CONFIG_MAPS, name, {"data": {"requestheader-allowed-names": "[broken"}}, namespace)
    clock.advance(REFRESH_SECONDS + 1)

    assert authority.front_proxy.user([FRONT], HEADERS, clock.now()).name == "jane"
