"""attachdetach: volumes follow their pods."""

import pytest
from hyperkube_controller.attachdetach import Attachdetach
from hyperkube_controller.attachdetach.decision import Detach, Wait, Wanted, decide, multi_attach_message

from hyperkube.hookspecs.volume import VolumeFailed, VolumeSpec
from hyperkube.kinds.resources import EVENTS, NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

READY = [{"type": "Ready", "status": "True"}]
LOST = [{"type": "Ready", "status": "Unknown"}]
_CLAIM = {"namespace": "d", "name": "c", "uid": "uc"}
VOLUME = {
    "kind": "PersistentVolume",
    "metadata": {"name": "pv"},
    "spec": {"disk": {"id": "d1"}, "accessModes": ["ReadWriteOnce"], "claimRef": _CLAIM},
}


class Disks:
    """A kind whose disks are in a shelf; notes what it is asked."""

    def __init__(self):
        self.done, self.broken, self.lost = [], False, False

    def supports(self, volume):
        return "disk" in volume

    def can_attach(self, _spec):
        return True

    def volume_name(self, spec):
        return spec.volume["disk"]["id"]

    def attach(self, spec, node):
        if self.broken:
            raise VolumeFailed("no such disk")
        self.done.append(f"attach {self.volume_name(spec)} {node['metadata']['name']}")
        return "/dev/d"

    def detach(self, volume_name, node_name):
        if self.broken:
            raise VolumeFailed("it sticks")
        self.done.append(f"detach {volume_name} {node_name}")

    def volumes_are_attached(self, specs, _node):
        return {spec.name: not self.lost for spec in specs}

    def wait_for_attach(self, _spec, device, _pod, _node):
        return device


class Drivers(Disks):
    """Volumes of drivers, instead."""

    def supports(self, volume):
        return "csi" in volume

    def volume_name(self, spec):
        return spec.volume["csi"]["volumeHandle"]


def node(name, conditions=READY, in_use=(), **spec):
    meta = {"name": name, "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}}
    status = {"conditions": conditions, "volumesInUse": list(in_use)}
    return {"kind": "Node", "metadata": meta, "spec": spec, "status": status}


def pod(name, where, phase="Running"):
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}, {"name": "e", "emptyDir": {}}]
    meta = {"name": name, "namespace": "d", "uid": name}
    return {
        "kind": "Pod",
        "metadata": meta,
        "spec": {"nodeName": where, "volumes": volumes},
        "status": {"phase": phase},
    }


def populate(rig, *pods, nodes=None, volume=VOLUME):
    claim = {"metadata": {"name": "c", "namespace": "d", "uid": "uc"}, "spec": {"volumeName": "pv"}}
    rig.client.seed(PERSISTENT_VOLUME_CLAIMS, {"kind": "PersistentVolumeClaim", **claim})
    if volume:
        rig.client.seed(PERSISTENT_VOLUMES, volume)
    rig.client.seed(NODES, *(nodes or [node("a"), node("b")]))
    rig.client.seed(PODS, *pods)


class World(ControllerRig):
    def __init__(self, *pods, nodes=None, volume=VOLUME, kinds=Disks):
        super().__init__(Attachdetach)
        self.disks = kinds()
        self.plugins[0]._kinds._kinds = [("example.com/disk", self.disks)]
        populate(self, *pods, nodes=nodes, volume=volume)
        self.settle()

    def remove(self, name):
        self.client.delete(PODS, name, "d", options={"gracePeriodSeconds": 0})

    def attached(self, name):
        return self.client.get(NODES, name)["status"].get("volumesAttached") or []

    def events(self):
        self.plugins[0]._recorder.flush()
        return self.client.objects(EVENTS)

    def said(self):
        return [(event["reason"], event["message"]) for event in self.events()]


class TestContract(ControllerContract):
    plugin = Attachdetach

    def rig(self):
        return World(pod("p", "a"))

    def test_it_does_its_work(self):
        assert self.rig().disks.done == ["attach d1 a"]

    def test_it_finds_its_work_again_after_a_restart(self):
        world = World(pod("p", "a"))
        later = ControllerRig(Attachdetach)
        later.plugins[0]._kinds._kinds = [("example.com/disk", again := Disks())]
        for resource in (NODES, PODS, PERSISTENT_VOLUMES, PERSISTENT_VOLUME_CLAIMS):
            later.client.seed(resource, *world.client.objects(resource))
        later.settle()

        assert again.done == []


def test_a_volume_is_attached_to_the_node_of_its_pod_and_told():
    world = World(pod("p", "a"))

    assert world.attached("a") == [{"name": "example.com/disk/d1", "devicePath": "/dev/d"}]
    assert world.said() == [("SuccessfulAttachVolume", 'AttachVolume.Attach succeeded for volume "pv" ')]


def test_a_volume_moves_with_its_pod():
    world = World(pod("p", "a"))
    world.client.seed(PODS, pod("q", "b"))
    world.settle()
    world.remove("p")
    world.settle()

    assert world.disks.done == ["attach d1 a", "detach d1 a", "attach d1 b"]
    assert world.attached("a") == []
    assert (
        "FailedAttachVolume",
        'Multi-Attach error for volume "pv" Volume is already used by pod(s) p',
    ) in world.said()


