from contextlib import ExitStack

import pytest
from hyperkube_authz.webhook import Webhook

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.authz import Attributes
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.authz import AuthzContract
from hyperkube.testing.peer import Failure, Peer

ALICE = UserInfo("alice", "7", ("dev",), {"team": ("blue",)})
BOB = UserInfo("bob")
PODS = Attributes(ALICE, "get", "", "v1", "pods", "log", "ns", "p")


def review(body):
    return {**body, "status": {"allowed": body["spec"]["user"] == "alice", "reason": "because"}}


@pytest.fixture
def clock():
    return FakeClient().clock


@pytest.fixture
def peer(tmp_path):
    with Peer(tmp_path) as peer:
        peer.answers["/review"] = review
        yield peer


@pytest.fixture
def build(peer, clock):
    with ExitStack() as stack:

        def made(settings=None, **options):
            flags = {"authorization-webhook-config-file": peer.kubeconfig("/review"), **options}
            context = PluginContext(name="Webhook", options=flags, clock=clock, settings=settings or {})
            built = Webhook(context)
            stack.callback(built.close)
            return built

        yield made


def table(peer, **more):
    return {
        "timeout": "3s",
        "subjectAccessReviewVersion": "v1",
        "failurePolicy": "NoOpinion",
        "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": peer.kubeconfig("/review")},
        **more,
    }


class TestPromises(AuthzContract):
    in_memory = False

    @pytest.fixture(autouse=True)
    def _build(self, build):
        self.build = build

    def questions(self):
        return [PODS, Attributes(BOB, "get", path="/version")]


def test_the_review_says_all_about_the_request(build, peer):
    build(**{"authorization-webhook-version": "v1"}).authz_authorize(PODS)

    assert peer.bodies("/review") == [
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "metadata": {},
            "spec": {
                "user": "alice",
                "uid": "7",
                "groups": ["dev"],
                "extra": {"team": ["blue"]},
                "resourceAttributes": {
                    "namespace": "ns",
                    "verb": "get",
                    "version": "v1",
                    "resource": "pods",
                    "subresource": "log",
                    "name": "p",
                },
            },
        }
    ]


def test_the_first_version_calls_the_groups_group(build, peer):
    build().authz_authorize(Attributes(ALICE, "get", path="/version"))

    spec = peer.bodies("/review")[0]["spec"]
    assert (spec["group"], spec["nonResourceAttributes"]) == (["dev"], {"path": "/version", "verb": "get"})


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        ({"allowed": True}, "allow"),
        ({"allowed": False}, "no opinion"),
        ({"allowed": False, "denied": True}, "deny"),
        ({"allowed": True, "denied": True}, "deny"),
        ({}, "no opinion"),
    ],
    ids=repr,
)
def test_the_webhook_decides(build, peer, status, verdict):
    peer.answers["/review"] = lambda body: {**body, "status": {**status, "reason": "because"}}

    decision = build().authz_authorize(PODS)

    assert (decision.verdict, decision.reason) == (verdict, "because")


@pytest.mark.parametrize(("user", "seconds"), [(ALICE, 300), (BOB, 30)], ids=["yes", "no"])
def test_a_yes_and_a_no_are_remembered_for_different_times(build, peer, clock, user, seconds):
    built, asked = build(), Attributes(user, "get", resource="pods")

    built.authz_authorize(asked)
    clock.advance(seconds - 1)
    built.authz_authorize(asked)
    assert len(peer.asked) == 1
    clock.advance(2)
    built.authz_authorize(asked)

    assert len(peer.asked) == 2


def test_a_very_long_question_is_not_remembered(build, peer):
    built, asked = build(), Attributes(ALICE, "get", resource="pods", name="x" * 20_000)

    built.authz_authorize(asked)
    built.authz_authorize(asked)

    assert len(peer.asked) == 2


@pytest.mark.parametrize(("policy", "verdict"), [("NoOpinion", "no opinion"), ("Deny", "deny")])
def test_the_failure_policy_counts_when_it_cannot_be_asked(build, peer, policy, verdict):
    peer.answers["/review"] = lambda _body: Failure(403)

    assert build(table(peer, failurePolicy=policy)).authz_authorize(PODS).verdict == verdict


def test_remembering_may_be_turned_off(build, peer):
    built = build(table(peer, cacheAuthorizedRequests=False))

    built.authz_authorize(PODS)
    built.authz_authorize(PODS)

    assert len(peer.asked) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"matchConditions": [{"expression": "true"}]}, "not built yet"),
        ({"failurePolicy": None}, "must be 'NoOpinion' or 'Deny'"),
        ({"timeout": "1m"}, "less than or equal to 30s"),
        ({"subjectAccessReviewVersion": "v2"}, "'v2' is unknown"),
        ({"connectionInfo": {"type": "InClusterConfig"}}, "must be 'KubeConfigFile'"),
        ({"timeOut": "3s"}, "unknown field 'timeOut'"),
    ],
    ids=repr,
)
def test_wrong_settings_are_refused_at_start(build, peer, change, message):
    with pytest.raises(UsageError, match=message):
        build(table(peer, **change))


def test_a_file_is_required():
    with pytest.raises(UsageError, match="config file not passed"):
        Webhook(PluginContext(name="Webhook"))
