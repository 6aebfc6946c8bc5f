"""cephfs volumes: the command lines of kubernetes ``pkg/volume/cephfs/cephfs.go``, where keys go, and what fails."""

import base64
import re
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from hyperkube_lib.volume_mount import FakePrograms, Finished, HostPrograms, Mounter
from hyperkube_testing.node_contracts.volume import PersistentVolumeContract, VolumeContract
from hyperkube_volume.cephfs import CephfsVolumes

from hyperkube.hookspecs.volume import VolumeFailed

SOURCE = {"monitors": ["10.0.0.1:6789", "10.0.0.2:6789"]}
FROM = "10.0.0.1:6789,10.0.0.2:6789:/"
KEY = "AQBAMo1VqE1OMhAAVpERPcyQU5pzU6IOJ22x1w=="
STARTED = {"ceph-fuse": Finished(0, "ceph-fuse[1]: starting ceph client\nceph-fuse[1]: starting fuse\n")}


class Programs(FakePrograms):
    """Programs that read the file of the key they are given."""

    def __init__(self, answers=None):
        super().__init__(answers)
        self.read, self.modes, self.files = [], [], []

    def run(self, arguments, given=""):
        done = super().run(arguments, given)
        for found in re.findall(r"(?:secretfile=|-k )([^, ]+/secret)\b", " ".join(arguments)):
            self.files.append(Path(found))
            self.read.append(Path(found).read_text())
            self.modes.append(Path(found).stat().st_mode & 0o077)
        return done


class Bench:
    """The kind on a node, with FUSE or without."""

    def __init__(self, folder, answers=None, *, fuse=False):
        self.programs, self.path = Programs(answers), folder / "v"
        helper = folder / "sbin/mount.fuse.ceph"
        helper.parent.mkdir(exist_ok=True)
        if fuse:
            helper.touch(mode=0o755)
        self.kind = CephfsVolumes(Mounter(self.programs, table=list), folder)

    def mount(self, data=None, **more):
        source = {**SOURCE, **more}
        request = TestContract().request(self.path, {"name": "v", "cephfs": source})
        members = {name: base64.b64encode(value.encode()).decode() for name, value in (data or {}).items()}
        asked = []

        def get_secret(namespace, name):
            asked.append(f"{namespace}/{name}")
            return {"data": members}

        self.kind.setup(replace(request, get_secret=get_secret))
        return asked


class TestContract(VolumeContract, PersistentVolumeContract):
    volume: ClassVar = {"cephfs": SOURCE}
    persistent_volume: ClassVar = {"metadata": {"name": "pv"}, "spec": {"cephfs": SOURCE}}

    def kind(self):
        return CephfsVolumes(Mounter(FakePrograms(), table=list), Path("/nowhere"))


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({}, f"-o name=admin,secretfile=/etc/ceph/admin.secret {FROM}"),
        ({"readOnly": True}, f"-o ro,name=admin,secretfile=/etc/ceph/admin.secret {FROM}"),
        ({"user": "web"}, f"-o name=web,secretfile=/etc/ceph/web.secret {FROM}"),
        ({"secretFile": "/etc/k"}, f"-o name=admin,secretfile=/etc/k {FROM}"),
        ({"path": "some/path"}, f"-o name=admin,secretfile=/etc/ceph/admin.secret {FROM}some/path"),
        ({"path": "/some/path"}, f"-o name=admin,secretfile=/etc/ceph/admin.secret {FROM}some/path"),
    ],
    ids=["as it is", "read-only", "user", "file", "relative path", "path"],
)
def test_what_the_kernel_mounts(tmp_path, more, line):
    bench = Bench(tmp_path)

    bench.mount(**more)

    assert bench.programs.ran == [f"mount -t ceph {line} {bench.path}"]


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({}, "-k /etc/ceph/admin.secret -m 10.0.0.1:6789,10.0.0.2:6789 {} -r / --id admin"),
        (
            {"readOnly": True, "path": "p", "user": "web"},
            "-k /etc/ceph/web.secret -m 10.0.0.1:6789,10.0.0.2:6789 {} -r /p --id web -o ro",
        ),
    ],
    ids=["as it is", "read-only"],
)
def test_what_fuse_mounts_where_it_is_installed(tmp_path, more, line):
    bench = Bench(tmp_path, STARTED, fuse=True)

    bench.mount(**more)

    assert bench.programs.ran == [f"ceph-fuse {line.format(bench.path)}"]


@pytest.mark.parametrize("answer", [Finished(1, "no fuse"), Finished(0, "")], ids=["fails", "does not start"])
def test_the_kernel_mounts_what_fuse_does_not(tmp_path, answer):
    bench = Bench(tmp_path, {"ceph-fuse": answer}, fuse=True)

    bench.mount()

    assert [line.split()[0] for line in bench.programs.ran] == ["ceph-fuse", "mount"]


