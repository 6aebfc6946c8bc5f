"""What an earlier kubelet left mounted: in use it stays, whatever its shape; the rest is undone by its plugin."""

import pytest
from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.volumemanager import reconstruction
from hyperkube_host.kubelet.volumemanager.pod_volumes import PodVolumes
from hyperkube_host.kubelet.volumemanager.reconstruction import Reconstruction
from hyperkube_lib.volume_mount.mount_table import Mount

CSI = "kubernetes.io/csi"


class Disks:
    """A kind with mounts and block devices; notes what is undone."""

    def __init__(self):
        self.undone = []

    def supports(self, volume):
        return "disk" in volume

    def can_device_mount(self, _spec):
        return True

    def volume_name(self, spec):
        return spec.name

    def device_mount_path(self, spec, plugin_dir):
        return f"{plugin_dir}/{spec.name}"

    def mount_device(self, _request):
        return None

    def unmount_device(self, path):
        self.undone.append(("unmount", path))

    def map_device(self, _request):
        return "/dev/null"

    def unmap_device(self, mounted):
        self.undone.append(("unmap", mounted.name, mounted.path))

    def setup(self, request):
        return request.path

    def teardown(self, _mounted):
        return None


@pytest.fixture
def undone(tmp_path, monkeypatch):
    """Return a function from mount points and paths in use, below the plugin's folder, to what is undone."""
    base = tmp_path / "plugins" / CSI

    def run(mounts, *used):
        table = [Mount(str(base / one), "/", "8:1", "ext4", "/dev/x", ()) for one in mounts]
        monkeypatch.setattr(reconstruction, "mount_table", lambda: table)
        disks = Disks()
        found = Reconstruction(KubeletDirectories(tmp_path), PodVolumes([(CSI, disks)], None), None, None)
        found.unmount_unused_devices({str(base / one) for one in used})
        return [tuple(word.removeprefix(f"{base}/") for word in step) for step in disks.undone]

    return run


def test_what_a_driver_mounted_for_a_block_device_in_use_stays(undone):
    assert undone(["volumeDevices/pv/staging", "volumeDevices/pv/publish"], "volumeDevices/pv") == []


def test_a_block_device_that_no_pod_uses_is_unmapped_by_its_name(undone):
    found = undone(["volumeDevices/old/publish", "volumeDevices/pv/publish"], "volumeDevices/pv")

    assert found == [("unmap", "old", "volumeDevices/old")]


def test_a_mount_in_use_stays_and_another_is_unmounted(undone):
    found = undone(
        ["driver/a/globalmount", "driver/b/globalmount", "driver/a/globalmount/inner"], "driver/a/globalmount"
    )

    assert found == [("unmount", "driver/b/globalmount")]


def test_a_name_that_only_begins_like_one_in_use_is_another(undone):
    assert undone(["volumeDevices/pv-2/publish"], "volumeDevices/pv") == [("unmap", "pv-2", "volumeDevices/pv-2")]
