"""iscsi volumes: the command lines of kubernetes ``pkg/volume/iscsi/iscsi_util.go``, and what failures leave behind."""

import base64
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from hyperkube_lib.volume_mount import FakePrograms, Finished, Mount, Mounter
from hyperkube_testing.node_contracts.volume import PersistentVolumeContract, VolumeContract
from hyperkube_volume.iscsi.disk import disk_of
from hyperkube_volume.iscsi.initiator import Initiator
from hyperkube_volume.iscsi.plugin import IscsiVolumes

from hyperkube.hookspecs.volume import MountedVolume, VolumeFailed, VolumeSpec

IQN, PORTAL = "iqn.2014-12.server:storage.target01", "127.0.0.1:3260"
SOURCE = {"targetPortal": "127.0.0.1", "iqn": IQN, "lun": 3, "fsType": "ext4"}
SHOWN = {"iscsiadm -m iface": Finished(0, "iface.iscsi_ifacename = default\niface.transport_name = tcp\n")}
NODE = f"-p {PORTAL} -T {IQN} -I default"
DISCOVERY = f"iscsiadm -m discoverydb -t sendtargets -p {PORTAL} -I default"
LOGIN = [
    "iscsiadm -m iface -I default -o show",
    f"{DISCOVERY} -o new",
    f"{DISCOVERY} --discover",
    f"iscsiadm -m node {NODE} --login",
    f"iscsiadm -m node -p {PORTAL} -T {IQN} -o update -n node.startup -v manual",
]
LOGOUT = [f"iscsiadm -m node {NODE} --logout", f"iscsiadm -m node {NODE} -o delete"]


class Target(FakePrograms):
    """Programs of a node below `root`, where a login brings up a session, and a scan the LUN's device."""

    def __init__(self, root, answers=SHOWN):
        super().__init__(answers)
        self.root = root

    def write(self, path, text=""):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def run(self, arguments, given=""):
        done = super().run(arguments, given)
        if "--login" in arguments and not done.code:
            address, _, port = arguments[arguments.index("-p") + 1].rpartition(":")
            session = "sys/class/iscsi_host/host7/device/session1"
            self.write(f"{session}/iscsi_session/session1/targetname", f"{IQN}\n")
            self.write(f"{session}/connection1:0/iscsi_connection/connection1:0/persistent_address", address)
            self.write(f"{session}/connection1:0/iscsi_connection/connection1:0/persistent_port", port)
            self.write("sys/class/scsi_host/host7/scan")
            self.write(f"dev/disk/by-path/ip-{address}:{port}-iscsi-{IQN}-lun-3")
        return done


class Bench:
    """The kind on a node."""

    def __init__(self, folder, source=SOURCE, answers=SHOWN, secret=None):
        self.root, self.source = folder / "root", source
        self.programs = Target(self.root, answers)
        self.mounts, self.slept = [], []
        initiator = Initiator(self.programs, self.slept.append, self.root)
        self.kind = IscsiVolumes(Mounter(self.programs, table=lambda: self.mounts), initiator)
        self.plugin_dir = folder / "plugins"
        self.secret = {key: base64.b64encode(value.encode()).decode() for key, value in (secret or {}).items()}

    def request(self, name="v", **source):
        contract = TestContract()
        volume = {"name": name, "iscsi": {**self.source, **source}}
        spec = VolumeSpec(volume=volume)
        path = self.kind.device_mount_path(spec, str(self.plugin_dir))
        request = replace(contract.device_request(self.plugin_dir), spec=spec, path=path)
        return replace(request, plugin_dir=str(self.plugin_dir), get_secret=lambda _ns, _name: {"data": self.secret})

    def mount(self, name="v", **source):
        request = self.request(name, **source)
        self.kind.mount_device(request)
        self.mounts.append(Mount(path=request.path, root="/", device="8:1", type="ext4", source="d", options=()))
        return request

    def unmount(self, request):
        self.mounts = [mount for mount in self.mounts if mount.path != request.path]
        self.programs.ran.clear()
        self.kind.unmount_device(request.path)
        return self.programs.ran

    @property
    def device(self):
        return str(self.root / f"dev/disk/by-path/ip-{PORTAL}-iscsi-{IQN}-lun-3")


