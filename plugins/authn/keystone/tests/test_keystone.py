from contextlib import ExitStack

import pytest
from hyperkube_authn.keystone import Keystone
from hyperkube_testing.peers.peer import Failure, Peer

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.authn import Credentials
from hyperkube.machinery.errors import Unauthorized, UsageError
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.authn import AuthnContract


def version_3(body):
    user = body["auth"]["identity"]["password"]["user"]
    return {"token": {}} if (user["name"], user["password"]) == ("alice", "sesame") else Failure(401)


def version_2(body):
    given = body["auth"]["passwordCredentials"]
    return {"access": {}} if (given["username"], given["password"]) == ("alice", "sesame") else Failure(401)


@pytest.fixture
def peer(tmp_path):
    with Peer(tmp_path) as peer:
        peer.answers["/identity/v3/auth/tokens"] = version_3
        peer.answers["/identity/v2.0/tokens"] = version_2
        yield peer


@pytest.fixture
def build(peer):
    with ExitStack() as stack:

        def made(path="/identity"):
            options = {"experimental_keystone_url": peer.url + path, "experimental_keystone_ca_file": str(peer.ca_file)}
            built = Keystone(PluginContext(name="Keystone", settings=options, clock=FakeClient().clock))
            stack.callback(built.close)
            return built

        yield made


class TestPromises(AuthnContract):
    @pytest.fixture
    def built(self, build):
        return build()

    def good(self, built):
        return [Credentials(basic=("alice", "sesame"))]

    def bad(self, built):
        return [Credentials(basic=("alice", "wrong-one")), Credentials(basic=("alice", ""))]


@pytest.mark.parametrize("path", ["/identity", "/identity/", "/identity/v3", "/identity/v2.0"])
def test_both_versions_are_spoken(build, path):
    assert build(path).authn_authenticate(Credentials(basic=("alice", "sesame"))).user.name == "alice"


def test_a_password_that_was_right_a_moment_ago_is_not_asked_about(build, peer):
    built = build()

    for _ in range(3):
        built.authn_authenticate(Credentials(basic=("alice", "sesame")))

    assert len(peer.asked) == 1


def test_a_server_that_cannot_be_reached_lets_nobody_in(build, peer):
    built = build()
    peer.stop()

    with pytest.raises(Unauthorized):
        built.authn_authenticate(Credentials(basic=("alice", "sesame")))


def test_an_address_without_tls_is_refused_at_start():
    with pytest.raises(UsageError, match="Auth URL should be secure and start with https"):
        Keystone(PluginContext(name="Keystone", settings={"experimental_keystone_url": "http://127.0.0.1:5000"}))
