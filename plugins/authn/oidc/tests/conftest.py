"""A clock that stands still and an issuer that these tests ask."""

import pytest
from hyperkube_testing.peers.openid_issuer import OpenIdIssuer
from hyperkube_testing.peers.peer import Peer

from hyperkube.client.fake import FakeClient


@pytest.fixture
def clock():
    return FakeClient().clock


@pytest.fixture
def peer(tmp_path):
    with Peer(tmp_path) as peer:
        yield peer


@pytest.fixture
def issuer(peer, clock):
    return OpenIdIssuer(peer, "/one", clock)
