"""The namespace controller: deletes what is in a namespace and says what it waits for."""

import json

import pytest
from hyperkube_controller.namespace import Content, Namespace, decide

from hyperkube.client.client import RawResponse
from hyperkube.kinds.resources import CONFIG_MAPS, NAMESPACES, PODS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

VERBS = ["create", "delete", "deletecollection", "get", "list", "watch"]
CORE = {
    "kind": "APIResourceList",
    "resources": [
        {"name": "pods", "kind": "Pod", "namespaced": True, "verbs": VERBS},
        {"name": "pods/log", "kind": "Pod", "namespaced": True, "verbs": ["get"]},
        {"name": "configmaps", "kind": "ConfigMap", "namespaced": True, "verbs": VERBS},
        {"name": "nodes", "kind": "Node", "namespaced": False, "verbs": VERBS},
    ],
}


def serve_discovery(rig):
    for path, document in {
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/api/v1": CORE,
        "/apis": {"kind": "APIGroupList", "groups": []},
    }.items():
        rig.client.answer("GET", path, lambda _body, d=document: RawResponse(200, {}, json.dumps(d).encode()))


def obj(kind, name, **meta):
    return {"kind": kind, "apiVersion": "v1", "metadata": {"name": name, "namespace": "gone", **meta}}


@pytest.fixture
def rig():
    rig = ControllerRig(Namespace)
    serve_discovery(rig)
    rig.client.seed(NAMESPACES, {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "gone"}})
    return rig


class TestContract(ControllerContract):
    plugin = Namespace

    def populate(self, rig):
        serve_discovery(rig)
        rig.client.seed(NAMESPACES, {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "gone"}})
        rig.client.seed(CONFIG_MAPS, obj("ConfigMap", "c"))
        rig.client.delete(NAMESPACES, "gone")
        rig.client.actions.clear()


def test_a_namespace_that_lives_is_left_alone(rig):
    rig.client.seed(CONFIG_MAPS, obj("ConfigMap", "c"))

    rig.settle()

    assert rig.client.objects(CONFIG_MAPS)


def test_a_namespace_goes_once_it_is_empty(rig):
    rig.client.seed(CONFIG_MAPS, obj("ConfigMap", "c"))
    rig.client.seed(PODS, obj("Pod", "p"))
    rig.client.delete(NAMESPACES, "gone")

    rig.settle()

    assert rig.client.objects(PODS) == rig.client.objects(CONFIG_MAPS) == rig.client.objects(NAMESPACES) == []


def test_nothing_else_goes_while_pods_remain(rig):
    rig.client.seed(CONFIG_MAPS, obj("ConfigMap", "c"))
    rig.client.seed(PODS, obj("Pod", "p", finalizers=["example.com/mine"]))
    rig.client.delete(NAMESPACES, "gone")
    rig.settle()

    assert len(rig.client.objects(CONFIG_MAPS)) == 1
    status = rig.client.get(NAMESPACES, "gone")["status"]
    told = {c["type"]: c["message"] for c in status["conditions"] if c["status"] == "True"}
    assert told["NamespaceContentRemaining"] == "Some resources are remaining: pods. has 1 resource instances"

    rig.client.patch(PODS, "p", {"metadata": {"finalizers": None}}, "gone")
    rig.advance(5)
    assert rig.client.objects(CONFIG_MAPS) == rig.client.objects(NAMESPACES) == []


def test_nothing_else_goes_while_pods_cannot_be_deleted(rig):
    rig.client.seed(CONFIG_MAPS, obj("ConfigMap", "c"))
    rig.client.seed(PODS, obj("Pod", "p"))
    for _ in range(9):
        rig.client.fail_next("delete", "pods", Forbidden("not you"))
    rig.client.delete(NAMESPACES, "gone")

    rig.settle()

    assert len(rig.client.objects(CONFIG_MAPS)) == 1


def test_what_holds_it_back_is_told_and_looked_at_again(rig):
    rig.client.seed(CONFIG_MAPS, obj("ConfigMap", "c", finalizers=["example.com/mine"]))
    rig.client.delete(NAMESPACES, "gone")
    rig.settle()

    status = rig.client.get(NAMESPACES, "gone")["status"]
    told = {c["type"]: c for c in status["conditions"] if c["status"] == "True"}
    assert told["NamespaceContentRemaining"]["message"] == (
        "Some resources are remaining: configmaps. has 1 resource instances"
    )
    assert told["NamespaceFinalizersRemaining"]["message"] == (
        "Some content in the namespace has finalizers remaining: example.com/mine in 1 resource instances"
    )

    rig.client.patch(CONFIG_MAPS, "c", {"metadata": {"finalizers": None}}, "gone")
    rig.advance(5)
    assert rig.client.objects(NAMESPACES) == []


def test_a_refusal_is_told(rig):
    rig.client.seed(CONFIG_MAPS, obj("ConfigMap", "c"))
    for _ in range(5):
        rig.client.fail_next("delete", "configmaps", Forbidden("not you"))
    rig.client.delete(NAMESPACES, "gone")

    rig.settle()

    conditions = rig.client.get(NAMESPACES, "gone")["status"]["conditions"]
    failure = next(c for c in conditions if c["type"] == "NamespaceDeletionContentFailure")
    assert failure["message"] == "Failed to delete all resource types, 1 remaining: not you"


