"""attachdetach: volumes follow their pods."""

from attach_detach_rig import VOLUME, Disks, Drivers, World, node, pod
from hyperkube_controller.attachdetach import Attachdetach

from hyperkube.kinds.resources import NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig


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
        NODES,
        "a",
        {"status": {"volumesInUse": ["example.com/disk/d1"], "conditions": [{"type": "Ready", "status": "Unknown"}]}},
        subresource="status",
    )
    world.remove("p")
    world.settle()
    before = list(world.disks.done)
    world.advance(361)
    world.settle()

    assert before == ["attach d1 a"]
    assert world.disks.done == ["attach d1 a", "detach d1 a"]


def test_a_failed_attachment_is_told():
    world = World(pod("r", "c"), nodes=[node("b")])
    world.disks.broken = True
    world.client.seed(NODES, node("c"))
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


def test_disks_of_a_kind_that_a_driver_took_over_are_the_drivers():
    inline = {"name": "v", "awsElasticBlockStore": {"volumeID": "aws://z/vol-1"}}
    world = World({**pod("p", "a"), "spec": {"nodeName": "a", "volumes": [inline]}}, kinds=Drivers)
    world.client.seed(PODS, {**pod("q", "b"), "spec": {"nodeName": "b", "volumes": [inline]}})
    world.settle()

    assert world.disks.done == ["attach vol-1 a"]
    text = 'Multi-Attach error for volume "ebs.csi.aws.com-vol-1" Volume is already used by pod(s) p'
    assert ("FailedAttachVolume", text) in world.said()
