"""Parts of volumes, as mounts of the kubelet's own. What mounts is asked of the kernel in a mount namespace."""

import ctypes
import os
import threading
from pathlib import Path

import pytest
from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.volumemanager.actual_state import ActualStateOfWorld
from hyperkube_host.kubelet.volumemanager.sub_paths import SimulatedSubPaths, SubPath, SubPathFailed, SubPathMounts
from hyperkube_lib.volume_mount import mount_table, mounts_below
from hyperkube_lib.volume_mount.beneath import bind, unbind

ROUNDS = 1_000


def may_mount(folder):
    """Tell whether this process may make bind mounts."""
    descriptor = os.open(folder, os.O_PATH)
    try:
        bind(descriptor, str(folder))
    except OSError:
        return False
    finally:
        os.close(descriptor)
    unbind(str(folder))
    return True


@pytest.fixture
def volume(tmp_path):
    volume, outside = tmp_path / "volume", tmp_path / "outside"
    volume.mkdir()
    volume.chmod(0o777)
    outside.mkdir()
    (outside / "secret").write_text("the node's")
    return volume


def part(volume, path, index=0):
    return SubPath(pod_uid="u", container="c", index=index, volume="v", root=str(volume), path=path)


@pytest.fixture
def directories(tmp_path):
    return KubeletDirectories(tmp_path / "kubelet")


@pytest.fixture
def mounts(tmp_path, directories):
    if not may_mount(tmp_path):
        pytest.skip("this process may not mount")
    mounts = SubPathMounts(directories, ActualStateOfWorld(), needs_mounts=True)
    yield mounts
    mounts.clean("u")
    assert mounts_below(str(tmp_path), mount_table()) == []


def test_a_missing_part_is_made_with_the_mode_of_its_volume_and_mounted(directories, mounts, volume):
    found = Path(mounts.prepare(part(volume, "a/b", 2)))

    assert found == directories.pod("u") / "volume-subpaths/v/c/2"
    assert found.stat().st_mode & 0o777 == 0o777
    (found / "written").write_text("text")
    assert (volume / "a/b/written").read_text() == "text"


def test_a_file_is_mounted_through_links_within_its_volume(mounts, volume):
    (volume / "..data").mkdir()
    (volume / "..data" / "key").write_text("1")
    (volume / "key").symlink_to("..data/key")

    assert Path(mounts.prepare(part(volume, "key"))).read_text() == "1"


def test_the_next_container_gets_what_is_there_by_then(mounts, volume):
    (volume / "key").write_text("old")
    first = mounts.prepare(part(volume, "key"))
    (volume / "new").write_text("new")
    (volume / "new").rename(volume / "key")

    second = mounts.prepare(part(volume, "key"))

    assert (first, Path(second).read_text()) == (second, "new")
    assert len(mounts_below(second, mount_table())) == 1


def test_what_is_mounted_already_is_mounted_once(mounts, volume):
    found = [mounts.prepare(part(volume, "a")) for _ in range(2)]

    assert found[0] == found[1]
    assert len(mounts_below(found[0], mount_table())) == 1


def test_a_folder_takes_the_place_of_a_file(mounts, volume):
    (volume / "one").write_text("")
    mounts.prepare(part(volume, "one"))
    (volume / "one").unlink()

    assert Path(mounts.prepare(part(volume, "one"))).is_dir()


def test_the_pods_owner_learns_nothing_of_what_a_link_leads_to(tmp_path, mounts, volume):
    (volume / "way").symlink_to(tmp_path / "outside")

    with pytest.raises(SubPathFailed, match=r'^failed to prepare subPath for volumeMount "v" of container "c"$'):
        mounts.prepare(part(volume, "way/secret"))
    with pytest.raises(SubPathFailed, match=r'^failed to prepare subPath for volumeMount "v" of container "c"$'):
        mounts.prepare(part(volume, "way/made"))
    assert not (tmp_path / "outside" / "made").exists()


def test_what_cannot_be_made_is_told(mounts, volume):
    (volume / "loop").symlink_to("nothing")

    with pytest.raises(
        SubPathFailed, match=r'^failed to create subPath directory for volumeMount "v" of container "c"$'
    ):
        mounts.prepare(part(volume, "loop"))


def test_cleaning_one_volume_leaves_the_others_and_no_data_is_lost(directories, mounts, volume):
    (volume / "kept").write_text("data")
    mounts.prepare(part(volume, "."))
    other = SubPath(pod_uid="u", container="c", index=1, volume="w", root=str(volume), path=".")
    kept = mounts.prepare(other)

    mounts.clean("u", "v")

    assert not (directories.pod("u") / "volume-subpaths/v").exists()
    assert Path(kept, "kept").read_text() == "data"
    mounts.clean("u", "w")
    assert not (directories.pod("u") / "volume-subpaths").exists()
    assert (volume / "kept").read_text() == "data"


def test_cleaning_follows_no_link(directories, mounts, volume, tmp_path):
    mounts.prepare(part(volume, "a"))
    (directories.pod("u") / "volume-subpaths/v/c/9").symlink_to(tmp_path / "outside")

    mounts.clean("u", "v")

    assert (tmp_path / "outside" / "secret").exists()


@pytest.mark.slow
def test_a_thousand_swaps_never_show_the_nodes_files(tmp_path, mounts, volume):
    """A container exchanges its folder with a link to the node's files while the kubelet mounts the folder."""
    (volume / "mine").mkdir()
    (volume / "mine" / "secret").write_text("the pod's")
    (volume / "link").symlink_to(tmp_path / "outside")
    libc, ends, seen = ctypes.CDLL(None), threading.Event(), {"the pod's": 0, "refused": 0}

    def swap():
        while not ends.is_set():
            assert libc.renameat2(-100, bytes(volume / "mine"), -100, bytes(volume / "link"), 2) == 0

    container = threading.Thread(target=swap)
    container.start()
    try:
        for number in range(ROUNDS):
            path = "mine/secret" if number % 2 else "mine"
            try:
                found = Path(mounts.prepare(part(volume, path)))
            except SubPathFailed:
                seen["refused"] += 1
            else:
                seen[(found if number % 2 else found / "secret").read_text()] += 1
    finally:
        ends.set()
        container.join()

    assert seen.keys() == {"the pod's", "refused"}
    assert min(seen.values()) > 0


@pytest.mark.parametrize(("needs_mounts", "result"), [(True, SubPathFailed), (False, "volume/a")])
def test_without_the_right_to_mount_only_pods_of_the_same_user_get_a_path(
    tmp_path, directories, volume, monkeypatch, needs_mounts, result
):
    def refused(_descriptor, target):
        raise PermissionError(1, "Operation not permitted", target)

    monkeypatch.setattr("hyperkube_lib.volume_mount.beneath.bind", refused)
    mounts = SubPathMounts(directories, ActualStateOfWorld(), needs_mounts=needs_mounts)

    if needs_mounts:
        with pytest.raises(result):
            mounts.prepare(part(volume, "a"))
    else:
        assert mounts.prepare(part(volume, "a")) == str(tmp_path / result)


def test_a_simulated_runtime_touches_no_file():
    assert SimulatedSubPaths().prepare(part("/", "a/b")) == "/a/b"
