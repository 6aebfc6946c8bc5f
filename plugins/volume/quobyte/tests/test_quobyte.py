"""quobyte volumes: the command lines of kubernetes ``pkg/volume/quobyte``, and what failures leave behind."""

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from hyperkube_lib.volume_mount import FakePrograms, Finished, HostPrograms, Mount, Mounter
from hyperkube_testing.node_contracts.volume import PersistentVolumeContract, VolumeContract
from hyperkube_volume.quobyte import QuobyteVolumes

from hyperkube.hookspecs.volume import VolumeFailed

SOURCE = {"registry": "reg1:7861,reg2:7861", "volume": "vol"}
REGISTRY = "mount -t quobyte -o allow-usermapping-in-volumename reg1:7861,reg2:7861/ {plugin}"


class Table:
    """Programs, and the mounts that they made."""

    def __init__(self, answers=None):
        self.programs = FakePrograms(answers)

    def mounts(self):
        lines = [line.split(" ") for line in self.programs.ran if line.startswith("mount ")]
        gone = [line.split(" ")[-1] for line in self.programs.ran if line.startswith("umount ")]
        paths = dict.fromkeys(words[-1] for words in lines if words[-1] not in gone)
        return [Mount(path=path, root="/", device="0:9", type="fuse", source="q", options=()) for path in paths]

    def kind(self):
        return QuobyteVolumes(Mounter(self.programs, table=self.mounts))


class TestContract(VolumeContract, PersistentVolumeContract):
    volume: ClassVar = {"quobyte": SOURCE}
    persistent_volume: ClassVar = {"metadata": {"name": "pv"}, "spec": {"quobyte": SOURCE}}

    def kind(self):
        return Table().kind()


def request(folder, source=SOURCE, **more):
    return replace(TestContract().request(folder / "v", {"name": "v", "quobyte": source}), **more)


@pytest.mark.parametrize(
    ("source", "read_only", "lines"),
    [
        (SOURCE, False, ["mount -o bind {plugin}/root#nfsnobody@vol {path}"]),
        ({**SOURCE, "user": "u", "group": "g"}, False, ["mount -o bind {plugin}/u#g@vol {path}"]),
        ({**SOURCE, "tenant": "t", "user": "u"}, False, ["mount -o bind {plugin}/u#nfsnobody@vol {path}"]),
        (
            {**SOURCE, "readOnly": True},
            False,
            ["mount -o bind {plugin}/root#nfsnobody@vol {path}", "mount -o bind,remount,ro {plugin}/root#nfsnobody@vol {path}"],
        ),
        (
            SOURCE,
            True,
            ["mount -o bind {plugin}/root#nfsnobody@vol {path}", "mount -o bind,remount,ro {plugin}/root#nfsnobody@vol {path}"],
        ),
        ({**SOURCE, "registry": "reg1:7861,reg2:7861/"}, False, ["mount -o bind {plugin}/root#nfsnobody@vol {path}"]),
    ],
    ids=["plain", "user and group", "tenant", "source read-only", "mounts read-only", "registry with a slash"],
)  # fmt: skip
def test_what_is_mounted(tmp_path, source, read_only, lines):
    table, wanted = Table(), request(tmp_path, source, read_only=read_only)

    path = table.kind().setup(wanted)

    assert path == str(tmp_path / "v")
    assert table.programs.ran == [line.format(plugin=wanted.plugin_dir, path=path) for line in [REGISTRY, *lines]]


def test_the_registry_is_mounted_once_for_all_pods_and_stays(tmp_path):
    table = Table()
    kind = table.kind()
    first, second = request(tmp_path / "a"), request(tmp_path / "b", {**SOURCE, "volume": "other"})
    second = replace(second, plugin_dir=first.plugin_dir)

    kind.setup(first)
    kind.setup(second)
    kind.teardown(TestContract().mounted(tmp_path / "a" / "v"))

    assert table.programs.ran[2:] == [
        f"mount -o bind {first.plugin_dir}/root#nfsnobody@other {tmp_path}/b/v",
        f"umount {tmp_path}/a/v",
    ]
    assert not (tmp_path / "a" / "v").exists()


def test_a_persistent_volume_brings_options(tmp_path):
    table = Table()
    volume = {"name": "pv", "quobyte": SOURCE, "mountOptions": ["user_xattr"]}
    wanted = replace(request(tmp_path), volume=volume, persistent_volume={"metadata": {"name": "pv"}, "spec": volume})

    table.kind().setup(wanted)

    assert table.programs.ran[0].startswith("mount -t quobyte -o user_xattr,allow-usermapping-in-volumename reg1:")


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"volume": "v/../../../../etc"}, "without '/'"),
        ({"user": "../x"}, "without '/'"),
        ({"group": "a/b"}, "without '/'"),
        ({"volume": ""}, "must be the name of one"),
        ({"registry": "-obind:1"}, "must be a host:port pair"),
        ({"registry": ""}, "must be a host:port pair"),
    ],
    ids=["volume", "user", "group", "no volume", "an option", "no registry"],
)
def test_a_volume_does_not_lead_out_of_the_mount(tmp_path, more, text):
    table = Table()

    with pytest.raises(VolumeFailed, match=text):
        table.kind().setup(request(tmp_path, {**SOURCE, **more}))

    assert table.programs.ran == []


@pytest.mark.parametrize(
    ("fails", "text"),
    [
        ("mount -t quobyte", r"quobyte: mount failed: mount failed: exit status 32(.|\n)*no registry"),
        ("mount -o bind", r"mount failed: exit status 32(.|\n)*no registry"),
    ],
    ids=["registry", "volume"],
)
def test_a_mount_that_fails_is_told_in_its_own_words(tmp_path, fails, text):
    programs = FakePrograms({fails: Finished(32, "no registry")})

    with pytest.raises(VolumeFailed, match=text):
        QuobyteVolumes(Mounter(programs, table=list)).setup(request(tmp_path))

    assert not list((tmp_path / "v").glob("*"))


def test_the_program_is_found_in_the_path(tmp_path):
    log, program = tmp_path / "log", tmp_path / "bin" / "mount"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {log}\n')
    program.chmod(0o755)
    programs = HostPrograms(environment={"PATH": str(program.parent)})
    wanted = request(tmp_path)

    QuobyteVolumes(Mounter(programs, table=list)).setup(wanted)

    assert log.read_text().splitlines() == [
        REGISTRY.format(plugin=wanted.plugin_dir).removeprefix("mount "),
        f"-o bind {wanted.plugin_dir}/root#nfsnobody@vol {wanted.path}",
    ]


def test_files_stay_with_the_user_as_whom_the_volume_is_seen():
    kind, spec = Table().kind(), TestContract().spec()

    assert not kind.gives_to_group(spec)


def test_what_could_not_be_unmounted_stays(tmp_path):
    data = tmp_path / "v" / "precious"
    kind = QuobyteVolumes(Mounter(FakePrograms(), table=list))
    kind.setup(request(tmp_path))
    data.touch()

    with pytest.raises(VolumeFailed, match="directory not empty"):
        kind.teardown(TestContract().mounted(tmp_path / "v"))

    assert Path(data).exists()
