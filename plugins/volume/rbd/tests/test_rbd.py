"""rbd volumes: the command lines of kubernetes ``pkg/volume/rbd/rbd_util.go``, and what failures leave behind."""

import base64
import re
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from hyperkube_lib.volume_mount import FakePrograms, Finished, HostPrograms, Mount, Mounter
from hyperkube_testing.node_contracts.volume import PersistentVolumeContract, VolumeContract
from hyperkube_volume.rbd.mapper import Mapper
from hyperkube_volume.rbd.plugin import RbdVolumes

from hyperkube.hookspecs.volume import MountedVolume, VolumeFailed, VolumeSpec

SOURCE = {"monitors": ["10.0.0.1", "10.0.0.2:6789"], "image": "foo", "fsType": "ext4"}
KEY = "AQBAMo1VqE1OMhAAVpERPcyQU5pzU6IOJ22x1w=="
CLIENT = "--id admin -m 10.0.0.1,10.0.0.2:6789 -k /etc/ceph/keyring"
STATUS = f"rbd status foo --pool rbd {CLIENT}"
MAP = f"rbd map rbd/foo {CLIENT}"
WATCHED = Finished(0, "Watchers:\n\twatcher=10.16.153.105:0/710245699 client.14163 cookie=1\n")


class Ceph(FakePrograms):
    """Programs of a node below `root`, where mapping an image makes its device, and unmapping removes it."""

    def __init__(self, root, answers=None):
        super().__init__({"rbd status": Finished(0, "Watchers: none\n"), **(answers or {})})
        self.root, self.keys, self.files = root, [], []

    def run(self, arguments, given=""):
        done = super().run(arguments, given)
        if "--keyfile" in arguments:
            file = Path(arguments[arguments.index("--keyfile") + 1])
            self.files.append(file)
            self.keys.append((file.read_text(), file.stat().st_mode & 0o077))
        if arguments[:2] == ["rbd", "map"] and not done.code:
            self.device(*arguments[2].split("/"))
        if arguments[:2] == ["rbd", "unmap"] and not done.code:
            number = arguments[2].rpartition("/dev/rbd")[2]
            (self.root / f"sys/bus/rbd/devices/{number}/name").unlink()
        return done

    def device(self, pool, image, number=None):
        taken = len(list(self.root.glob("sys/bus/rbd/devices/*")))
        folder = self.root / f"sys/bus/rbd/devices/{taken if number is None else number}"
        folder.mkdir(parents=True)
        (folder / "pool").write_text(f"{pool}\n")
        (folder / "name").write_text(f"{image}\n")
        (self.root / "dev").mkdir(exist_ok=True)
        (self.root / f"dev/rbd{folder.name}").touch()


class Bench:
    """The kind on a node."""

    def __init__(self, folder, answers=None, data=None):
        self.root, self.plugin_dir = folder / "root", folder / "plugins"
        self.programs = Ceph(self.root, answers)
        self.mounts, self.slept, self.asked = [], [], []
        self.kind = self.using(self.programs)
        self.data = {name: base64.b64encode(value.encode()).decode() for name, value in (data or {}).items()}

    def using(self, programs):
        mapper = Mapper(programs, self.slept.append, self.root)
        return RbdVolumes(Mounter(programs, table=lambda: self.mounts), mapper)

    def secret(self, namespace, name):
        self.asked.append(f"{namespace}/{name}")
        return {"data": self.data}

    def request(self, name="v", *, spec=None, **source):
        spec = spec or VolumeSpec(volume={"name": name, "rbd": {**SOURCE, **source}})
        path = self.kind.device_mount_path(spec, str(self.plugin_dir))
        request = TestContract().device_request(self.plugin_dir)
        return replace(request, spec=spec, path=path, plugin_dir=str(self.plugin_dir), get_secret=self.secret)

    def mount(self, name="v", **source):
        request = self.request(name, **source)
        self.kind.mount_device(request)
        self.mounts.append(Mount(path=request.path, root="/", device="252:0", type="ext4", source="d", options=()))
        return request

    def records(self):
        return [str(file.relative_to(self.plugin_dir)) for file in self.plugin_dir.rglob("*.json")]


