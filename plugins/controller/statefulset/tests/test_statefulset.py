"""The statefulset controller, as transcripts of ordered pods."""

from dataclasses import replace

import pytest
from hyperkube_controller.statefulset import Statefulset
from prometheus_client import CollectorRegistry
from stateful_set_rig import World, claims, events, owners, stateful_set

from hyperkube.kinds.resources import CONTROLLER_REVISIONS, PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS
from hyperkube.machinery.errors import Forbidden
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig


class TestContract(ControllerContract):
    plugin = Statefulset

    def populate(self, rig):
        rig.client.seed(STATEFUL_SETS, stateful_set())


def test_each_pod_waits_for_the_one_before():
    world = World()
    assert world.names() == ["db-0"]
    world.ready()
    assert world.names() == ["db-0", "db-1"]
    world.ready(2)
    assert world.names() == ["db-0", "db-1", "db-2"]
    assert world.status()["readyReplicas"] == 3
    assert world.status()["currentRevision"] == world.status()["updateRevision"]


def test_a_pod_has_its_name_its_host_and_its_volume():
    world = World()

    (pod,) = world.client.objects(PODS)
    assert pod["metadata"]["labels"]["apps.kubernetes.io/pod-index"] == "0"
    assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("db-0", "db")
    assert pod["spec"]["volumes"] == [{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}]
    assert world.client.objects(PERSISTENT_VOLUME_CLAIMS)[0]["metadata"]["name"] == "data-db-0"


def test_the_last_goes_first_and_leaves_its_volume():
    world = World()
    world.ready(3)

    world.set(replicas=1)

    assert world.names() == ["db-0"]
    assert len(world.client.objects(PERSISTENT_VOLUME_CLAIMS)) == 3


def test_parallel_waits_for_nobody():
    assert World(podManagementPolicy="Parallel").names() == ["db-0", "db-1", "db-2"]


def test_an_update_goes_from_the_last_to_the_first():
    world = World()
    world.ready(3)

    world.set_image("v2")
    assert world.images() == {"db-0": "v1", "db-1": "v1", "db-2": "v2"}
    world.ready()
    assert world.images() == {"db-0": "v1", "db-1": "v2", "db-2": "v2"}
    world.ready(2)

    assert set(world.images().values()) == {"v2"}
    assert world.status()["currentRevision"] == world.status()["updateRevision"]


def test_a_partition_keeps_the_first_ones_old():
    world = World(updateStrategy={"type": "RollingUpdate", "rollingUpdate": {"partition": 2}})
    world.ready(3)

    world.set_image("v2")
    world.ready(3)
    assert world.images() == {"db-0": "v1", "db-1": "v1", "db-2": "v2"}

    world.client.delete(PODS, "db-1", "d")
    world.settle()
    assert world.images()["db-1"] == "v1"


def test_a_failed_pod_comes_back_under_its_name():
    world = World(replicas=1)
    before = world.client.get(PODS, "db-0", "d")["metadata"]["uid"]

    world.client.patch(PODS, "db-0", {"status": {"phase": "Failed"}}, "d", subresource="status")
    world.settle()

    assert world.client.get(PODS, "db-0", "d")["metadata"]["uid"] != before


def test_pods_and_history_of_a_set_of_the_same_name_are_adopted():
    world = World(replicas=1)
    world.client.delete(STATEFUL_SETS, "db", "d")
    for resource in (PODS, CONTROLLER_REVISIONS):
        for obj in world.client.objects(resource):
            world.client.patch(resource, obj["metadata"]["name"], {"metadata": {"ownerReferences": None}}, "d")
    world.settle()

    (made,) = world.client.seed(STATEFUL_SETS, stateful_set(replicas=1))
    world.settle()

    (pod,), (revision,) = world.client.objects(PODS), world.client.objects(CONTROLLER_REVISIONS)
    owners = {obj["metadata"]["ownerReferences"][0]["uid"] for obj in (pod, revision)}
    assert owners == {made["metadata"]["uid"]}