class TestContract(VolumeContract, PersistentVolumeContract):
    volume: ClassVar = {"iscsi": SOURCE}
    persistent_volume: ClassVar = {"metadata": {"name": "pv"}, "spec": {"iscsi": SOURCE}}

    def kind(self):
        return Bench(Path("/nowhere")).kind


def test_a_disk_is_mounted_with_the_label_of_its_pod(tmp_path):
    bench = Bench(tmp_path)
    request = replace(bench.request(), selinux_label="u:object_r:t:s0:c1,c2")

    bench.kind.mount_device(request)

    options = 'context="u:object_r:t:s0:c1,c2",defaults'
    assert bench.programs.ran[-1] == f"mount -t ext4 -o {options} {bench.device} {request.path}"


def test_a_disk_is_logged_in_to_and_mounted_once(tmp_path):
    bench = Bench(tmp_path)
    request = bench.mount()
    lines = list(bench.programs.ran)
    bench.kind.mount_device(request)

    assert request.path == f"{bench.plugin_dir}/iface-default/{PORTAL}-{IQN}-lun-3"
    assert lines[: len(LOGIN)] == LOGIN
    assert lines[-1] == f"mount -t ext4 -o defaults {bench.device} {request.path}"
    assert bench.programs.ran == lines
    assert (bench.root / "sys/class/scsi_host/host7/scan").read_text() == "0 0 3"


def test_the_last_disk_of_a_target_logs_out(tmp_path):
    bench = Bench(tmp_path)
    first = bench.mount()
    bench.root.joinpath(f"dev/disk/by-path/ip-{PORTAL}-iscsi-{IQN}-lun-4").touch()
    second = bench.mount("w", lun=4)

    assert bench.unmount(first) == []
    assert bench.unmount(second) == LOGOUT
    assert list(bench.plugin_dir.rglob("*.json")) == []
    assert bench.unmount(second) == []


def test_a_session_that_is_there_is_used(tmp_path):
    bench = Bench(tmp_path)
    bench.mount()
    bench.programs.ran.clear()
    bench.mount("w")

    assert not any("--login" in line for line in bench.programs.ran)


@pytest.mark.parametrize(
    ("fails", "text", "after"),
    [
        (f"{DISCOVERY} --discover", "failed to sendtargets to portal", f"{DISCOVERY} -o delete"),
        (f"iscsiadm -m node {NODE} --login", "failed to attach disk: Error: no (exit status 8)",
         f"iscsiadm -m node {NODE} -o delete"),
    ],
    ids=["discovery", "login"],
)  # fmt: skip
def test_a_failure_takes_its_record_along(tmp_path, fails, text, after):
    bench = Bench(tmp_path, answers={**SHOWN, fails: Finished(8, "no")})

    with pytest.raises(VolumeFailed) as caught:
        bench.mount()

    assert text in str(caught.value)
    assert bench.programs.ran[-1] == after
    assert not list(bench.plugin_dir.rglob("*.json"))


def test_a_device_that_does_not_come_is_waited_for(tmp_path):
    bench = Bench(tmp_path)

    with pytest.raises(VolumeFailed, match="Could not attach disk: Timeout after 10s"):
        bench.mount(lun=5)

    assert bench.slept == [1.0] * 10


def test_another_portal_is_tried(tmp_path):
    bad = "iscsiadm -m discoverydb -t sendtargets -p 10.0.0.9:3260 -I default --discover"
    bench = Bench(tmp_path, answers={**SHOWN, bad: Finished(4, "unreachable")})

    bench.mount(targetPortal="10.0.0.9", portals=["127.0.0.1:3260"])

    assert bench.programs.ran[-1].startswith(f"mount -t ext4 -o defaults {bench.device} ")


def test_an_initiator_of_its_own_has_an_interface_of_its_own(tmp_path):
    bench = Bench(tmp_path)
    request = bench.mount(initiatorName="iqn.of.pod")
    iface = f"{PORTAL}:v"
    cloned = [line for line in bench.programs.ran if line.startswith(f"iscsiadm -m iface -I {iface}")]

    assert cloned == [
        f"iscsiadm -m iface -I {iface} -o new",
        f"iscsiadm -m iface -I {iface} -o update -n iface.transport_name -v tcp",
        f"iscsiadm -m iface -I {iface} -o update -n iface.initiatorname -v iqn.of.pod",
    ]
    assert bench.unmount(request)[-1] == f"iscsiadm -m iface -I {iface} -o delete"


