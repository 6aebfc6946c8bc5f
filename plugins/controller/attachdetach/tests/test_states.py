"""Volumes between attached and detached; the rows are those of upstream's tests of the reconciler and the controller."""

import pytest
from attach_detach_rig import LOST, VOLUME, Disks, World, node, pod
from hyperkube_controller.attachdetach import Attachdetach
from hyperkube_controller.attachdetach.actual_state_of_world import ActualStateOfWorld, AttachState
from hyperkube_controller.attachdetach.desired_state_of_world import KEEP_TERMINATED, is_terminated
from prometheus_client import CollectorRegistry

from hyperkube.hookspecs.volume import VolumeAttachedElsewhere, VolumeFailed
from hyperkube.kinds.resources import (
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    VOLUME_ATTACHMENTS,
)
from hyperkube.machinery.errors import InternalError
from hyperkube.testing.controller_rig import ControllerRig

DISK = "example.com/disk/d1"
DOWN = InternalError("API server failed")
OUT = [{"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}]


class Moody(Disks):
    """Does what it is asked, and raises nevertheless what is in `moods` for that verb and node."""

    def __init__(self):
        super().__init__()
        self.moods = {}

    def attach(self, spec, to):
        device = super().attach(spec, to)
        if error := self.moods.get(("attach", to["metadata"]["name"])):
            raise error
        return device

    def detach(self, volume_name, node_name):
        super().detach(volume_name, node_name)
        if error := self.moods.get(("detach", node_name)):
            raise error


def world_with(*pods, **moods):
    world = World(nodes=[node("a"), node("b")], kinds=Moody)
    world.disks.moods = {tuple(key.split("_")): error for key, error in moods.items()}
    world.client.seed(PODS, *pods)
    world.settle()
    return world


def state(world, name="a"):
    return world.plugins[0]._actual.attached_to(name).get(DISK)


def test_what_may_have_been_attached_is_detached_before_another_node_gets_it():
    world = world_with(pod("p", "a"), attach_a=VolumeFailed("timed out"))
    assert (state(world), world.attached("a")) == (AttachState.UNCERTAIN, [])

    world.remove("p")
    world.settle()
    world.client.seed(PODS, pod("q", "b"))
    world.advance(3)

    assert world.disks.done[-2:] == ["detach d1 a", "attach d1 b"]
    assert [row["name"] for row in world.attached("b")] == [DISK]


def test_what_is_attached_elsewhere_is_detached_there():
    elsewhere = VolumeAttachedElsewhere("the other one has it", "b")
    world = world_with(pod("p", "a"), attach_a=elsewhere)

    assert world.disks.done == ["attach d1 a", "detach d1 b"]
    world.disks.moods.clear()
    world.advance(1)

    assert [row["name"] for row in world.attached("a")] == [DISK]


def test_what_could_not_be_detached_has_to_be_attached_again():
    world = world_with(pod("p", "a"), detach_a=VolumeFailed("it sticks"))
    world.remove("p")
    world.settle()
    assert (state(world), world.attached("a")) == (AttachState.UNCERTAIN, [])

    world.client.seed(PODS, pod("q", "a"))
    world.advance(3)
    assert (state(world), [row["name"] for row in world.attached("a")]) == (AttachState.ATTACHED, [DISK])

    world.client.seed(PODS, pod("r", "b"))
    world.advance(3)
    assert world.disks.done == ["attach d1 a", "detach d1 a", "attach d1 a"]
    assert world.attached("b") == []


def test_a_node_that_cannot_be_told_keeps_its_volume():
    world = world_with(pod("p", "a"))
    world.client.fail_next("patch", "nodes", DOWN)
    world.remove("p")
    world.informers.refresh()
    world.controllers[0].drain()

    assert (state(world), world.disks.done) == (AttachState.ATTACHED, ["attach d1 a"])
    world.advance(2)

    assert (state(world), world.attached("a")) == (None, [])


def test_a_node_is_told_later_of_what_was_attached():
    world = World(nodes=[node("a")])
    world.client.fail_next("patch", "nodes", DOWN)
    world.client.seed(PODS, pod("p", "a"))
    world.settle()
    world.advance(3)

    assert [row["name"] for row in world.attached("a")] == [DISK]
    assert world.disks.done == ["attach d1 a"]


def test_a_volume_that_its_kubelet_began_to_mount_meanwhile_stays():
    world = world_with(pod("p", "a"))
    world.remove("p")
    world.informers.refresh()
    world.client.patch(NODES, "a", {"status": {"volumesInUse": [DISK]}}, subresource="status")
    world.controllers[0].drain()
    world.settle()

    assert (world.disks.done, state(world)) == (["attach d1 a"], AttachState.UNCERTAIN)
    world.client.patch(NODES, "a", {"status": {"volumesInUse": []}}, subresource="status")
    world.advance(3)

    assert world.disks.done == ["attach d1 a", "detach d1 a"]


def test_a_node_that_is_gone_may_have_its_disk_mounted_for_six_minutes():
    world = world_with(pod("p", "a"))
    world.client.patch(NODES, "a", {"status": {"volumesInUse": [DISK]}}, subresource="status")
    world.settle()
    world.client.delete(NODES, "a")
    world.remove("p")
    world.settle()
    before = list(world.disks.done)
    world.advance(361)

    assert (before, world.disks.done) == (["attach d1 a"], ["attach d1 a", "detach d1 a"])


@pytest.mark.parametrize("told", [True, False], ids=["attached", "not attached"])
@pytest.mark.parametrize(
    ("listed", "pods", "done", "expected"),
    [
        pytest.param(False, (), ["detach d1 a"], None, id="no pod: detached"),
        pytest.param(False, ("a",), ["attach d1 a"], AttachState.ATTACHED, id="a pod: attached again"),
        pytest.param(True, ("a",), [], AttachState.ATTACHED, id="a pod, and the node says so"),
    ],
)
def test_an_attachment_that_is_found_at_the_start_may_be_one(told, listed, pods, done, expected):
    rig = ControllerRig(Attachdetach)
    rig.plugins[0]._kinds._kinds = [("example.com/disk", disks := Disks())]
    known = node("a")
    if listed:
        known["status"]["volumesAttached"] = [{"name": DISK, "devicePath": "/dev/d"}]
    rig.client.seed(NODES, known)
    rig.client.seed(PERSISTENT_VOLUMES, VOLUME)
    rig.client.seed(VOLUME_ATTACHMENTS, _attachment("pv", told), _attachment("unknown", told), _attachment(None, told))
    seeded = World(*(pod(f"p{where}", where) for where in pods))
    for resource in (PODS, PERSISTENT_VOLUME_CLAIMS):
        rig.client.seed(resource, *seeded.client.objects(resource))

    rig.settle()

    assert (disks.done, rig.plugins[0]._actual.attached_to("a").get(DISK)) == (done, expected)


def _attachment(volume, attached):
    source = {"persistentVolumeName": volume} if volume else {"inlineVolumeSpec": {}}
    return {
        "kind": "VolumeAttachment", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": f"va-{volume}"},
        "spec": {"attacher": "x", "nodeName": "a", "source": source}, "status": {"attached": attached},
    }  # fmt: skip


def test_an_attachment_to_a_node_that_is_gone_is_given_up_after_six_minutes():
    rig = ControllerRig(Attachdetach)
    rig.plugins[0]._kinds._kinds = [("example.com/disk", disks := Disks())]
    rig.client.seed(PERSISTENT_VOLUMES, VOLUME)
    rig.client.seed(VOLUME_ATTACHMENTS, _attachment("pv", attached=True))
    rig.settle()
    before = list(disks.done)
    rig.advance(361)

    assert (before, disks.done) == ([], ["detach d1 a"])


def statuses(*states):
    return [{"name": state, "state": {state: {}}} for state in states]


@pytest.mark.parametrize(
    ("phase", "deleted", "containers", "expected"),
    [
        ("Running", False, ["running"], False),
        ("Running", False, ["terminated"], False),
        ("Running", True, ["running"], False),
        ("Running", True, ["terminated", "running"], False),
        ("Running", True, ["terminated", "waiting"], True),
        ("Pending", True, [], True),
        ("Succeeded", False, [], True),
        ("Failed", False, [], True),
    ],
)
def test_which_pods_need_no_volumes_any_more(phase, deleted, containers, expected):
    meta = {"deletionTimestamp": "2030-01-01T00:00:00Z"} if deleted else {}

    assert (
        is_terminated({"metadata": meta, "status": {"phase": phase, "containerStatuses": statuses(*containers)}})
        is expected
    )


def test_a_node_may_keep_the_volumes_of_pods_that_have_ended():
    keeps = node("a")
    keeps["metadata"]["annotations"][KEEP_TERMINATED] = "true"

    assert World(pod("p", "a", phase="Failed"), nodes=[keeps]).disks.done == ["attach d1 a"]


def test_a_volume_that_cannot_be_attached_any_more_is_let_go():
    world = world_with(pod("p", "a"))
    world.disks.can_attach = lambda _spec: False
    world.client.patch(PODS, "p", {"metadata": {"labels": {"x": "y"}}}, "d")
    world.settle()

    assert world.disks.done == ["attach d1 a", "detach d1 a"]


@pytest.mark.parametrize("modes", [["ReadWriteMany"], ["ReadOnlyMany"], []], ids=["many", "read only", "unsaid"])
def test_a_shared_volume_goes_to_both_nodes_and_leaves_one(modes):
    volume = {**VOLUME, "spec": {**VOLUME["spec"], "accessModes": modes}}
    world = World(pod("p", "a"), pod("q", "b"), volume=volume)
    world.remove("p")
    world.settle()

    assert sorted(world.disks.done) == ["attach d1 a", "attach d1 b", "detach d1 a"]


@pytest.mark.parametrize(
    ("conditions", "spec", "seconds", "reason", "forced"),
    [
        pytest.param(LOST, {}, 361, "timeout", 1, id="unhealthy"),
        pytest.param(LOST, {"taints": OUT}, 0, "out-of-service", 1, id="out of service"),
        pytest.param([{"type": "Ready", "status": "True"}], {}, 361, "timeout", None, id="healthy"),
    ],
)
def test_what_is_told_in_numbers(conditions, spec, seconds, reason, forced):
    world = world_with(pod("p", "a"))
    registry = CollectorRegistry()
    registry.register(world.plugins[0]._metrics)

    def value(name, **labels):
        return registry.get_sample_value(name, labels)

    kind = "example.com/disk"
    for known in ("desired_state_of_world", "actual_state_of_world"):
        assert value("attachdetach_controller_total_volumes", plugin_name=kind, state=known) == 1
    assert value("storage_count_attachable_volumes_in_use", node="a", volume_plugin=kind) == 1

    world.client.patch(NODES, "a", {"spec": spec})
    world.client.patch(NODES, "a", {"status": {"volumesInUse": [DISK], "conditions": conditions}}, subresource="status")
    world.remove("p")
    world.settle()
    world.advance(seconds)

    name = "attach_detach_controller_attachdetach_controller_forced_detaches_total"
    assert value(name, reason=reason) == forced
    assert value("attachdetach_controller_total_volumes", plugin_name=kind, state="desired_state_of_world") is None


def test_the_states_of_volumes_by_node():
    actual = ActualStateOfWorld()
    actual.populate({"metadata": {"name": "a"}, "status": {"volumesAttached": [{"name": "x", "devicePath": "/d"}]}})
    assert actual.take_report("a") is None

    actual.mark_attached("a", "y", "/e")
    actual.mark_uncertain("b", "y")
    assert actual.nodes_with("y") == ["a"]
    assert sorted(actual.all()) == [("a", "x"), ("a", "y"), ("b", "y")]
    assert actual.take_report("b") is None
    assert actual.take_report("a") == [{"name": "x", "devicePath": "/d"}, {"name": "y", "devicePath": "/e"}]
    assert actual.take_report("a") is None

    actual.set_reported("a", "x", is_reported=False)
    assert actual.take_report("a") == [{"name": "y", "devicePath": "/e"}]
    actual.return_report("a")
    actual.mark_detached("a", "y")
    assert actual.take_report("a") == []
    actual.mark_detached("c", "unknown")
    assert actual.attached_to("c") == {}


def test_time_counts_from_when_a_volume_was_wanted_last():
    actual = ActualStateOfWorld()
    actual.mark_attached("a", "x", "")

    assert actual.unwanted_seconds("a", {}, 10.0) == {"x": 0.0}
    assert actual.unwanted_seconds("a", {}, 15.0) == {"x": 5.0}
    assert actual.unwanted_seconds("a", {"x": None}, 16.0) == {}
    assert actual.unwanted_seconds("a", {}, 20.0) == {"x": 0.0}
