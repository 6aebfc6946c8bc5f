"""The node service with real mounts, loop devices and file systems; each step twice, as after a lost answer."""

import os
import shutil
from pathlib import Path

import pytest
from hyperkube_csi.host_path import HostPath
from hyperkube_lib.csi import CsiFailed
from hyperkube_lib.volume_mount import loop_of, mounts_below

from hyperkube.plugin import PluginContext

MI = 1 << 20
WRITER = {"mode": "SINGLE_NODE_WRITER"}
MOUNT = {"access_mode": WRITER, "mount": {"fs_type": "ext4"}}
BLOCK = {"access_mode": WRITER, "block": {}}
IMAGE = {"parameters": {"backing": "image"}}

pytestmark = [
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(
        os.geteuid() != 0 or not Path("/dev/loop-control").exists() or shutil.which("mkfs.ext4") is None,
        reason="needs root, loop devices and mkfs.ext4",
    ),
]


class Node:
    """A driver and the places of a kubelet; whatever a test leaves is undone."""

    def __init__(self, folder):
        self.folder = folder
        settings = {"dir": str(folder / "d"), "node_id": "n"}
        self.driver = HostPath(PluginContext(name="csi-host-path", settings=settings)).on_host

    def make(self, name="v", size=16 * MI, capability=MOUNT, **more):
        request = {"name": name, "capacity_range": {"required_bytes": size}, "volume_capabilities": [capability]}
        self.driver.create_volume({**request, **more})

    def staging(self, name="v"):
        return self.folder / f"staging-{name}"

    def up(self, name="v", pod="pod", capability=MOUNT, **more):
        """Stage and publish, each twice; return where the pod finds the volume."""
        target = self.folder / f"{pod}-{name}"
        staged = {"volume_id": name, "staging_target_path": str(self.staging(name)), "volume_capability": capability}
        for _ in range(2):
            self.driver.node_stage_volume(staged)
        for _ in range(2):
            self.driver.node_publish_volume({**staged, "target_path": str(target), **more})
        return target

    def down(self, name="v", pods=("pod",)):
        for pod in pods:
            for _ in range(2):
                self.driver.node_unpublish_volume(
                    {"volume_id": name, "target_path": str(self.folder / f"{pod}-{name}")}
                )
        for _ in range(2):
            self.driver.node_unstage_volume({"volume_id": name, "staging_target_path": str(self.staging(name))})

    def left(self):
        mounts = mounts_below(str(self.folder), self.driver.mounter._table())
        loops = [loop_of(str(path)) for path in (self.folder / "d").rglob("data") if path.is_file()]
        return [mount.path for mount in mounts], [loop for loop in loops if loop]


@pytest.fixture
def node(tmp_path):
    made = Node(tmp_path)
    yield made
    for path in tmp_path.iterdir():
        if path.name != "d":
            made.driver.mounter.clean_up(str(path))
    for path in (tmp_path / "d").rglob("data"):
        if device := loop_of(str(path)):
            made.driver.mounter.programs.run(["losetup", "-d", device])


@pytest.mark.parametrize("more", [{}, IMAGE], ids=["folder", "image"])
def test_what_a_pod_writes_is_there_for_the_next(node, more):
    node.make(**more)
    (node.up() / "file").write_text("kept")
    node.down()
    between = node.left()

    assert (node.up(pod="next") / "file").read_text() == "kept"
    node.down(pods=("next",))
    assert between == node.left() == ([], [])


@pytest.mark.skipif(
    shutil.which("mkfs.xfs") is None, reason="no mkfs.xfs: what ext4 needs to grow is not allowed everywhere"
)
def test_an_image_grows_while_it_is_used(node):
    xfs = {"access_mode": WRITER, "mount": {"fs_type": "xfs"}}
    node.make(size=320 * MI, capability=xfs, **IMAGE)
    target = node.up(capability=xfs)
    usage = node.driver.node_get_volume_stats({"volume_id": "v", "volume_path": str(target)})["usage"]
    (target / "file").write_bytes(b"x" * MI)
    size = {"capacity_range": {"required_bytes": 640 * MI}}
    node.driver.controller_expand_volume({"volume_id": "v", **size})
    for _ in range(2):
        node.driver.node_expand_volume(
            {"volume_id": "v", "volume_path": str(target), "staging_target_path": str(node.staging()), **size}
        )
    grown = node.driver.node_get_volume_stats({"volume_id": "v", "volume_path": str(target)})["usage"]

    assert usage[0]["total"] < 320 * MI < 500 * MI < grown[0]["total"]
    assert (target / "file").read_bytes() == b"x" * MI
    node.down()


def test_a_snapshot_of_a_volume_in_use_is_whole_and_a_larger_clone_has_the_room(node):
    node.make(**IMAGE)
    target = node.up()
    (target / "file").write_text("before")  # not synced: freezing does
    node.driver.create_snapshot({"name": "s", "source_volume_id": "v"})
    (target / "file").write_text("after")
    node.make("restored", volume_content_source={"snapshot": {"snapshot_id": "s"}}, **IMAGE)
    node.make("clone", 48 * MI, volume_content_source={"volume": {"volume_id": "v"}}, **IMAGE)
    restored, clone = node.up("restored"), node.up("clone")

    assert (restored / "file").read_text() == "before"
    assert (clone / "file").read_text() == "after"
    room = os.statvfs(clone)
    assert room.f_blocks * room.f_frsize > 32 * MI
    for name in ("v", "restored", "clone"):
        node.down(name)
    assert node.left() == ([], [])


def test_a_device(node):
    node.make(capability=BLOCK)
    target = node.up(capability=BLOCK)
    assert target.is_block_device()
    with target.open("r+b") as device:
        device.write(b"kept")
    node.driver.controller_expand_volume({"volume_id": "v", "capacity_range": {"required_bytes": 32 * MI}})
    node.driver.node_expand_volume({"volume_id": "v", "volume_path": str(target), "volume_capability": BLOCK})
    with target.open("rb") as device:
        assert device.read(4) == b"kept"
        assert device.seek(0, os.SEEK_END) == 32 * MI

    node.down()
    assert node.left() == ([], [])
    assert not target.exists()


@pytest.mark.parametrize("more", [{}, IMAGE], ids=["folder", "image"])
def test_a_volume_for_one_pod_is_given_to_no_second(node, more):
    alone = {**MOUNT, "access_mode": {"mode": "SINGLE_NODE_SINGLE_WRITER"}}
    node.make(capability=alone, **more)
    node.up(capability=alone)

    with pytest.raises(CsiFailed, match="code = FailedPrecondition desc = volume v is in use by another pod"):
        node.up(pod="second", capability=alone)
    node.down()
    node.up(pod="second", capability=alone)
    node.down(pods=("second",))


def test_a_pod_that_may_only_read(node):
    node.make()
    target = node.up(readonly=True)

    with pytest.raises(OSError, match="Read-only file system"):
        (target / "file").write_text("x")
    node.down()


def test_a_volume_that_is_not_staged(node):
    node.make()

    with pytest.raises(CsiFailed, match="code = FailedPrecondition desc = volume v is not staged"):
        node.driver.node_publish_volume(
            {"volume_id": "v", "target_path": str(node.folder / "x"), "volume_capability": MOUNT}
        )