GOOD = {
    "NamespaceDeletionDiscoveryFailure": ("ResourcesDiscovered", "All resources successfully discovered"),
    "NamespaceDeletionGroupVersionParsingFailure": ("ParsedGroupVersions", "All legacy kube types successfully parsed"),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    "NamespaceContentRemaining": ("ContentRemoved", "All content successfully removed"),
    "NamespaceFinalizersRemaining": ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
}


def test_a_namespace_that_others_hold_says_that_it_is_empty(rig):
    rig.client.patch(NAMESPACES, "gone", {"spec": {"finalizers": ["kubernetes", "mine"]}})
    rig.client.seed(CONFIG_MAPS, obj("ConfigMap", "c"))
    rig.client.delete(NAMESPACES, "gone")

    rig.settle()
    rig.advance(5)

    namespace = rig.client.get(NAMESPACES, "gone")
    assert namespace["spec"]["finalizers"] == ["mine"]
    assert {each["type"]: (each["reason"], each["message"]) for each in namespace["status"]["conditions"]} == GOOD
    assert {each["status"] for each in namespace["status"]["conditions"]} == {"False"}


@pytest.mark.parametrize(
    ("before", "order"),
    [
        ([{"type": "unknown", "status": "True"}], ["unknown", *GOOD]),
        ([{"type": "NamespaceDeletionDiscoveryFailure", "status": "True"}], list(GOOD)),
        (
            [
                {"type": "NamespaceDeletionGroupVersionParsingFailure", "status": "True"},
                {"type": "NamespaceDeletionDiscoveryFailure", "status": "True"},
            ],
            [
                "NamespaceDeletionGroupVersionParsingFailure",
                "NamespaceDeletionDiscoveryFailure",
                "NamespaceDeletionContentFailure",
                "NamespaceContentRemaining",
                "NamespaceFinalizersRemaining",
            ],
        ),
    ],
    ids=["others stay", "success replaces", "the order stays"],
)
def test_conditions_keep_their_places(rig, before, order):
    namespace = {"metadata": {"name": "x"}, "status": {"conditions": before}}

    (action,) = decide(namespace, Content(), rig.clock.now())

    conditions = action.object["status"]["conditions"]
    assert [each["type"] for each in conditions] == order
    assert [each["status"] for each in conditions if each["type"] in GOOD] == ["False"] * 5


REMAINING = {"daemonsets.apps": 5, "deployments.apps": 5}
REMAIN = "daemonsets.apps has 5 resource instances, deployments.apps has 5 resource instances"
FINALIZERS = {"service-catalog": 6, "kubedb": 5}
HOLD = "kubedb in 5 resource instances, service-catalog in 6 resource instances"


@pytest.mark.parametrize(
    ("remaining", "finalizers", "told"),
    [
        ({}, {}, {}),
        (REMAINING, {}, {"SomeResourcesRemain": f"Some resources are remaining: {REMAIN}"}),
        (
            {},
            FINALIZERS,
            {"SomeFinalizersRemain": f"Some content in the namespace has finalizers remaining: {HOLD}"},
        ),
        (
            REMAINING,
            FINALIZERS,
            {
                "SomeResourcesRemain": f"Some resources are remaining: {REMAIN}",
                "SomeFinalizersRemain": f"Some content in the namespace has finalizers remaining: {HOLD}",
            },
        ),
    ],
    ids=["nothing", "resources", "finalizers", "both"],
)
def test_what_remains_is_told_in_order(rig, remaining, finalizers, told):
    (action,) = decide({"metadata": {"name": "x"}}, Content(remaining, finalizers), rig.clock.now())

    conditions = action.object["status"]["conditions"]
    assert {each["reason"]: each["message"] for each in conditions if each["status"] == "True"} == told


def told(rig, kind):
    conditions = rig.client.get(NAMESPACES, "gone")["status"]["conditions"]
    return next((c["status"], c["reason"], c["message"]) for c in conditions if c["type"] == kind)


def test_pods_that_outlast_their_grace_are_told_of(rig):
    rig.client.seed(PODS, {**obj("Pod", "p"), "spec": {"terminationGracePeriodSeconds": 30, "nodeName": "n"}})
    rig.client.delete(NAMESPACES, "gone")
    rig.settle()
    before = told(rig, "NamespaceDeletionContentFailure")

    rig.advance(31)

    text = "unexpected items still remain in namespace: gone for gvr: /v1, Resource=pods"
    assert before[:2] == ("False", "ContentDeleted")
    assert told(rig, "NamespaceDeletionContentFailure") == (
        "True",
        "ContentDeletionFailed",
        f"Failed to delete all resource types, 1 remaining: {text}",
    )


def test_servers_that_do_not_answer_are_told_of():
    namespace = {"metadata": {"name": "x"}, "spec": {"finalizers": ["kubernetes"]}}

    (action,) = decide(namespace, Content(undiscovered=["b.io/v1", "a.io/v1"]), ControllerRig().clock.now())

    conditions = {c["type"]: (c["status"], c["reason"], c["message"]) for c in action.object["status"]["conditions"]}
    assert conditions["NamespaceDeletionDiscoveryFailure"] == (
        "True",
        "DiscoveryFailed",
        (
            "Discovery failed for some groups, 2 failing: unable to retrieve the complete list of server APIs: "
            "a.io/v1: stale GroupVersion discovery: a.io/v1, b.io/v1: stale GroupVersion discovery: b.io/v1"
        ),
    )
    assert conditions["NamespaceDeletionGroupVersionParsingFailure"] == (
        "False",
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    )
