"""flexVolume volumes, with drivers that are shell scripts, as upstream's examples are."""

import json
import os
import stat
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from hyperkube_lib.volume_mount import HostPrograms, Mounter
from hyperkube_testing.node_contracts.volume import POD, PersistentVolumeContract, VolumeContract
from hyperkube_volume.flex_volume import FlexVolumes
from hyperkube_volume.flex_volume.driver_call import driver_path, options_of

from hyperkube.hookspecs.volume import DeviceRequest, VolumeFailed, VolumeSpec

SOURCE = {"driver": "acme/disk", "fsType": "ext4", "options": {"size": "big"}}
SECRET = {"data": {"token": "c2VjcmV0LW9mLXRoZS10ZXN0"}}

ATTACHES = """
case "$1" in
  init) echo '{"status": "Success", "capabilities": {"attach": true, "fsGroup": false}}' ;;
  getvolumename) echo '{"status": "Success", "volumeName": "disk-1"}' ;;
  attach) touch "$HERE/attached"; echo '{"status": "Success", "device": "/dev/acme1"}' ;;
  isattached) [ -e "$HERE/attached" ] && held=true || held=false; echo "{\\"status\\": \\"Success\\", \\"attached\\": $held}" ;;
  waitforattach) echo '{"status": "Success", "device": "/dev/acme1p1"}' ;;
  detach) rm -f "$HERE/attached"; echo '{"status": "Success"}' ;;
  mountdevice | unmountdevice | mount | unmount) echo '{"status": "Success"}' ;;
  expandvolume) echo '{"status": "Success", "volumeNewSize": 4096}' ;;
  *) echo '{"status": "Not supported"}' ;;
esac
"""
MOUNTS = """
case "$1" in
  init) echo '{"status": "Success", "capabilities": {"attach": false}}' ;;
  mount) echo data > "$2/file"; echo '{"status": "Success"}' ;;
  unmount) rm -f "$2/file"; echo '{"status": "Success"}' ;;
  *) echo '{"status": "Not supported"}' ;;
esac
"""


@pytest.fixture
def install(tmp_path):
    """Return a function that installs a driver and returns its kind, and one that tells how it was called."""
    folder = tmp_path / "drivers"
    log = tmp_path / "calls"

    def installed(script, driver="acme/disk"):
        path = folder / driver.replace("/", "~") / driver.rpartition("/")[2]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\nHERE="{path.parent}"\nprintf "%s\\n" "$*" >> "{log}"\n{script}')
        path.chmod(0o755)
        return FlexVolumes(folder, Mounter(HostPrograms(), table=list))

    installed.calls = lambda: log.read_text().splitlines() if log.exists() else []
    return installed


class TestContract(VolumeContract, PersistentVolumeContract):
    volume: ClassVar = {"flexVolume": {"driver": "acme/disk"}}
    persistent_volume: ClassVar = {"metadata": {"name": "pv"}, "spec": {"flexVolume": SOURCE}}

    @pytest.fixture(params=[ATTACHES, MOUNTS], ids=["attaches", "mounts"], autouse=True)
    def _driver(self, request, install):
        self._kind = install(request.param)

    def kind(self):
        return self._kind


def spec(**source):
    volume = {"name": "pv", "flexVolume": {**SOURCE, **source}}
    return VolumeSpec(volume=volume, persistent_volume={"metadata": {"name": "pv"}, "spec": volume})


def request(folder, **source):
    contract = TestContract()
    return replace(
        contract.request(folder, {"name": "v", "flexVolume": {**SOURCE, **source}}),
        get_secret=lambda _namespace, _name: SECRET,
    )


def test_a_volume_is_attached_waited_for_grown_and_detached(install):
    kind, node = install(ATTACHES), {"metadata": {"name": "n1"}}

    assert kind.can_attach(spec())
    assert kind.volume_name(spec()) == "acme/disk/disk-1"
    assert kind.attach(spec(), node) == "/dev/acme1"
    assert kind.wait_for_attach(spec(), "/dev/acme1", POD, node) == "/dev/acme1p1"
    assert kind.volumes_are_attached([spec()], node) == {"pv": True}
    assert kind.expand(spec(), 4000, 1000) == 4096
    kind.detach("acme/disk/disk-1", "n1")

    words = [line.split(" ", 1)[0] for line in install.calls()]
    assert words.count("init") == 1
    assert install.calls()[-1] == "detach disk-1 n1"


def test_options_tell_the_driver_of_volume_pod_and_secret(install, tmp_path):
    install(MOUNTS).setup(request(tmp_path / "v", secretRef={"name": "s"}, readOnly=True))

    word, path, options = install.calls()[-1].split(" ", 2)
    assert (word, path) == ("mount", str(tmp_path / "v"))
    assert json.loads(options) == {
        "kubernetes.io/fsType": "ext4",
        "kubernetes.io/readwrite": "ro",
        "kubernetes.io/pvOrVolumeName": "v",
        "kubernetes.io/pod.name": POD["metadata"]["name"],
        "kubernetes.io/pod.namespace": POD["metadata"]["namespace"],
        "kubernetes.io/pod.uid": POD["metadata"]["uid"],
        "kubernetes.io/serviceAccount.name": (POD.get("spec") or {}).get("serviceAccountName") or "",
        "kubernetes.io/secret/token": "c2VjcmV0LW9mLXRoZS10ZXN0",
        "size": "big",
    }


