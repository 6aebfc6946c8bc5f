"""fc volumes: the disks of kubernetes ``pkg/volume/fc/fc_util_test.go``, and what the kernel is told of them."""

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from hyperkube_lib.volume_mount import FakePrograms, Finished, Mount, Mounter
from hyperkube_testing.node_contracts.volume import PersistentVolumeContract, VolumeContract
from hyperkube_volume.fc import Disks, FcVolumes

from hyperkube.hookspecs.volume import MountedVolume, VolumeFailed, VolumeSpec

WWN, WWID = "500a0981891b8dc5", "3600508b400105e210000900000490000"
SOURCE = {"targetWWNs": [WWN], "lun": 0, "fsType": "ext4"}


class Bench:
    """The kind on a node whose disks are files below a folder."""

    def __init__(self, folder, answers=None):
        self.root, self.plugin_dir = folder / "root", folder / "plugins"
        self.programs, self.mounts = FakePrograms(answers), []
        self.kind = FcVolumes(Mounter(self.programs, table=lambda: self.mounts), Disks(self.root))
        self.host = self.write("sys/class/scsi_host/host0/scan")

    def write(self, path):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        return file

    def disk(self, name, link):
        device, at = self.write(f"dev/{name}"), self.root / "dev/disk" / link
        at.parent.mkdir(parents=True, exist_ok=True)
        at.symlink_to(device)
        self.write(f"sys/block/{name}/device/delete")
        return str(device)

    def request(self, source=SOURCE, name="v"):
        spec = VolumeSpec(volume={"name": name, "fc": source})
        path = self.kind.device_mount_path(spec, str(self.plugin_dir))
        request = TestContract().device_request(self.plugin_dir)
        return replace(request, spec=spec, path=path, plugin_dir=str(self.plugin_dir))


class TestContract(VolumeContract, PersistentVolumeContract):
    volume: ClassVar = {"fc": SOURCE}
    persistent_volume: ClassVar = {"metadata": {"name": "pv"}, "spec": {"fc": SOURCE}}

    def kind(self):
        return FcVolumes(Mounter(FakePrograms(), table=list), Disks(Path("/no")))


@pytest.mark.parametrize(
    ("source", "link"),
    [
        (SOURCE, f"by-path/pci-0000:41:00.0-fc-0x{WWN}-lun-0"),
        (SOURCE, f"by-path/fc-0x{WWN}-lun-0"),
        ({"wwids": [WWID]}, f"by-id/scsi-{WWID}"),
        ({"wwids": ["VENDOR 12 3"]}, "by-id/scsi-VENDOR_12_3"),
        ({"wwids": [WWID], "targetWWNs": [WWN]}, f"by-id/scsi-{WWID}"),
    ],
    ids=["target", "target of an old udev", "id", "id with spaces", "id beside a target without LUN"],
)
def test_a_disk_is_found(tmp_path, source, link):
    bench = Bench(tmp_path)
    bench.disk("sdb", f"{link}-part1")
    device = bench.disk("sda", link)

    assert bench.kind.wait_for_attach(bench.request(source).spec, "", {}, {}) == device
    assert bench.host.read_text() == ""


def test_adapters_look_again_for_a_disk_that_is_not_there(tmp_path):
    bench = Bench(tmp_path)

    with pytest.raises(VolumeFailed, match="no fc disk found"):
        bench.kind.wait_for_attach(bench.request().spec, "", {}, {})

    assert bench.host.read_text() == "- - -"


@pytest.mark.parametrize("source", [{}, {"targetWWNs": [WWN]}, {"lun": 1}])
def test_a_volume_without_a_disk_is_refused(source):
    with pytest.raises(VolumeFailed, match="no fc disk information found"):
        TestContract().kind().volume_name(VolumeSpec(volume={"name": "v", "fc": source}))


@pytest.mark.parametrize(("source", "name"), [(SOURCE, f"[{WWN}]:0"), ({"wwids": ["a", "b"]}, "[a b]")])
def test_a_volume_is_called_as_the_nodes_status_calls_it(source, name):
    assert TestContract().kind().volume_name(VolumeSpec(volume={"name": "v", "fc": source})) == name


def test_a_disk_is_mounted_with_the_label_of_its_pod(tmp_path):
    bench = Bench(tmp_path)
    bench.disk("sda", f"by-path/fc-0x{WWN}-lun-0")
    request = replace(bench.request(), selinux_label="u:object_r:t:s0:c1,c2")

    bench.kind.mount_device(request)

    options = 'context="u:object_r:t:s0:c1,c2",defaults'
    assert bench.programs.ran[-1] == f"mount -t ext4 -o {options} {bench.root}/dev/sda {request.path}"
    assert bench.kind.supports_selinux_context_mount(request.spec)


def test_a_disk_is_mounted_once_and_forgotten_by_all_its_paths(tmp_path):
    bench = Bench(tmp_path)
    bench.disk("sda", f"by-path/fc-0x{WWN}-lun-0")
    bench.disk("sdb", "by-path/other")
    for name in ("sda", "sdb"):
        bench.write(f"sys/block/dm-1/slaves/{name}")
    request = bench.request()

    bench.kind.mount_device(request)
    assert bench.programs.ran[-1] == f"mount -t ext4 -o defaults {bench.root}/dev/dm-1 {request.path}"
    bench.mounts.append(Mount(path=request.path, root="/", device="8:1", type="ext4", source="d", options=()))
    ran = len(bench.programs.ran)
    bench.kind.mount_device(request)
    known = MountedVolume(name="v", pod_uid="u", path="", plugin_dir=str(bench.plugin_dir))
    found = bench.kind.construct_spec(known)
    assert (len(bench.programs.ran), found.volume["fc"]) == (ran, SOURCE)
    bench.mounts.clear()
    bench.kind.unmount_device(request.path)

    assert [(bench.root / f"sys/block/{name}/device/delete").read_text() for name in ("sda", "sdb")] == ["1", "1"]
    assert not any(bench.plugin_dir.iterdir())


def test_what_cannot_be_mounted_leaves_nothing(tmp_path):
    bench = Bench(tmp_path, {"mount": Finished(32, "bad superblock")})
    bench.disk("sda", f"by-path/fc-0x{WWN}-lun-0")

    with pytest.raises(VolumeFailed, match="bad superblock"):
        bench.kind.mount_device(bench.request())

    assert not any(bench.plugin_dir.iterdir())


def test_a_device_is_given_as_it_is(tmp_path):
    bench = Bench(tmp_path)
    device = bench.disk("sda", f"by-path/fc-0x{WWN}-lun-0")
    request = replace(bench.request(), path=str(bench.plugin_dir / "volumeDevices" / "v"))

    assert bench.kind.map_device(request) == device
    bench.kind.unmap_device(MountedVolume(name="v", pod_uid="u", path=request.path))

    assert (bench.root / "sys/block/sda/device/delete").read_text() == "1"


def test_what_a_pod_wrote_to_its_disk_is_no_record(tmp_path):
    bench = Bench(tmp_path)
    bench.disk("sda", f"by-path/fc-0x{WWN}-lun-0")
    request = bench.request()
    bench.kind.mount_device(request)
    Path(request.path, "w.json").write_text('{"name": "w", "device": "/dev/sdz", "fc": {}}')

    with pytest.raises(VolumeFailed, match="no fc disk of volume w is known here"):
        bench.kind.construct_spec(MountedVolume(name="w", pod_uid="u", path="", plugin_dir=str(bench.plugin_dir)))
