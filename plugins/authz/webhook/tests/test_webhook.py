import re
from contextlib import ExitStack
from dataclasses import replace

import pytest
from hyperkube_authz.webhook import Webhook
from hyperkube_testing.peers.peer import Failure, Peer

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs.authz import Attributes
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.fields import parse_field_selector
from hyperkube.machinery.labels import parse_selector
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.authz import AuthzContract

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
            flags = {"authorization_webhook_config_file": peer.kubeconfig("/review"), **options}
            context = PluginContext(name="Webhook", clock=clock, settings=settings or flags)
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
    build(authorization_webhook_version="v1").authz_authorize(PODS)

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
        (
            {"matchConditions": [{"expression": "true"}]},
            "matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified",
        ),
        ({"failurePolicy": None}, "failurePolicy: Required value"),
        (
            {"failurePolicy": "x"},
            'failurePolicy: Unsupported value: "x": supported values: "NoOpinion", "Deny"',
        ),
        ({"timeout": None}, "timeout: Required value"),
        ({"timeout": "1m"}, 'timeout: Invalid value: "1m": must be > 0s and <= 30s'),
        ({"authorizedTTL": "-1s"}, 'authorizedTTL: Invalid value: "-1s": must be > 0s'),
        (
            {"subjectAccessReviewVersion": "v2"},
            'subjectAccessReviewVersion: Unsupported value: "v2": supported values: "v1", "v1beta1"',
        ),
        (
            {"connectionInfo": {"type": "Guess"}},
            'connectionInfo.type: Unsupported value: "Guess": supported values: "InClusterConfig", "KubeConfigFile"',
        ),
        (
            {"connectionInfo": {"type": "InClusterConfig", "kubeConfigFile": "/a"}},
            'connectionInfo.kubeConfigFile: Invalid value: "/a": can only be set when type=KubeConfigFile',
        ),
        (
            {"connectionInfo": {"type": "InClusterConfig"}},
            "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined",
        ),
        (
            {"connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": "a/b"}},
            'connectionInfo.kubeConfigFile: Invalid value: "a/b": must be an absolute path',
        ),
        (
            {"connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": "/none"}},
            'connectionInfo.kubeConfigFile: Invalid value: "/none": error loading file: stat /none: no such file',
        ),
        (
            {"failurePolicy": None, "timeout": None},
            "[timeout: Required value, failurePolicy: Required value]",
        ),
        ({"timeOut": "3s"}, "unknown field 'timeOut'"),
    ],
    ids=repr,
)
def test_wrong_settings_are_refused_at_start(build, peer, monkeypatch, change, message):
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(UsageError, match=re.escape(message)):
        build(table(peer, **change))