class TestContract(VolumeContract, PersistentVolumeContract):
    volume: ClassVar = {"rbd": SOURCE}
    persistent_volume: ClassVar = {"metadata": {"name": "pv"}, "spec": {"rbd": SOURCE}}

    def kind(self):
        return Bench(Path("/nowhere")).kind


def test_an_image_is_mapped_and_mounted_once(tmp_path):
    bench = Bench(tmp_path)

    request = bench.mount()
    lines = list(bench.programs.ran)
    bench.kind.mount_device(request)

    device = f"{bench.root}/dev/rbd0"
    assert request.path == f"{bench.plugin_dir}/mounts/rbd-image-foo"
    assert lines[:3] == [STATUS, "modprobe rbd", MAP]
    assert lines[-1] == f"mount -t ext4 -o defaults {device} {request.path}"
    assert bench.programs.ran == lines
    assert bench.records() == ["mounts/rbd-image-foo.json"]


@pytest.mark.parametrize(
    ("source", "status", "mapped"),
    [
        ({}, STATUS, MAP),
        (
            {"pool": "p", "user": "web", "keyring": "/k", "monitors": ["m"]},
            "rbd status foo --pool p --id web -m m -k /k",
            "rbd map p/foo --id web -m m -k /k",
        ),
    ],
    ids=["defaults", "all of its own"],
)
def test_command_lines(tmp_path, source, status, mapped):
    bench = Bench(tmp_path)

    bench.mount(**source)

    assert bench.programs.ran[:3] == [status, "modprobe rbd", mapped]


@pytest.mark.parametrize(
    ("modes", "is_asked"),
    [(["ReadOnlyMany"], False), (["ReadWriteOnce"], True), (["ReadOnlyMany", "ReadWriteOnce"], True)],
)
def test_only_images_that_none_writes_to_are_not_asked_for_watchers(tmp_path, modes, is_asked):
    bench = Bench(tmp_path)
    volume = {"name": "pv", "rbd": SOURCE, "accessModes": modes, "mountOptions": ["noatime"]}
    spec = VolumeSpec(volume=volume, persistent_volume={"metadata": {"name": "pv"}, "spec": volume})

    bench.kind.mount_device(bench.request(spec=spec))

    assert (STATUS in bench.programs.ran) is is_asked
    assert " -o noatime,defaults " in bench.programs.ran[-1]


def test_an_image_that_is_mapped_is_used_and_not_that_of_another_pool(tmp_path):
    bench = Bench(tmp_path)
    bench.programs.device("other", "foo")
    bench.programs.device("rbd", "foo", 7)

    bench.mount()

    assert not any(line.startswith("rbd ") for line in bench.programs.ran)
    assert f" {bench.root}/dev/rbd7 " in bench.programs.ran[-1]


def test_a_volumes_name_tells_the_pools_apart():
    kind = TestContract().kind()
    names = [kind.volume_name(VolumeSpec(volume={"rbd": {**SOURCE, "pool": pool}})) for pool in ("a", "b")]

    assert names == ["[10.0.0.1 10.0.0.2:6789]:a/foo", "[10.0.0.1 10.0.0.2:6789]:b/foo"]


@pytest.mark.parametrize(
    ("reference", "asked"),
    [({"name": "s"}, ["ns/s"]), ({"name": "s", "namespace": "other"}, ["other/s"])],
    ids=["the pod's namespace", "another"],
)
def test_the_key_is_in_a_file_while_it_is_mapped(tmp_path, reference, asked):
    bench = Bench(tmp_path, data={"key": f"{KEY}\n", "other": "x"})

    bench.mount(secretRef=reference)

    line = re.compile(r"rbd map rbd/foo --id admin -m 10\.0\.0\.1,10\.0\.0\.2:6789 --keyfile \S+/secret")
    assert bench.asked == asked
    assert any(line.fullmatch(each) for each in bench.programs.ran)
    assert bench.programs.keys == [(KEY, 0), (KEY, 0)]
    assert not any(file.exists() for file in bench.programs.files)
    assert KEY not in "".join(bench.programs.ran)
    assert not any(KEY in file.read_text() for file in bench.plugin_dir.rglob("*.json"))


