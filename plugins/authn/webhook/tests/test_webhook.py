from contextlib import ExitStack

import pytest
from hyperkube_authn.webhook import Webhook
from hyperkube_testing.peers.peer import Failure, Peer

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.authn import Credentials
from hyperkube.machinery.errors import Unauthorized, UsageError
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.authn import AuthnContract

ALICE = {"username": "alice", "uid": "7", "groups": ["dev"], "extra": {"Team": ["blue"]}}


def review(body):
    good = body["spec"]["token"] == "open-sesame"
    return {**body, "status": {"authenticated": good, "user": ALICE if good else {}}}


@pytest.fixture
def peer(tmp_path):
    with Peer(tmp_path) as peer:
        peer.answers["/review"] = review
        yield peer


@pytest.fixture
def clock():
    return FakeClient().clock


@pytest.fixture
def build(peer, clock):
    with ExitStack() as stack:

        def made(**options):
            flags = {"authentication_token_webhook_config_file": peer.kubeconfig("/review"), **options}
            built = Webhook(PluginContext(name="Webhook", settings=flags, clock=clock))
            stack.callback(built.close)
            return built

        yield made


class TestPromises(AuthnContract):
    @pytest.fixture
    def built(self, build):
        return build()

    def good(self, built):
        return [Credentials(token="open-sesame")]


def test_the_webhook_names_the_user(build):
    user = build().authn_authenticate(Credentials(token="open-sesame")).user

    assert (user.name, user.uid, user.groups, dict(user.extra)) == ("alice", "7", ("dev",), {"Team": ("blue",)})


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_the_version_of_the_review_is_an_option(build, peer, version):
    build(authentication_token_webhook_version=version).authn_authenticate(Credentials(token="t"))

    assert [body["apiVersion"] for body in peer.bodies("/review")] == [f"authentication.k8s.io/{version}"]


def test_another_version_is_refused_at_start(build):
    with pytest.raises(
        UsageError, match='unsupported authentication webhook version "v7", supported versions are "v1", "v1beta1"'
    ):
        build(authentication_token_webhook_version="v7")


@pytest.mark.parametrize("token", ["open-sesame", "wrong"])
def test_an_answer_is_remembered_for_its_time(build, peer, clock, token):
    built = build(authentication_token_webhook_cache_ttl=30.0)

    built.authn_authenticate(Credentials(token=token))
    clock.advance(29)
    built.authn_authenticate(Credentials(token=token))
    assert len(peer.asked) == 1
    clock.advance(1)
    built.authn_authenticate(Credentials(token=token))

    assert len(peer.asked) == 2


def test_a_failure_is_not_remembered(build, peer):
    built = build()
    peer.answers["/review"] = lambda _body: Failure(403)
    with pytest.raises(Unauthorized):
        built.authn_authenticate(Credentials(token="open-sesame"))

    peer.answers["/review"] = review

    assert built.authn_authenticate(Credentials(token="open-sesame")) is not None


def test_an_error_that_the_webhook_tells_of_is_not_remembered(build, peer):
    built = build()
    peer.answers["/review"] = lambda body: {**body, "status": {"authenticated": False, "error": "no directory"}}
    with pytest.raises(Unauthorized):
        built.authn_authenticate(Credentials(token="open-sesame"))

    peer.answers["/review"] = review

    assert built.authn_authenticate(Credentials(token="open-sesame")) is not None


@pytest.mark.parametrize(("audiences", "known"), [(["api"], True), (["vault"], False), ([], True)])
def test_a_token_must_be_meant_for_the_server(build, peer, audiences, known):
    peer.answers["/review"] = lambda body: {
        **body,
        "status": {"authenticated": True, "user": ALICE, "audiences": audiences},
    }
    built = build(api_audiences=["api"])

    assert (built.authn_authenticate(Credentials(token="t")) is not None) is known
    assert peer.bodies("/review")[0]["spec"]["audiences"] == ["api"]
