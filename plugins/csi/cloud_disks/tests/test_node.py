"""The node service with real mounts and file systems, on loop devices where the cloud says that its disk is."""

import os
import shutil
from pathlib import Path

import pytest
from hyperkube_csi.cloud_disks import CloudDisks
from hyperkube_lib.csi import CsiFailed
from hyperkube_lib.volume_mount import attach_loop, loop_of

from hyperkube.plugin import PluginContext

MI = 1 << 20
WRITER = {"mode": "SINGLE_NODE_WRITER"}
MOUNT = {"access_mode": WRITER, "mount": {"fs_type": "ext4"}}
XFS = {"access_mode": WRITER, "mount": {"fs_type": "xfs"}}
BLOCK = {"access_mode": WRITER, "block": {}}

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(
        os.geteuid() != 0 or not Path("/dev/loop-control").exists() or shutil.which("mkfs.ext4") is None,
        reason="needs root, loop devices and mkfs.ext4",
    ),
]


class Node:
    """A driver, a disk and the places of a kubelet."""

    def __init__(self, folder):
        self.driver = CloudDisks(
            PluginContext(name="cloud-disks", settings={"cloud_provider": "aws", "hostname_override": "n1"})
        ).in_cloud
        self.image, self.staging, self.target = folder / "disk", folder / "staging", folder / "target"
        self.image.touch()
        os.truncate(self.image, 16 * MI)
        self.device = attach_loop(self.driver.mounter.programs, str(self.image))

    def resize(self, size):
        os.truncate(self.image, size)
        self.driver.mounter.programs.run(["losetup", "-c", self.device])

    def request(self, use=MOUNT, **more):
        return {
            "volume_id": "vol-1",
            "staging_target_path": str(self.staging),
            "volume_capability": use,
            "publish_context": {"devicePath": self.device},
            **more,
        }

    def up(self, use=MOUNT, **more):
        for _ in range(2):
            self.driver.node_stage_volume(self.request(use))
        for _ in range(2):
            self.driver.node_publish_volume(self.request(use, target_path=str(self.target), **more))

    def down(self):
        for _ in range(2):
            self.driver.node_unpublish_volume({"volume_id": "vol-1", "target_path": str(self.target)})
        for _ in range(2):
            self.driver.node_unstage_volume(self.request())


@pytest.fixture
def node(tmp_path):
    made = Node(tmp_path)
    yield made
    made.down()
    if device := loop_of(str(made.image)):
        made.driver.mounter.programs.run(["losetup", "-d", device])


def test_a_new_disk_gets_a_file_system_once(node):
    node.up()
    (node.target / "file").write_text("kept")
    node.down()

    node.up(readonly=True)

    assert (node.target / "file").read_text() == "kept"
    with pytest.raises(OSError, match="Read-only"):
        (node.target / "other").touch()


@pytest.mark.skipif(
    shutil.which("mkfs.xfs") is None, reason="no mkfs.xfs: what ext4 needs to grow is not allowed everywhere"
)
@pytest.mark.parametrize("is_mounted", [True, False], ids=["mounted", "between-two-pods"])
def test_a_disk_that_has_grown_is_used_whole(node, is_mounted):
    node.resize(320 * MI)
    node.up(XFS)
    before = node.driver.node_get_volume_stats({"volume_id": "vol-1", "volume_path": str(node.target)})["usage"][0]
    if not is_mounted:
        node.down()
    node.resize(640 * MI)

    if is_mounted:
        for _ in range(2):
            node.driver.node_expand_volume(node.request(XFS, volume_path=str(node.target)))
    else:
        node.up(XFS)

    after = node.driver.node_get_volume_stats({"volume_id": "vol-1", "volume_path": str(node.target)})["usage"][0]
    assert before["total"] < 320 * MI < 500 * MI < after["total"]


def test_a_pod_may_have_the_device_itself(node):
    node.up(BLOCK)

    assert node.target.is_block_device()
    assert os.major(node.target.stat().st_rdev) == os.major(Path(node.device).stat().st_rdev)


def test_a_disk_whose_device_does_not_come_is_not_mounted(node, monkeypatch):
    monkeypatch.setattr("hyperkube_csi.cloud_disks.node_service.DEVICE_SECONDS", 0.0)
    node.device = "/dev/no-such-device"

    with pytest.raises(CsiFailed, match="no device at /dev/no-such-device, /dev/disk/by-id/nvme-Amazon"):
        node.driver.node_stage_volume(node.request())