def test_a_pod_asks_the_cluster_it_runs_in(build, peer, tmp_path, monkeypatch):
    (tmp_path / "token").write_text("the pod's")
    (tmp_path / "ca.crt").write_bytes(peer.ca_file.read_bytes())
    host, port = peer.url.removeprefix("https://").split(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    monkeypatch.setattr("hyperkube.client.kubeconfig.IN_CLUSTER", tmp_path)
    peer.answers["/apis/authorization.k8s.io/v1/subjectaccessreviews"] = review

    decision = build(table(peer, connectionInfo={"type": "InClusterConfig"})).authz_authorize(PODS)

    assert decision.allowed
    assert peer.credentials == ["Bearer the pod's"]


def conditions(*expressions, **more):
    rows = [{"expression": expression} for expression in expressions]
    return {"matchConditions": rows, "matchConditionSubjectAccessReviewVersion": "v1", **more}


@pytest.mark.parametrize(
    ("expressions", "asked"),
    [
        (["request.user == 'alice'"], True),
        (["request.user == 'bob'"], False),
        (["has(request.resourceAttributes)", "request.resourceAttributes.namespace == 'ns'"], True),
        (["has(request.nonResourceAttributes)"], False),
        (["'dev' in request.groups && request.extra['team'][0] == 'blue' && request.uid == '7'"], True),
        (["request.resourceAttributes.group == '' && request.resourceAttributes.subresource == 'log'"], True),
        (["request.extra['none'][0] == 'x'", "request.user == 'bob'"], False),
    ],
    ids=lambda value: value if isinstance(value, bool) else " and ".join(value),
)
def test_a_webhook_is_asked_when_all_conditions_hold(build, peer, expressions, asked):
    decision = build(table(peer, failurePolicy="Deny", **conditions(*expressions))).authz_authorize(PODS)

    assert (decision.verdict, len(peer.asked)) == (("allow", 1) if asked else ("no opinion", 0))


@pytest.mark.parametrize(("policy", "verdict"), [("NoOpinion", "no opinion"), ("Deny", "deny")])
def test_the_failure_policy_counts_for_a_condition_without_an_answer(build, peer, policy, verdict):
    built = build(table(peer, **conditions("request.extra['none'][0] == 'x'", "true", failurePolicy=policy)))

    decision = built.authz_authorize(PODS)

    assert (decision.verdict, decision.cacheable, peer.asked) == (verdict, False, [])


@pytest.mark.parametrize(
    ("expressions", "message"),
    [
        ([" "], "matchConditions[0].expression: Required value"),
        (["true", "true"], 'matchConditions[1].expression: Duplicate value: "true"'),
        (
            ["request.user"],
            'matchConditions[0].expression: Invalid value: "request.user": must evaluate to bool but got string',
        ),
        (
            ["request.usr == ''"],
            (
                "matchConditions[0].expression: Invalid value: \"request.usr == ''\": "
                "compilation failed: ERROR: <input>:1:8: undefined field 'usr'"
            ),
        ),
        (["true || " * n + "false" for n in range(65)], "matchConditions: Too many: 65: must have at most 64 items"),
    ],
    ids=["empty", "twice", "no question", "wrong", "too many"],
)
def test_wrong_conditions_are_refused_at_start(build, peer, expressions, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        build(table(peer, **conditions(*expressions)))


def test_a_file_is_required():
    with pytest.raises(UsageError, match="config file not passed"):
        Webhook(PluginContext(name="Webhook"))


def test_selectors_are_passed_on_as_requirements(build, peer):
    fields = parse_field_selector("spec.nodeName=n1,status.phase!=Failed").requirements
    labels = parse_selector("app in (a,b),tier!=x,!old,new,size>3").requirements
    question = Attributes(ALICE, "list", "", "v1", "pods", field_selector=fields, label_selector=labels)

    build(authorization_webhook_version="v1").authz_authorize(question)

    (body,) = peer.bodies("/review")
    asked = body["spec"]["resourceAttributes"]
    assert asked["fieldSelector"] == {
        "requirements": [
            {"key": "spec.nodeName", "operator": "In", "values": ["n1"]},
            {"key": "status.phase", "operator": "NotIn", "values": ["Failed"]},
        ]
    }
    assert sorted(asked["labelSelector"]["requirements"], key=lambda row: row["key"]) == [
        {"key": "app", "operator": "In", "values": ["a", "b"]},
        {"key": "new", "operator": "Exists"},
        {"key": "old", "operator": "DoesNotExist"},
        {"key": "tier", "operator": "NotIn", "values": ["x"]},
    ]


def test_conditions_see_selectors(build, peer):
    expression = "has(request.resourceAttributes.fieldSelector) && request.resourceAttributes.fieldSelector.requirements[0].key == 'a'"
    conditions = {"matchConditions": [{"expression": expression}], "matchConditionSubjectAccessReviewVersion": "v1"}
    built = build(table(peer, **conditions))

    built.authz_authorize(PODS)
    built.authz_authorize(replace(PODS, verb="list", field_selector=parse_field_selector("a=b").requirements))

    assert [body["spec"]["resourceAttributes"]["verb"] for body in peer.bodies("/review")] == ["list"]
