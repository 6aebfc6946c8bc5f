"""References that do not agree with what is there: other namespaces, other kinds, versions that are not served.

The cases are those of kubernetes ``garbagecollector_test.go``, ``TestConflictingData`` and its neighbours.
"""

import pytest
from gc_world import APPS, CORE, UNSEEN, events, left, obj, ref, resource, serve_discovery
from hyperkube_controller.garbagecollector import Garbagecollector

from hyperkube.kinds.resources import CONFIG_MAPS, DEPLOYMENTS, NODES, PODS, ROLES
from hyperkube.testing.controller_rig import ControllerRig

RBAC = "rbac.authorization.k8s.io"
APP = ref("Deployment", "web", "u-web")
OLD_APP = ref("Deployment", "web", "u-web", api="apps/v1beta1")
OTHER_APP = ref("Deployment", "web", "u-web", api="extensions/v1beta1")
SECRET = ref("ConfigMap", "secret", "u-web", api="v1")
"""A wrong name for what the deployment's uid stands for."""


def rig_with(**served):
    rig = ControllerRig(Garbagecollector)
    serve_discovery(rig, **served)
    return rig


@pytest.fixture
def rig():
    return rig_with()


@pytest.fixture
def blind():
    """A collector that sees no deployments and no pods' owners among nodes: it has to ask for them."""
    return rig_with(
        core=[*CORE[:2], resource("nodes", "Node", namespaced=False, verbs=UNSEEN)],
        apps=[resource("deployments", "Deployment", verbs=UNSEEN)],
    )


def web(rig):
    rig.client.seed(DEPLOYMENTS, obj("Deployment", "web", api="apps/v1"))


def pod(rig, name, *owners):
    rig.client.seed(PODS, obj("Pod", name, *owners))


@pytest.mark.parametrize("seen", ["rig", "blind"])
def test_a_cluster_scoped_owner_keeps_a_namespaced_child(seen, request):
    rig = request.getfixturevalue(seen)
    rig.client.seed(NODES, obj("Node", "n1", namespace=""))
    pod(rig, "pod", ref("Node", "n1", "u-n1", api="v1"))

    rig.settle()

    assert left(rig) == ["pod"]
    assert events(rig) == []


@pytest.mark.parametrize("first", ["child", "owner"])
def test_an_owner_in_another_namespace_is_told_of_and_the_child_deleted(rig, first):
    child = obj("Pod", "child", ref("Pod", "far", "u-far", api="v1"), namespace="one")
    owner = obj("Pod", "far", namespace="two")
    for each in (child, owner) if first == "child" else (owner, child):
        rig.client.seed(PODS, each)

    rig.settle()

    assert left(rig) == ["far"]
    assert set(events(rig)) == {
        (
            "OwnerRefInvalidNamespace",
            'ownerRef [v1/Pod, namespace: one, name: far, uid: u-far] does not exist in namespace "one"',
        )
    }


@pytest.mark.parametrize("seen", [True, False])
def test_a_cluster_scoped_child_of_a_namespaced_owner_is_left_as_it_is(seen):
    rig = rig_with(core=CORE if seen else [resource("pods", "Pod", verbs=UNSEEN), *CORE[1:]])
    gone = ref("Node", "gone", "u-gone", api="v1")
    rig.client.seed(PODS, obj("Pod", "owner", namespace="one"))
    rig.client.seed(NODES, obj("Node", "n1", gone, ref("Pod", "owner", "u-owner", api="v1"), namespace=""))

    rig.settle()
    rig.advance(3600)

    (node,) = rig.client.objects(NODES)
    assert len(node["metadata"]["ownerReferences"]) == 2
    assert [reason for reason, _ in events(rig)] == (["OwnerRefInvalidNamespace"] if seen else [])


def test_a_served_version_that_is_not_the_preferred_one_names_the_owner_as_well(rig):
    rig.client.seed(ROLES, obj("Role", "role", api=f"{RBAC}/v1"))
    pod(rig, "pod", ref("Role", "role", "u-role", api=f"{RBAC}/v1beta1"))
    rig.settle()
    assert left(rig) == ["pod"]

    rig.client.delete(ROLES, "role", "d")
    rig.settle()

    assert left(rig) == []


@pytest.mark.parametrize("reference", [OTHER_APP, OLD_APP], ids=["group", "version"])
@pytest.mark.parametrize("exists", [True, False])
def test_a_child_of_a_version_that_is_not_served_stays_whatever_becomes_of_the_owner(rig, reference, exists):
    if exists:
        web(rig)
    pod(rig, "kept", reference)
    pod(rig, "child", APP)
    rig.settle()
    assert left(rig) == (["web", "kept", "child"] if exists else ["kept"])

    if exists:
        rig.client.delete(DEPLOYMENTS, "web", "d")
        rig.settle()

    assert left(rig) == ["kept"]