def test_an_image_that_another_node_watches_is_waited_for(tmp_path):
    bench = Bench(tmp_path, {"rbd status": WATCHED})

    with pytest.raises(VolumeFailed, match=r"^rbd image rbd/foo is still being used$"):
        bench.mount()

    assert [line.split()[1] for line in bench.programs.ran] == ["status"] * 10
    assert bench.slept == pytest.approx([1.4**step for step in range(9)])
    assert bench.records() == []


@pytest.mark.parametrize(
    ("answers", "text"),
    [
        (
            {"rbd status": Finished(2, "(2) No such file or directory")},
            "fail to check rbd image status with: (exit status 2), rbd output: ((2) No such file or directory)",
        ),
        (
            {"rbd map": Finished(6, "sysfs write failed")},
            "rbd: map failed exit status 6, rbd output: sysfs write failed",
        ),
    ],
    ids=["status", "map"],
)
def test_what_ceph_refuses_is_told_and_leaves_nothing(tmp_path, answers, text):
    bench = Bench(tmp_path, answers)

    with pytest.raises(VolumeFailed, match=f"^{re.escape(text)}$"):
        bench.mount()

    assert bench.records() == []


def test_a_device_that_does_not_come_is_waited_for(tmp_path):
    bench = Bench(tmp_path)
    bench.programs.device = lambda _pool, _image: None

    with pytest.raises(VolumeFailed, match=r"^Could not map image rbd/foo, Timeout after 10s$"):
        bench.mount()

    assert bench.slept == [1.0] * 9


def test_a_failed_mount_unmaps(tmp_path):
    bench = Bench(tmp_path, {"mount": Finished(32, "wrong fs type")})

    with pytest.raises(VolumeFailed) as caught:
        bench.mount()

    device = f"{bench.root}/dev/rbd0"
    folder = f"{bench.plugin_dir}/mounts/rbd-image-foo"
    assert str(caught.value).startswith(f"rbd: failed to mount device {device} at {folder} (fstype: ext4), error ")
    assert bench.programs.ran[-1] == f"rbd unmap {device}"
    assert (bench.records(), Path(folder).exists()) == ([], False)


def test_an_unmounted_image_is_unmapped_whatever_its_device_is_by_then(tmp_path):
    bench = Bench(tmp_path)
    request = bench.mount()
    (bench.root / "sys/bus/rbd/devices/0").rename(bench.root / "sys/bus/rbd/devices/4")
    (bench.root / "dev/rbd0").rename(bench.root / "dev/rbd4")
    bench.mounts.clear()
    bench.programs.ran.clear()

    bench.kind.unmount_device(request.path)
    bench.kind.unmount_device(request.path)

    assert bench.programs.ran == [f"rbd unmap {bench.root}/dev/rbd4"]
    assert (bench.records(), Path(request.path).exists()) == ([], False)


def test_a_device_that_is_busy_is_unmapped_later(tmp_path):
    bench = Bench(tmp_path, {"rbd unmap": Finished(16, "(16) Device or resource busy")})
    request = bench.mount()
    bench.mounts.clear()

    with pytest.raises(VolumeFailed, match=r"failed to unmap device \S+/dev/rbd0, error exit status 16, rbd output: "):
        bench.kind.unmount_device(request.path)
    bench.programs.answers.pop("rbd unmap")
    bench.kind.unmount_device(request.path)

    assert bench.programs.ran[-2:] == [f"rbd unmap {bench.root}/dev/rbd0"] * 2
    assert bench.records() == []


def test_a_disk_is_mounted_with_the_label_of_its_pod(tmp_path):
    bench = Bench(tmp_path)
    request = replace(bench.request(readOnly=True), selinux_label="u:object_r:t:s0:c1,c2")
    bench.programs.answers["blkid"] = Finished(0, "TYPE=ext4\n")

    bench.kind.mount_device(request)

    assert ' -o ro,context="u:object_r:t:s0:c1,c2",defaults ' in bench.programs.ran[-1]
    assert bench.kind.supports_selinux_context_mount(request.spec)