def test_a_pod_whose_name_does_not_fit_is_let_go():
    world = World(replicas=1)
    reference = world.client.objects(PODS)[0]["metadata"]["ownerReferences"][0]
    meta = {"name": "stray", "namespace": "d", "labels": {"app": "db"}, "ownerReferences": [reference]}
    world.client.seed(PODS, {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": {}, "status": {}})

    world.settle()

    assert not world.client.get(PODS, "stray", "d")["metadata"].get("ownerReferences")


def test_a_set_that_is_being_deleted_only_keeps_its_status():
    world = World(replicas=1)
    world.client.patch(STATEFUL_SETS, "db", {"metadata": {"finalizers": ["foregroundDeletion"]}}, "d")
    world.client.delete(STATEFUL_SETS, "db", "d")
    world.client.delete(PODS, "db-0", "d")

    world.settle()

    assert world.names() == []
    assert world.status()["replicas"] == 0


def test_a_refused_pod_is_told_and_tried_again():
    world = ControllerRig(Statefulset)
    world.client.fail_next("create", "pods", Forbidden("exceeded quota"))
    world.client.seed(STATEFUL_SETS, stateful_set(volumeClaimTemplates=[]))

    world.settle()

    text = "create Pod db-0 in StatefulSet db failed error: exceeded quota"
    assert ("Warning", "FailedCreate", text) in events(world)
    assert [pod["metadata"]["name"] for pod in world.client.objects(PODS)] == ["db-0"]


def test_a_refused_claim_is_told_and_its_pod_not_made():
    world = ControllerRig(Statefulset)
    world.client.seed(STATEFUL_SETS, stateful_set())
    world.client.fail_next("create", "persistentvolumeclaims", Forbidden("exceeded quota"))
    world.informers.refresh()

    world.controllers[0].drain()

    text = "create Claim data-db-0 for Pod db-0 in StatefulSet db failed error: exceeded quota"
    assert ("Warning", "FailedCreate", text) in events(world)
    assert world.client.objects(PODS) == []
    world.advance(1)
    assert len(world.client.objects(PODS)) == 1


def test_a_pod_waits_for_the_end_of_a_claim_that_is_being_deleted():
    world = ControllerRig(Statefulset)
    meta = {"name": "data-db-0", "namespace": "d", "finalizers": ["kubernetes.io/pvc-protection"]}
    going = {"kind": "PersistentVolumeClaim", "metadata": {**meta, "deletionTimestamp": "2030-01-01T00:00:00Z"}}
    world.client.seed(PERSISTENT_VOLUME_CLAIMS, going)
    world.client.seed(STATEFUL_SETS, stateful_set())
    world.settle()
    assert world.client.objects(PODS) == []
    text = "create Pod db-0 in StatefulSet db failed error: pvc data-db-0 is being deleted"
    assert ("Warning", "FailedCreate", text) in events(world)

    world.client.patch(PERSISTENT_VOLUME_CLAIMS, "data-db-0", {"metadata": {"finalizers": None}}, "d")
    world.advance(30)

    assert len(world.client.objects(PODS)) == 1


def test_a_lost_claim_of_a_pending_pod_is_made_again():
    world = World(replicas=1)
    world.client.delete(PERSISTENT_VOLUME_CLAIMS, "data-db-0", "d")
    world.client.patch(PODS, "db-0", {"status": {"reason": "waits"}}, "d", subresource="status")

    world.settle()

    assert list(claims(world)) == ["data-db-0"]


def test_a_lost_identity_comes_back():
    world = World(replicas=1)
    world.client.patch(PODS, "db-0", {"metadata": {"labels": {"statefulset.kubernetes.io/pod-name": None}}}, "d")
    world.ready()

    labels = world.client.get(PODS, "db-0", "d")["metadata"]["labels"]
    assert labels["statefulset.kubernetes.io/pod-name"] == "db-0"
    assert ("Normal", "SuccessfulUpdate", "update Pod db-0 in StatefulSet db successful") in events(world)


@pytest.mark.parametrize(
    ("policy", "kept", "condemned"),
    [
        ({"whenDeleted": "Retain", "whenScaled": "Retain"}, [], []),
        ({"whenDeleted": "Delete", "whenScaled": "Retain"}, [("StatefulSet", "db")], [("StatefulSet", "db")]),
        ({"whenDeleted": "Retain", "whenScaled": "Delete"}, [], [("Pod", "db-1")]),
        ({"whenDeleted": "Delete", "whenScaled": "Delete"}, [("StatefulSet", "db")], [("Pod", "db-1")]),
    ],
    ids=["retain", "delete with the set", "delete when scaled", "delete both ways"],
)
def test_claims_have_the_owners_that_the_retention_policy_asks_for(policy, kept, condemned):
    world = World(replicas=2, persistentVolumeClaimRetentionPolicy=policy)
    world.ready(3)
    assert [owners(claim) for claim in claims(world).values()] == [kept, kept]
    for pod in world.client.objects(PODS):  # so that the condemned one stays while we look
        world.client.patch(PODS, pod["metadata"]["name"], {"metadata": {"finalizers": ["x/y"]}}, "d")

    world.set(replicas=1)

    assert owners(claims(world)["data-db-0"]) == kept
    assert owners(claims(world)["data-db-1"]) == condemned


def test_a_changed_retention_policy_changes_the_owners():
    world = World(replicas=1, persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete", "whenScaled": "Retain"})
    world.ready(2)
    assert owners(claims(world)["data-db-0"]) == [("StatefulSet", "db")]

    world.set(persistentVolumeClaimRetentionPolicy={"whenDeleted": "Retain", "whenScaled": "Retain"})

    assert owners(claims(world)["data-db-0"]) == []


def test_a_pod_waits_for_the_end_of_the_claim_of_the_one_that_was_scaled_down():
    world = ControllerRig(Statefulset)
    reference = {"apiVersion": "v1", "kind": "Pod", "name": "db-0", "uid": "earlier", "controller": True}
    meta = {"name": "data-db-0", "namespace": "d", "ownerReferences": [reference]}
    world.client.seed(PERSISTENT_VOLUME_CLAIMS, {"kind": "PersistentVolumeClaim", "metadata": meta})
    world.client.seed(STATEFUL_SETS, stateful_set(1, persistentVolumeClaimRetentionPolicy={"whenScaled": "Delete"}))
    world.settle()
    assert world.client.objects(PODS) == []

    world.client.delete(PERSISTENT_VOLUME_CLAIMS, "data-db-0", "d")
    world.advance(30)

    assert len(world.client.objects(PODS)) == 1
    assert not owners(claims(world)["data-db-0"])


def test_a_claim_that_something_else_controls_is_told_and_left():
    world = World(replicas=1)
    other = {"apiVersion": "v1", "kind": "Thing", "name": "x", "uid": "other", "controller": True}
    world.client.patch(PERSISTENT_VOLUME_CLAIMS, "data-db-0", {"metadata": {"ownerReferences": [other]}}, "d")
    world.set(persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete", "whenScaled": "Retain"})

    world.ready()

    assert owners(claims(world)["data-db-0"]) == [("Thing", "x")]
    assert any(reason == "ConflictingController" for _, reason, _ in events(world))


def test_the_first_ordinal_can_be_another_one():
    world = World(replicas=2, ordinals={"start": 3})
    world.ready(3)
    assert world.names() == ["db-3", "db-4"]

    world.set(ordinals={"start": 4})
    world.ready(3)

    assert world.names() == ["db-4", "db-5"]


def test_a_change_goes_no_further_than_on_delete_allows():
    world = World(replicas=2, updateStrategy={"type": "OnDelete"})
    world.ready(3)
    first = world.status()["currentRevision"]

    world.set_image("v2")
    assert world.images() == {"db-0": "v1", "db-1": "v1"}
    for name in ("db-0", "db-1"):
        world.client.delete(PODS, name, "d")
        world.ready(3)

    assert world.images() == {"db-0": "v2", "db-1": "v2"}
    assert world.status()["currentRevision"] == first  # as upstream: only a rolling update completes
    assert world.status()["updatedReplicas"] == 2


def test_a_rolling_update_waits_for_min_ready_seconds():
    world = World(replicas=2, minReadySeconds=30)
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2024-01-01T00:00:00Z"}

    def start():
        for pod in world.client.objects(PODS):
            status = {"phase": "Running", "conditions": [{**ready, "lastTransitionTime": world.time()}]}
            if not pod["status"].get("conditions"):
                world.client.patch(PODS, pod["metadata"]["name"], {"status": status}, "d", subresource="status")
        world.settle()

    start()
    assert world.names() == ["db-0"]
    assert (world.status()["readyReplicas"], world.status()["availableReplicas"]) == (1, 0)
    world.advance(31)
    assert world.names() == ["db-0", "db-1"]


def test_a_rollback_finds_the_old_revision():
    world = World(replicas=1)
    world.ready(2)
    world.set_image("v2")
    world.ready(2)

    world.set_image("v1")
    world.ready(3)

    assert world.images() == {"db-0": "v1"}
    assert sorted(each["revision"] for each in world.client.objects(CONTROLLER_REVISIONS)) == [2, 3]


def test_what_an_update_may_make_unavailable_is_told_where_the_limit_acts():
    class Gated(Statefulset):
        def __init__(self, context):
            super().__init__(replace(context, gates={"MaxUnavailableStatefulSet": True}))

    world = ControllerRig(Gated)
    registry = CollectorRegistry()
    update = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}}
    world.client.seed(STATEFUL_SETS, stateful_set(podManagementPolicy="Parallel", updateStrategy=update))
    world.settle()
    registry.register(world.plugins[0]._metrics)

    def numbers():
        labels = {"statefulset_namespace": "d", "statefulset_name": "db", "pod_management_policy": "Parallel"}
        names = ("max_unavailable", "unavailable_replicas")
        return [registry.get_sample_value(f"statefulset_controller_statefulset_{name}", labels) for name in names]

    assert numbers() == [2, 3]
    world.client.delete(STATEFUL_SETS, "db", "d")
    world.settle()
    assert numbers() == [None, None]