def test_a_persistent_volume_brings_options(tmp_path):
    bench = Bench(tmp_path)
    volume = {"name": "pv", "cephfs": SOURCE, "mountOptions": ["noatime"]}
    request = TestContract().request(bench.path, volume)

    bench.kind.setup(replace(request, persistent_volume={"metadata": {"name": "pv"}, "spec": volume}))

    assert bench.programs.ran == [
        f"mount -t ceph -o name=admin,secretfile=/etc/ceph/admin.secret,noatime {FROM} {bench.path}"
    ]


@pytest.mark.parametrize(
    ("reference", "asked"),
    [({"name": "s"}, ["ns/s"]), ({"name": "s", "namespace": "other"}, ["other/s"])],
    ids=["the pod's namespace", "another"],
)
def test_the_key_is_in_a_file_while_it_is_mounted(tmp_path, reference, asked):
    bench = Bench(tmp_path)

    assert bench.mount({"key": f"{KEY}\n", "other": "x"}, secretRef=reference) == asked
    assert bench.programs.read == [KEY]
    assert bench.programs.modes == [0]
    assert not any(file.exists() for file in bench.programs.files)
    assert KEY not in "".join(bench.programs.ran)


def test_fuse_gets_a_keyring(tmp_path):
    bench = Bench(tmp_path, STARTED, fuse=True)

    bench.mount({"anything": KEY}, secretRef={"name": "s"}, user="web")

    assert bench.programs.read == [f"[client.web]\nkey = {KEY}\n"]
    assert bench.programs.modes == [0]
    assert not any(file.exists() for file in bench.programs.files)
    assert KEY not in "".join(bench.programs.ran)


def test_what_fails_is_told_without_the_key_and_leaves_nothing(tmp_path):
    bench = Bench(tmp_path, {"mount": Finished(22, "mount error 22"), "ceph-fuse": Finished(1, "nope")}, fuse=True)

    with pytest.raises(VolumeFailed) as caught:
        bench.mount({"key": KEY}, secretRef={"name": "s"})

    told = str(caught.value)
    assert told.startswith("Ceph-fuse failed: exit status 1\narguments: [-k ")
    assert "CephFS: mount failed: mount failed: exit status 22" in told
    assert "Output: mount error 22" in told
    assert KEY not in told
    assert not bench.path.exists()
    assert not any(file.exists() for file in bench.programs.files)


@pytest.mark.parametrize(
    ("data", "more", "text"),
    [
        ({}, {"secretRef": {"name": "s"}}, "secret ns/s: empty secret map"),
        ({"key": "schlüssel"}, {"secretRef": {"name": "s"}}, "secret ns/s: what it holds is no key"),
        (None, {"monitors": []}, "cephfs: the volume names no monitors"),
        (None, {"user": "me,suid"}, "cephfs: user 'me,suid' must have no comma and be one line"),
        (None, {"secretFile": "/k,dev"}, "cephfs: secretFile '/k,dev' must have no comma and be one line"),
    ],
    ids=["empty secret", "no key", "no monitors", "options in the user", "options in the file"],
)
def test_what_is_refused(tmp_path, data, more, text):
    bench = Bench(tmp_path)

    with pytest.raises(VolumeFailed, match=f"^{re.escape(text)}$"):
        bench.mount(data, **more)

    assert bench.programs.ran == []


def test_a_secret_that_is_not_there_is_named(tmp_path):
    request = TestContract().request(tmp_path / "v", {"name": "v", "cephfs": {**SOURCE, "secretRef": {"name": "s"}}})

    with pytest.raises(VolumeFailed, match=r'couldn\'t get secret ns/s err: secrets "s" not found'):
        Bench(tmp_path).kind.setup(request)


def test_programs_in_a_path_of_the_tests_own(tmp_path):
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/mount"
    program.write_text(
        "#!/bin/sh\n"
        f'echo "mount $*" > {tmp_path}/line\n'
        'file="${4#*secretfile=}"\n'
        f'read -r key < "$file"; echo "$key" > {tmp_path}/key\n'
    )
    program.chmod(0o755)
    bench = Bench(tmp_path)
    bench.kind = CephfsVolumes(Mounter(HostPrograms(environment={"PATH": str(tmp_path / "bin")}), table=list), tmp_path)

    bench.mount({"key": f"{KEY}\n"}, secretRef={"name": "s"})

    line = (tmp_path / "line").read_text()
    assert re.fullmatch(rf"mount -t ceph -o name=admin,secretfile=\S+/secret {re.escape(FROM)} {bench.path}\n", line)
    assert KEY not in line
    assert (tmp_path / "key").read_text() == f"{KEY}\n"
