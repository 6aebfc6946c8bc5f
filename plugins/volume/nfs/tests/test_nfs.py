"""nfs volumes: the command lines of kubernetes ``pkg/volume/nfs/nfs_test.go``, and what failures leave behind."""

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from hyperkube_lib.volume_mount import FakePrograms, Finished, Mounter
from hyperkube_testing.node_contracts.volume import PersistentVolumeContract, VolumeContract
from hyperkube_volume.nfs import NfsVolumes

from hyperkube.hookspecs.volume import VolumeFailed

SOURCE = {"server": "nfs.example", "path": "/srv/data"}


def volumes(programs):
    return NfsVolumes(Mounter(programs, table=list))


class TestContract(VolumeContract, PersistentVolumeContract):
    volume: ClassVar = {"nfs": SOURCE}
    persistent_volume: ClassVar = {"metadata": {"name": "pv"}, "spec": {"nfs": SOURCE}}

    def kind(self):
        return volumes(FakePrograms())


def request(folder, source=SOURCE, **more):
    return replace(TestContract().request(folder, {"name": "v", "nfs": source}), **more)


@pytest.mark.parametrize(
    ("source", "read_only", "line"),
    [
        (SOURCE, False, "mount -t nfs nfs.example:/srv/data {}"),
        ({**SOURCE, "readOnly": True}, False, "mount -t nfs -o ro nfs.example:/srv/data {}"),
        (SOURCE, True, "mount -t nfs -o ro nfs.example:/srv/data {}"),
        ({**SOURCE, "server": "2001:db8::7"}, False, "mount -t nfs [2001:db8::7]:/srv/data {}"),
        ({**SOURCE, "server": "[2001:db8::7]"}, False, "mount -t nfs [2001:db8::7]:/srv/data {}"),
    ],
    ids=["writable", "source read-only", "mounts read-only", "IPv6", "IPv6 in brackets"],
)
def test_what_is_mounted(tmp_path, source, read_only, line):
    programs = FakePrograms()

    path = volumes(programs).setup(request(tmp_path / "v", source, read_only=read_only))

    assert path == str(tmp_path / "v")
    assert programs.ran == [line.format(path)]


def test_a_persistent_volume_brings_options(tmp_path):
    programs = FakePrograms()
    volume = {"name": "pv", "nfs": SOURCE, "mountOptions": ["nfsvers=4.1", "hard"]}
    wanted = replace(
        request(tmp_path / "v"), volume=volume, persistent_volume={"metadata": {"name": "pv"}, "spec": volume}
    )

    volumes(programs).setup(wanted)

    assert programs.ran == [f"mount -t nfs -o nfsvers=4.1,hard nfs.example:/srv/data {tmp_path / 'v'}"]


def test_a_mount_that_fails_is_told_in_its_own_words_and_leaves_nothing(tmp_path):
    programs = FakePrograms({"mount": Finished(32, "mount.nfs: access denied by server")})

    with pytest.raises(VolumeFailed, match=r"exit status 32(.|\n)*access denied by server"):
        volumes(programs).setup(request(tmp_path / "v"))

    assert not (tmp_path / "v").exists()


def test_what_is_on_the_server_stays(tmp_path):
    data = tmp_path / "v" / "precious"
    kind = volumes(FakePrograms())
    kind.setup(request(tmp_path / "v"))
    data.touch()  # as if the export could not be unmounted

    with pytest.raises(VolumeFailed, match="directory not empty"):
        kind.teardown(TestContract().mounted(tmp_path / "v"))

    assert Path(data).exists()
