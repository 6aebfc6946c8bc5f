"""emptyDir volumes."""

import os
from pathlib import Path
from typing import ClassVar

import pytest
from hyperkube_lib.volume_mount import FakePrograms, Finished, Mounter
from hyperkube_testing.node_contracts.volume import POD, VolumeContract
from hyperkube_volume.empty_dir import EmptyFolders

from hyperkube.hookspecs.volume import VolumeFailed


class TestContract(VolumeContract):
    volume: ClassVar = {"emptyDir": {}}

    def kind(self):
        return EmptyFolders()


class TestMountedContract(TestContract):
    volume: ClassVar = {"emptyDir": {"medium": "Memory"}}

    def kind(self):
        return EmptyFolders(mounter=Mounter(FakePrograms(), list), may_mount=True)


def memory(**more):
    return {"name": "v", "emptyDir": {"medium": "Memory", **more}}


def pod(**resources):
    return {**POD, "spec": {"containers": [{"name": "c", "resources": resources}]}}


def test_content_stays_while_the_pod_lives(tmp_path):
    kind, request = EmptyFolders(), TestContract().request(tmp_path / "v")
    Path(kind.setup(request), "file").write_text("kept")

    assert Path(kind.setup(request), "file").read_text() == "kept"


def test_what_a_file_system_in_memory_has_beside_the_rights_of_all_stays(tmp_path):
    class Tmpfs(Mounter):
        def mount(self, source, target, kind, options=()):
            Path(target).chmod(0o1777)

    kind, request = EmptyFolders(mounter=Tmpfs(FakePrograms(), list), may_mount=True), TestContract().request

    mounted = Path(kind.setup(request(tmp_path / "memory", memory())))
    plain = Path(kind.setup(request(tmp_path / "disk")))

    assert (mounted.stat().st_mode & 0o7777, plain.stat().st_mode & 0o7777) == (0o1777, 0o777)


def test_without_the_right_to_mount_it_lies_in_shared_memory_and_is_removed(tmp_path):
    shared = tmp_path / "shm"
    shared.mkdir()
    kind = EmptyFolders(shared, may_mount=False)
    request = TestContract().request(tmp_path / "v", memory())

    path = Path(kind.setup(request))
    again = Path(kind.setup(request))
    kind.teardown(TestContract().mounted(tmp_path / "v"))

    assert path == again
    assert path.parent == shared
    assert not path.exists()


@pytest.mark.parametrize(
    ("volume", "asking", "line"),
    [
        (memory(), POD, "mount -t tmpfs -o size=1073741824 tmpfs PATH"),
        (memory(sizeLimit="1Mi"), POD, "mount -t tmpfs -o size=1048576 tmpfs PATH"),
        (memory(sizeLimit="2Gi"), pod(limits={"memory": "64Mi"}), "mount -t tmpfs -o size=67108864 tmpfs PATH"),
        (
            {"name": "v", "emptyDir": {"medium": "HugePages"}}, pod(requests={"hugepages-2Mi": "4Mi"}),
            "mount -t hugetlbfs -o pagesize=2Mi nodev PATH",
        ),
        (
            {"name": "v", "emptyDir": {"medium": "HugePages-1Gi"}},
            pod(requests={"hugepages-2Mi": "4Mi", "hugepages-1Gi": "1Gi"}),
            "mount -t hugetlbfs -o pagesize=1Gi nodev PATH",
        ),
    ],
)  # fmt: skip
def test_media_are_mounted(tmp_path, volume, asking, line):
    programs = FakePrograms()
    request = TestContract().request(tmp_path / "v", volume, asking)

    EmptyFolders(mounter=Mounter(programs, list), may_mount=True).setup(request)

    assert programs.ran == [line.replace("PATH", request.path)]


@pytest.mark.parametrize(
    ("medium", "asking", "text"),
    [
        ("HugePages", POD, "medium HugePages: hugePages storage requested, but there is no resource request for huge"),
        (
            "HugePages", pod(requests={"hugepages-2Mi": "4Mi", "hugepages-1Gi": "1Gi"}),
            "medium: HugePages can't be used if container requests multiple huge page sizes",
        ),
        ("Paper", POD, 'unknown storage medium "Paper"'),
    ],
)  # fmt: skip
def test_media_that_cannot_be(tmp_path, medium, asking, text):
    request = TestContract().request(tmp_path / "v", {"name": "v", "emptyDir": {"medium": medium}}, asking)

    with pytest.raises(VolumeFailed, match=text):
        EmptyFolders(mounter=Mounter(FakePrograms(), list), may_mount=True).setup(request)


def test_a_refused_mount_is_told(tmp_path):
    told = []
    base = TestContract().request(tmp_path / "v", memory())
    refused = FakePrograms({"mount": Finished(32, "permission denied")})
    (tmp_path / "shm").mkdir()

    fields = {name: getattr(base, name) for name in base.__slots__}
    request = type(base)(**{**fields, "record_event": lambda *event: told.append(event)})
    EmptyFolders(tmp_path / "shm", Mounter(refused, list), may_mount=True).setup(request)

    assert told[0][:2] == ("Warning", "SizeLimitNotEnforced")
    assert "exit status 32" in told[0][2]


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_a_limit_in_memory_is_the_file_systems(tmp_path):
    kind = EmptyFolders()
    base = TestContract()
    path = kind.setup(base.request(tmp_path / "v", memory(sizeLimit="1Mi")))
    try:
        size = os.statvfs(path)
        was_mounted = os.path.ismount(path)
    finally:
        kind.teardown(base.mounted(tmp_path / "v"))

    assert not was_mounted or size.f_blocks * size.f_frsize == 1 << 20
    assert not (tmp_path / "v").exists()