def test_passwords_stand_in_records_and_on_no_command_line(tmp_path):
    secret = {
        "node.session.auth.username": "me",
        "node.session.auth.password": "hush",
        "discovery.sendtargets.auth.password": "psst",
    }
    bench = Bench(tmp_path, secret=secret)
    node, found = f"etc/iscsi/nodes/{IQN}/127.0.0.1,3260,1/default", "etc/iscsi/send_targets/127.0.0.1,3260/st_config"
    bench.programs.write(node, "# BEGIN RECORD\nnode.session.auth.password = old\n# END RECORD\n")
    bench.programs.write(found, "# BEGIN RECORD\n# END RECORD\n")

    bench.mount(chapAuthSession=True, chapAuthDiscovery=True, secretRef={"name": "s"})

    assert "hush" not in "\n".join(bench.programs.ran) + "".join(bench.programs.given)
    assert "psst" not in "\n".join(bench.programs.ran)
    assert (bench.root / node).read_text().splitlines() == [
        "# BEGIN RECORD", "node.session.auth.username = me", "node.session.auth.password = hush", "# END RECORD",
    ]  # fmt: skip
    assert "discovery.sendtargets.auth.password = psst" in (bench.root / found).read_text()
    assert (bench.root / node).stat().st_mode & 0o077 == 0
    assert f"iscsiadm -m node {NODE} -o update -n node.session.auth.authmethod -v CHAP" in bench.programs.ran
    assert not any("hush" in file.read_text() for file in bench.plugin_dir.rglob("*.json"))


def test_chap_without_a_secret_is_refused(tmp_path):
    with pytest.raises(VolumeFailed, match="CHAP is asked for, but the volume names no secret"):
        Bench(tmp_path).mount(chapAuthSession=True)


def test_several_paths_are_one_device(tmp_path):
    bench = Bench(tmp_path)
    bench.programs.write(f"sys/block/dm-2/slaves/{Path(bench.device).name}")

    bench.mount()

    assert f" {bench.root}/dev/dm-2 " in bench.programs.ran[-1]


def test_a_pod_sees_the_mounted_disk(tmp_path):
    bench = Bench(tmp_path)
    request = replace(TestContract().request(tmp_path / "pod"), device_mount_path="/global", read_only=True)

    bench.kind.setup(request)

    assert bench.programs.ran == [
        f"mount -o bind /global {tmp_path}/pod",
        f"mount -o bind,remount,ro /global {tmp_path}/pod",
    ]


def test_a_kubelet_that_starts_anew_knows_the_disk(tmp_path):
    bench = Bench(tmp_path)
    request = bench.mount()
    known = MountedVolume(name="v", pod_uid="u", path="", plugin_dir=str(bench.plugin_dir))

    found = bench.kind.construct_spec(known)

    assert bench.kind.device_mount_path(found, str(bench.plugin_dir)) == request.path
    with pytest.raises(VolumeFailed, match="no iscsi disk of volume w is known here"):
        bench.kind.construct_spec(replace(known, name="w"))


def test_a_device_is_given_as_it_is(tmp_path):
    bench = Bench(tmp_path)
    folder = bench.plugin_dir / "volumeDevices" / "v"
    request = replace(bench.request(), path=str(folder))

    assert bench.kind.map_device(request) == bench.device
    bench.programs.ran.clear()
    bench.kind.unmap_device(MountedVolume(name="v", pod_uid="u", path=str(folder)))

    assert bench.programs.ran == LOGOUT


@pytest.mark.parametrize(
    ("portals", "found"),
    [
        (["10.0.0.1"], ("10.0.0.1:3260",)),
        (["10.0.0.1:860", "10.0.0.1:860", "10.0.0.2"], ("10.0.0.1:860", "10.0.0.2:3260")),
        (["[2001:db8::1]"], ("[2001:db8::1]:3260",)),
        (["[2001:db8::1]:860"], ("[2001:db8::1]:860",)),
    ],
)
def test_portals_have_ports(portals, found):
    source = {"targetPortal": portals[0], "portals": portals[1:], "iqn": IQN}

    assert disk_of({"iscsi": source}, "v").portals == found