def test_each_pod_is_told_once_that_its_volume_is_elsewhere():
    world = World(pod("p", "a"))
    text = 'Multi-Attach error for volume "pv" Volume is already used by pod(s) p'

    for name in ("q", "r"):
        world.client.seed(PODS, pod(name, "b"))
        world.settle()
        world.advance(10)
        world.remove(name)
        world.settle()

    told = [
        (event["involvedObject"]["name"], event.get("count")) for event in world.events() if event["message"] == text
    ]
    assert told == [("q", 1), ("r", 1)]


def test_a_volume_that_is_known_later_than_its_claim_is_attached():
    world = World(pod("p", "a"), volume={})
    before = list(world.disks.done)
    world.client.seed(PERSISTENT_VOLUMES, VOLUME)
    world.settle()

    assert (before, world.disks.done) == ([], ["attach d1 a"])


def test_what_is_mounted_is_not_detached_before_the_node_is_lost_for_six_minutes():
    world = World(pod("p", "a"))
    world.client.patch(
        NODES, "a", {"status": {"volumesInUse": ["example.com/disk/d1"], "conditions": LOST}}, subresource="status"
    )
    world.remove("p")
    world.settle()
    before = list(world.disks.done)
    world.advance(361)
    world.settle()

    assert before == ["attach d1 a"]
    assert world.disks.done == ["attach d1 a", "detach d1 a"]


def test_failures_are_told_and_the_volume_stays_where_it_is():
    world = World(pod("p", "a"))
    world.disks.broken = True
    world.client.seed(NODES, node("c"))
    world.remove("p")
    world.settle()
    stuck = world.attached("a")
    world.disks.broken = False
    world.advance(120)
    world.settle()

    assert [row["name"] for row in stuck] == ["example.com/disk/d1"]
    assert world.attached("a") == []

    world.disks.broken = True
    world.client.seed(PODS, pod("r", "c"))
    world.settle()
    assert ("FailedAttachVolume", 'AttachVolume.Attach failed for volume "pv" : no such disk') in world.said()


def test_a_volume_that_the_storage_has_lost_is_attached_again():
    world = World(pod("p", "a"))
    world.disks.lost = True
    world.advance(61)
    world.settle()

    assert world.disks.done == ["attach d1 a", "attach d1 a"]


def test_a_pod_that_has_ended_needs_no_volume():
    assert World(pod("p", "a", phase="Succeeded")).disks.done == []


@pytest.mark.parametrize(
    ("where", "seconds", "forces", "step"),
    [
        (None, 0, True, Detach("x")),
        (node("a"), 0, True, Detach("x")),
        (node("a", in_use=["x"]), 1000, True, Wait("x", 1.0)),
        (node("a", LOST, in_use=["x"]), 60, True, Wait("x", 300.0)),
        (node("a", LOST, in_use=["x"]), 360, True, Detach("x", is_forced=True)),
        (node("a", LOST, in_use=["x"]), 360, False, Wait("x", 1.0)),
        (node("a", in_use=["x"], taints=[{"key": "node.kubernetes.io/out-of-service"}]), 0, False, Detach("x", True)),
    ],
)
def test_when_a_volume_is_taken_from_a_node(where, seconds, forces, step):
    assert decide(where, {}, ["x"], {}, {"x": seconds}, forces=forces) == [step]


@pytest.mark.parametrize(
    ("volume", "is_persistent", "steps"),
    [
        ({"accessModes": ["ReadWriteOnce"]}, True, ["Refuse"]),
        ({"accessModes": ["ReadOnlyMany", "ReadWriteOnce"]}, True, ["Attach"]),
        ({}, True, ["Attach"]),
        ({"disk": {}}, False, ["Attach"]),
        ({"azureDisk": {}}, False, ["Refuse"]),
        ({"cinder": {}}, False, ["Refuse"]),
    ],
)
def test_shared_volumes_are_attached_to_several_nodes(volume, is_persistent, steps):
    spec = VolumeSpec(volume=volume, persistent_volume={"metadata": {"name": "pv"}} if is_persistent else None)

    found = decide(node("a"), {"x": Wanted(spec, ())}, [], {"x": ["b"]}, {})

    assert [type(step).__name__ for step in found] == steps


def test_pods_of_other_namespaces_are_only_counted():
    others = [pod("p", "a"), {"metadata": {"name": "x", "namespace": "secret"}}]
    begin = 'Multi-Attach error for volume "pv" Volume is already '

    assert multi_attach_message("pv", pod("q", "b"), others) == (
        f"{begin}used by pod(s) p and 1 pod(s) in different namespaces"
    )
    assert multi_attach_message("pv", pod("q", "b"), others[1:]) == f"{begin}used by 1 pod(s) in different namespaces"
    assert multi_attach_message("pv", pod("q", "b"), []) == (
        f"{begin}exclusively attached to one node and can't be attached to another"
    )


def test_disks_of_a_kind_that_a_driver_took_over_are_the_drivers():
    inline = {"name": "v", "awsElasticBlockStore": {"volumeID": "aws://z/vol-1"}}
    world = World({**pod("p", "a"), "spec": {"nodeName": "a", "volumes": [inline]}}, kinds=Drivers)
    world.client.seed(PODS, {**pod("q", "b"), "spec": {"nodeName": "b", "volumes": [inline]}})
    world.settle()

    assert world.disks.done == ["attach vol-1 a"]
    text = 'Multi-Attach error for volume "ebs.csi.aws.com-vol-1" Volume is already used by pod(s) p'
    assert ("FailedAttachVolume", text) in world.said()
