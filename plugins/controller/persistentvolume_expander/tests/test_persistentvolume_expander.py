"""persistentvolume-expander: claims that ask for more."""

import pytest
from hyperkube_controller.persistentvolume_expander import PersistentvolumeExpander

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.kinds.resources import EVENTS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig


class Disks:
    """A kind that grows."""

    def __init__(self, on_node=False):
        self.grown, self.on_node, self.broken = [], on_node, False

    def supports(self, volume):
        return "disk" in volume

    def requires_fs_resize(self):
        return self.on_node

    def expand(self, _spec, size, old_size):
        if self.broken:
            raise VolumeFailed("the shelf is full")
        self.grown.append((old_size, size))
        return size


class World(ControllerRig):
    def __init__(self, asked="2Gi", disks=None, source=None):
        super().__init__(PersistentvolumeExpander)
        self.disks = disks or Disks()
        self.plugins[0]._kinds._kinds = [("example.com/disk", self.disks)]
        claim = {
            "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "d", "uid": "u"},
            "spec": {"volumeName": "pv", "resources": {"requests": {"storage": asked}}},
            "status": {"phase": "Bound", "capacity": {"storage": "1Gi"}},
        }  # fmt: skip
        spec = {**(source or {"disk": {}}), "capacity": {"storage": "1Gi"}, "claimRef": {"uid": "u"}}
        self.client.seed(PERSISTENT_VOLUME_CLAIMS, claim)
        self.client.seed(PERSISTENT_VOLUMES, {"kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": spec})
        self.settle()

    def status(self):
        return self.client.get(PERSISTENT_VOLUME_CLAIMS, "c", "d")["status"]

    def capacity(self):
        return self.client.get(PERSISTENT_VOLUMES, "pv")["spec"]["capacity"]

    def said(self):
        self.plugins[0]._recorder.flush()
        return [(event["reason"], event["message"]) for event in self.client.objects(EVENTS)]


class TestContract(ControllerContract):
    plugin = PersistentvolumeExpander

    def rig(self):
        return World()

    def test_it_does_its_work(self):
        assert self.rig().disks.grown == [(1 << 30, 2 << 30)]

    def test_it_finds_its_work_again_after_a_restart(self):
        """What was done stands in claim and volume."""
        world = World()
        assert (world.capacity(), world.status()["capacity"]) == ({"storage": "2Gi"}, {"storage": "2Gi"})


def test_a_volume_grows_and_its_claim_says_so():
    world = World()

    assert world.status() == {"phase": "Bound", "capacity": {"storage": "2Gi"}, "conditions": []}
    assert world.said() == [("VolumeResizeSuccessful", "ExpandVolume succeeded for volume d/c")]


def test_the_rest_is_the_nodes_where_it_has_a_file_system_to_grow():
    world = World(disks=Disks(on_node=True))

    (condition,) = world.status()["conditions"]
    assert condition["type"] == "FileSystemResizePending"
    assert condition["message"].startswith("Waiting for user to (re-)start a pod to finish file system resize")
    assert world.status()["capacity"] == {"storage": "1Gi"}
    assert world.capacity() == {"storage": "2Gi"}
    assert world.said() == [("FileSystemResizeRequired", "Require file system resize of volume on node")]


def test_failures_are_told_and_tried_again():
    disks = Disks()
    disks.broken = True
    world = World(disks=disks)
    before = world.said()
    disks.broken = False
    world.advance(60)

    assert before[0][0] == "VolumeResizeFailed"
    assert "the shelf is full" in before[0][1]
    assert world.status()["capacity"] == {"storage": "2Gi"}


def test_others_grow_their_own():
    world = World(source={"tape": {}})

    assert world.said() == [("ExternalExpanding", "waiting for an external controller to expand this PVC")]


@pytest.mark.parametrize("asked", ["1Gi", "512Mi"])
def test_nothing_shrinks(asked):
    assert World(asked).disks.grown == []


@pytest.mark.parametrize(
    ("source", "plugin", "driver"),
    [
        ({"awsElasticBlockStore": {"volumeID": "v"}}, "kubernetes.io/aws-ebs", "ebs.csi.aws.com"),
        ({"gcePersistentDisk": {"pdName": "v"}}, "kubernetes.io/gce-pd", "pd.csi.storage.gke.io"),
    ],
)
def test_a_volume_of_a_kind_that_left_the_tree_is_for_the_driver_that_took_over(source, plugin, driver):
    world = World(source=source)

    claim = world.client.get(PERSISTENT_VOLUME_CLAIMS, "c", "d")
    assert claim["metadata"]["annotations"] == {"volume.kubernetes.io/storage-resizer": driver}
    text = f"CSI migration enabled for {plugin}; waiting for external resizer to expand the pvc"
    assert set(world.said()) == {("ExternalExpanding", text)}
    assert world.disks.grown == []


def test_a_claim_whose_volume_is_not_its_own_waits():
    world = World()
    world.client.patch(PERSISTENT_VOLUMES, "pv", {"spec": {"claimRef": {"uid": "another"}}})
    world.client.patch(PERSISTENT_VOLUME_CLAIMS, "c", {"spec": {"resources": {"requests": {"storage": "3Gi"}}}}, "d")

    world.settle()

    assert world.disks.grown == [(1 << 30, 2 << 30)]
