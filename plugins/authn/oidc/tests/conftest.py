"""A clock that stands still and an issuer that these tests ask."""

import pytest

from hyperkube.client.fake import FakeClient
from hyperkube.testing.openid_issuer import OpenIdIssuer
from hyperkube.testing.peer import Peer


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