@pytest.mark.parametrize("seen", ["rig", "blind"])
@pytest.mark.parametrize("order", ["bad first", "good first"])
def test_a_child_that_calls_its_owner_by_another_kind_goes_and_the_good_child_stays(seen, order, request):
    rig = request.getfixturevalue(seen)
    web(rig)
    children = [("bad", SECRET), ("good", APP)]
    for name, owner in children if order == "bad first" else reversed(children):
        pod(rig, name, owner)

    rig.settle()

    assert left(rig) == ["web", "good"]


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize("order", ["cluster-scoped first", "namespaced first"])
def test_a_wrong_cluster_scoped_child_does_not_speak_for_a_namespaced_one(rig, exists, order):
    owner = ref("ConfigMap", "owner", "u-owner", api="v1")
    bad, good = obj("Node", "n1", owner, namespace=""), obj("Pod", "good", owner)
    if exists:
        rig.client.seed(CONFIG_MAPS, obj("ConfigMap", "owner"))
    for kind, child in (
        [(NODES, bad), (PODS, good)] if order == "cluster-scoped first" else [(PODS, good), (NODES, bad)]
    ):
        rig.client.seed(kind, child)

    rig.settle()

    assert left(rig) == (["good", "owner"] if exists else [])
    assert len(rig.client.objects(NODES)) == 1


def test_what_is_not_served_any_more_is_not_gone(rig):
    web(rig)
    pod(rig, "child", APP)
    rig.settle()

    serve_discovery(rig, apps=[])
    rig.advance(301)
    assert left(rig) == ["web", "child"]
    rig.client.delete(DEPLOYMENTS, "web", "d")
    rig.advance(301)
    assert left(rig) == ["child"], "what is not served is not watched either"
    serve_discovery(rig)
    rig.advance(301)
    rig.advance(1000)  # the longest wait before a child whose owner's kind was unknown is looked at again

    assert left(rig) == []


def test_what_is_served_again_is_watched_again(rig):
    web(rig)
    pod(rig, "child", APP)
    rig.settle()

    serve_discovery(rig, apps=[])
    rig.advance(301)
    serve_discovery(rig)
    rig.advance(301)
    assert left(rig) == ["web", "child"]
    rig.client.delete(DEPLOYMENTS, "web", "d")
    rig.settle()

    assert left(rig) == []


def test_what_is_served_as_before_is_not_remembered_anew(rig):
    web(rig)
    rig.settle()
    (controller,) = rig.controllers
    kinds, served = controller._kinds, controller._served

    controller._sync_monitors()
    same = controller._kinds is kinds and controller._served is served
    serve_discovery(rig, apps=[])
    controller._sync_monitors()

    assert same
    assert len(controller._kinds) < len(kinds)
    assert controller._served < served


def test_a_version_whose_server_does_not_answer_is_still_watched(rig):
    web(rig)
    pod(rig, "child", APP)
    rig.settle()

    serve_discovery(rig, apps=None)
    rig.advance(301)
    assert DEPLOYMENTS in rig.controllers[0]._monitors
    rig.client.delete(DEPLOYMENTS, "web", "d")
    rig.settle()

    assert left(rig) == []


def test_what_cannot_be_listed_watched_and_deleted_is_not_watched():
    rig = rig_with(core=[resource("pods", "Pod"), resource("configmaps", "ConfigMap", verbs=["delete"])], apps=APPS)
    rig.client.seed(CONFIG_MAPS, obj("ConfigMap", "stray", APP))

    rig.settle()

    assert left(rig) == ["stray"]


def test_only_references_that_block_are_freed_in_a_circle(rig):
    waits = {"finalizers": ["foregroundDeletion"], "deletionTimestamp": "2030-01-01T00:00:00Z"}
    owner = ref("ConfigMap", "owner", "u-owner", api="v1", block=True)
    other = {key: value for key, value in ref("ConfigMap", "gone", "u-gone", api="v1").items() if key[0] != "b"}
    middle = ref("Pod", "middle", "u-middle", api="v1", block=True)
    rig.client.seed(CONFIG_MAPS, obj("ConfigMap", "owner", middle, **waits))
    rig.client.seed(PODS, obj("Pod", "middle", owner, other, finalizers=["example.com/hold"]))

    rig.settle()

    (held,) = rig.client.objects(PODS)
    assert [each.get("blockOwnerDeletion") for each in held["metadata"]["ownerReferences"]] == [False, None]
    assert left(rig) == ["middle"]
