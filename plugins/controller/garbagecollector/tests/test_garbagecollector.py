"""The garbage collector: background, foreground, orphaning, owners that never were, and circles."""

import pytest
from gc_world import events, family, left, obj, ref, serve_discovery
from hyperkube_controller.garbagecollector import Garbagecollector

from hyperkube.kinds.resources import CONFIG_MAPS, DEPLOYMENTS, NODES, PODS, REPLICA_SETS
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig


@pytest.fixture
def rig():
    rig = ControllerRig(Garbagecollector)
    serve_discovery(rig)
    return rig


class TestContract(ControllerContract):
    plugin = Garbagecollector

    def populate(self, rig):
        serve_discovery(rig)
        rig.client.seed(PODS, obj("Pod", "pod", ref("ReplicaSet", "never", "u-never")))


def test_a_family_with_living_owners_is_left_alone(rig):
    family(rig)

    assert left(rig) == ["web", "rs", "pod"]
    assert rig.client.actions == []


def test_in_the_background_dependents_follow_their_owner(rig):
    family(rig)
    rig.client.delete(DEPLOYMENTS, "web", "d")

    rig.settle()

    assert left(rig) == []


def test_in_the_foreground_the_owner_goes_last(rig):
    family(rig, block=True)
    rig.client.delete(DEPLOYMENTS, "web", "d", options={"propagationPolicy": "Foreground"})
    assert left(rig) == ["web", "rs", "pod"]

    rig.settle()

    assert left(rig) == []
    gone = [event.object["metadata"]["name"] for _, event in rig.client.journal if event.type == "DELETED"]
    assert gone == ["pod", "rs", "web"]


def test_orphans_stay_without_their_owner(rig):
    family(rig)
    rig.client.delete(DEPLOYMENTS, "web", "d", options={"propagationPolicy": "Orphan"})

    rig.settle()

    assert left(rig) == ["rs", "pod"]
    assert not rig.client.get(REPLICA_SETS, "rs", "d")["metadata"].get("ownerReferences")


def test_an_owner_that_never_was_takes_its_dependent_along(rig):
    rig.client.seed(PODS, obj("Pod", "pod", ref("ReplicaSet", "never", "u-never")))

    rig.settle()

    assert left(rig) == []


def test_another_owner_of_the_same_name_is_not_the_owner(rig):
    family(rig)
    rig.client.seed(PODS, obj("Pod", "stray", ref("ReplicaSet", "rs", "u-older-rs")))

    rig.settle()

    assert left(rig) == ["web", "rs", "pod"]


def test_one_living_owner_is_enough_and_the_others_are_forgotten(rig):
    family(rig)
    rig.client.seed(
        CONFIG_MAPS, obj("ConfigMap", "shared", ref("Deployment", "web", "u-web"), ref("Pod", "x", "u-x", api="v1"))
    )

    rig.settle()

    references = rig.client.get(CONFIG_MAPS, "shared", "d")["metadata"]["ownerReferences"]
    assert [reference["uid"] for reference in references] == ["u-web"]


def test_a_cluster_scoped_object_never_goes_for_a_namespaced_owner(rig):
    rig.client.seed(NODES, obj("Node", "n1", ref("Deployment", "gone", "u-gone"), namespace=""))

    rig.settle()

    assert len(rig.client.objects(NODES)) == 1


def test_an_owner_in_another_namespace_does_not_count(rig):
    family(rig)
    rig.client.seed(PODS, obj("Pod", "far", ref("ReplicaSet", "rs", "u-rs"), namespace="other"))

    rig.settle()

    assert left(rig) == ["web", "rs", "pod"]


def test_a_dependent_of_unknown_kind_is_kept(rig):
    rig.client.seed(PODS, obj("Pod", "pod", ref("Rocket", "saturn", "u-5", api="example.com/v1")))

    rig.settle()

    assert left(rig) == ["pod"]


def test_a_finalizer_of_somebody_else_holds_the_chain(rig):
    family(rig, block=True)
    rig.client.patch(PODS, "pod", {"metadata": {"finalizers": ["example.com/hold"]}}, "d")
    rig.client.delete(DEPLOYMENTS, "web", "d", options={"propagationPolicy": "Foreground"})
    rig.settle()
    assert left(rig) == ["web", "rs", "pod"]

    rig.client.patch(PODS, "pod", {"metadata": {"finalizers": None}}, "d")
    rig.settle()

    assert left(rig) == []


@pytest.mark.parametrize(
    "wrong",
    [{"kind": "Deployment"}, {"name": "other"}, {"apiVersion": "v1", "kind": "Pod"}],
    ids=["kind", "name", "group"],
)
def test_a_reference_that_names_another_object_than_its_uid_does_is_dangling(rig, wrong):
    family(rig)
    rig.client.seed(PODS, obj("Pod", "misled", ref("ReplicaSet", "rs", "u-rs") | wrong))

    rig.settle()

    assert left(rig) == ["web", "rs", "pod"]


def test_a_wrong_reference_does_not_speak_for_a_right_one_to_the_same_owner(rig):
    rig.client.seed(PODS, obj("Pod", "misled", ref("Deployment", "rs", "u-rs")))
    rig.settle()
    assert left(rig) == []

    rig.client.seed(PODS, obj("Pod", "right", ref("ReplicaSet", "rs", "u-rs")))
    rig.client.seed(REPLICA_SETS, obj("ReplicaSet", "rs", api="apps/v1"))
    rig.settle()

    assert left(rig) == ["rs", "right"]


def test_owners_in_other_namespaces_are_told_of(rig):
    family(rig)
    rig.client.seed(PODS, obj("Pod", "far", ref("ReplicaSet", "rs", "u-rs"), namespace="other"))
    rig.client.seed(NODES, obj("Node", "n1", ref("ReplicaSet", "rs", "u-rs"), namespace=""))

    rig.settle()

    where = 'ownerRef [apps/v1/ReplicaSet, namespace: {0}, name: rs, uid: u-rs] does not exist in namespace "{0}"'
    assert sorted(events(rig)) == [
        ("OwnerRefInvalidNamespace", where.format("")),
        ("OwnerRefInvalidNamespace", where.format("other")),
    ]
    assert len(rig.client.objects(NODES)) == 1