def test_a_pod_sees_the_mounted_disk(tmp_path):
    bench = Bench(tmp_path)
    request = replace(TestContract().request(tmp_path / "pod"), device_mount_path="/global", read_only=True)

    bench.kind.setup(request)

    assert bench.programs.ran == [
        f"mount -o bind /global {tmp_path}/pod",
        f"mount -o bind,remount,ro /global {tmp_path}/pod",
    ]


def test_a_device_is_given_as_it_is(tmp_path):
    bench = Bench(tmp_path)
    folder = bench.plugin_dir / "volumeDevices" / "v"

    assert bench.kind.map_device(replace(bench.request(), path=str(folder))) == f"{bench.root}/dev/rbd0"
    assert bench.records() == ["volumeDevices/v.json"]
    bench.kind.unmap_device(MountedVolume(name="v", pod_uid="u", path=str(folder)))

    assert bench.programs.ran[-1] == f"rbd unmap {bench.root}/dev/rbd0"
    assert bench.records() == []


def test_a_kubelet_that_starts_anew_knows_the_image_and_reads_no_pods_files(tmp_path):
    bench = Bench(tmp_path)
    request = bench.mount(pool="p", user="web")
    Path(request.path, "w.json").write_text('{"name": "w", "pool": "p", "image": "i", "monitors": ["m"]}')
    known = MountedVolume(name="v", pod_uid="u", path="", plugin_dir=str(bench.plugin_dir))

    found = bench.kind.construct_spec(known)

    assert bench.kind.device_mount_path(found, str(bench.plugin_dir)) == request.path
    assert bench.kind.volume_name(found) == bench.kind.volume_name(request.spec)
    with pytest.raises(VolumeFailed, match="no rbd image of volume w is known here"):
        bench.kind.construct_spec(replace(known, name="w"))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ({"monitors": []}, "names no monitors, or no image"),
        ({"image": ""}, "names no monitors, or no image"),
        ({"pool": "--keyfile=/etc/shadow"}, "must not begin with a dash"),
        ({"image": "--pool"}, "must not begin with a dash"),
    ],
    ids=["no monitors", "no image", "a pool that is an option", "an image that is one"],
)
def test_what_is_refused(source, text):
    with pytest.raises(VolumeFailed, match=text):
        TestContract().kind().volume_name(VolumeSpec(volume={"name": "v", "rbd": {**SOURCE, **source}}))


def test_an_image_cannot_lead_out_of_its_folder():
    spec = VolumeSpec(volume={"name": "v", "rbd": {**SOURCE, "image": "../../x"}})

    assert TestContract().kind().device_mount_path(spec, "/p") == "/p/mounts/rbd-image-..~..~x"


def test_programs_in_a_path_of_the_tests_own(tmp_path):
    bench = Bench(tmp_path, data={"key": KEY})
    folder = tmp_path / "bin"
    folder.mkdir()
    (bench.root / "dev").mkdir(parents=True)
    device = f"{bench.root}/sys/bus/rbd/devices/0"
    rbd = (
        f'case "$1" in\n'
        f'map) read -r key < "$8"; echo "$key" > {tmp_path}/key; /bin/mkdir -p {device}; echo rbd > {device}/pool\n'
        f"     echo foo > {device}/name; : > {bench.root}/dev/rbd0;;\n"
        "status) echo Watchers: none;;\n"
        "esac\n"
    )
    blkid = "exit 2\n"
    for name, body in {"rbd": rbd, "blkid": blkid, "modprobe": "exit 1\n", "mkfs.ext4": "", "mount": ""}.items():
        (folder / name).write_text(f'#!/bin/sh\necho "{name} $*" >> {tmp_path}/lines\n{body}')
        (folder / name).chmod(0o755)
    bench.kind = bench.using(HostPrograms(environment={"PATH": str(folder)}))

    bench.mount(secretRef={"name": "s"})

    lines = (tmp_path / "lines").read_text()
    assert [line.split()[0] for line in lines.splitlines()] == ["rbd", "modprobe", "rbd", "blkid", "mkfs.ext4", "mount"]
    assert KEY not in lines
    assert (tmp_path / "key").read_text() == f"{KEY}\n"