def test_after_a_restart_the_driver_unmounts_what_it_mounted(install, tmp_path):
    install(MOUNTS).setup(request(tmp_path / "v"))
    again = install(MOUNTS)

    again.teardown(TestContract().mounted(tmp_path / "v"))

    assert install.calls()[-1] == f"unmount {tmp_path / 'v'}"
    assert not (tmp_path / "v").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["calls", "drivers"]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ('echo \'{"status": "Failure", "message": "no such disk"}\'; exit 1', "Failure: no such disk"),
        ("echo hello; exit 3", r"no JSON was printed \(exit status 3\): 'hello'"),
        ("echo '[]'", "an object was expected, not list"),
        ("exec sleep 30", "took longer than"),
    ],
    ids=["failure", "no JSON", "no object", "hangs"],
)
def test_what_goes_wrong_is_told_without_the_options(install, tmp_path, script, message):
    init = 'case "$1" in init) echo \'{"status": "Success", "capabilities": {"attach": false}}\'; exit 0 ;; esac\n'
    install(init + script)
    kind = FlexVolumes(tmp_path / "drivers", Mounter(HostPrograms(limit_seconds=1), table=list))

    with pytest.raises(VolumeFailed, match=message) as raised:
        kind.setup(request(tmp_path / "v", secretRef={"name": "s"}))

    assert "c2VjcmV0" not in str(raised.value)
    assert not (tmp_path / "v").exists()


@pytest.mark.parametrize(
    "script",
    [
        'echo "usage: $*"; exit 1',
        'echo "{\\"status\\": \\"Failure\\", \\"message\\": \\"bad token c2VjcmV0LW9mLXRoZS10ZXN0\\"}"; exit 1',
        'echo "{\\"status\\": \\"Failure\\", \\"message\\": \\"bad token secret-of-the-test\\"}"; exit 1',
    ],
    ids=["prints its arguments", "tells a secret", "tells a secret decoded"],
)
def test_a_driver_that_prints_a_secret_is_not_repeated(install, tmp_path, script):
    init = 'case "$1" in init) echo \'{"status": "Success", "capabilities": {"attach": false}}\'; exit 0 ;; esac\n'

    with pytest.raises(VolumeFailed, match=r"usage: mount|bad token \*\*\*") as raised:
        install(init + script).setup(request(tmp_path / "v", secretRef={"name": "s"}))

    assert "c2VjcmV0" not in str(raised.value)
    assert "secret-of-the-test" not in str(raised.value)


@pytest.mark.parametrize("told", ["..", ".", "pool/disk", "a\\u0000b", "x" * 256], ids=repr)
def test_a_name_that_is_no_folders_leads_to_no_other_place(install, tmp_path, told):
    kind = install(ATTACHES.replace("disk-1", told))

    with pytest.raises(VolumeFailed, match="cannot be the name of a folder"):
        kind.device_mount_path(spec(), str(tmp_path / "plugin"))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [('"capabilities": {"attach": true, "fsGroup": false}', '"capabilities": [1]'), ("4096", "[4096]")],
    ids=["capabilities", "size"],
)
def test_an_answer_of_another_type_is_told(install, right, wrong):
    kind = install(ATTACHES.replace(right, wrong))

    with pytest.raises(VolumeFailed, match=r"are no object|is no number"):
        kind.expand(spec(), 4000, 1000)


@pytest.mark.parametrize("name", ["../../bin/sh", "acme/../x", "/bin/sh", "a/b/c", ""])
def test_a_name_leads_to_no_program_outside_of_the_folder(tmp_path, name):
    with pytest.raises(VolumeFailed, match="is not the name of a FlexVolume driver"):
        driver_path(tmp_path, name)


def test_a_driver_may_come_later(install, tmp_path):
    kind = FlexVolumes(tmp_path / "drivers", Mounter(HostPrograms(), table=list))
    assert not kind.supports(spec().volume), "another plugin may handle volumes of that driver"
    with pytest.raises(VolumeFailed, match="no volume plugin matched name: flexvolume-acme/disk"):
        kind.can_attach(spec())

    install(ATTACHES)

    assert kind.supports(spec().volume)
    assert kind.can_attach(spec())


def test_the_group_is_the_kubelets_business_unless_the_driver_says_otherwise(install):
    assert not install(ATTACHES).gives_to_group(spec())
    assert install(MOUNTS).gives_to_group(spec())


def test_own_options_win_over_what_the_kubelet_adds():
    made = json.loads(options_of({"options": {"kubernetes.io/fsType": "xfs"}}, name="v", read_only=False))

    assert made["kubernetes.io/fsType"] == "xfs"


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_driver_that_really_mounts(install, tmp_path):
    script = """
case "$1" in
  init) echo '{"status": "Success", "capabilities": {"attach": true}}' ;;
  attach | waitforattach) echo '{"status": "Success", "device": "none"}' ;;
  mountdevice) mount -t tmpfs tmpfs "$2" && echo '{"status": "Success"}' ;;
  unmountdevice) umount "$2" && echo '{"status": "Success"}' ;;
  *) echo '{"status": "Not supported"}' ;;
esac
"""
    install(script)
    kind = FlexVolumes(tmp_path / "drivers")
    place = kind.device_mount_path(spec(), str(tmp_path / "plugin"))
    asked = DeviceRequest(
        spec=spec(), pod=POD, node={}, device="none", path=place, plugin_dir=str(tmp_path / "plugin"),
        get_secret=lambda _namespace, _name: SECRET,
    )  # fmt: skip

    kind.mount_device(asked)
    kind.mount_device(asked)
    folder = kind.setup(replace(request(tmp_path / "v"), device_mount_path=place))
    mode = Path(folder).stat().st_mode
    kinds = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True, check=True).stdout
    kind.teardown(TestContract().mounted(tmp_path / "v"))
    kind.unmount_device(place)

    assert stat.S_ISDIR(mode)
    assert kinds.strip() == "tmpfs"
    assert not Path(place).exists()
