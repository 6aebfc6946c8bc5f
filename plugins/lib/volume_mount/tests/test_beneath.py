"""Paths below a folder that others write to."""

import ctypes
import os
import threading
from pathlib import Path

import pytest
from hyperkube_lib.volume_mount import beneath
from hyperkube_lib.volume_mount.beneath import make_folder_beneath, open_beneath

ROUNDS = 200


@pytest.fixture
def volume(tmp_path):
    volume, outside = tmp_path / "volume", tmp_path / "outside"
    (volume / "real").mkdir(parents=True)
    (volume / "real" / "mine").write_text("mine")
    outside.mkdir()
    (outside / "mine").write_text("the node's")
    return volume


@pytest.fixture(params=["openat2", "an older kernel"])
def kernel(request, monkeypatch):
    if request.param == "an older kernel":

        def refuse(_folder, path):
            raise OSError(38, "Function not implemented", path)

        monkeypatch.setattr(beneath, "_openat2", refuse)
    return request.param


def text_at(volume, path):
    """Return what is in the file that a path leads to, read through the descriptor alone."""
    found = open_beneath(str(volume), path)
    try:
        return Path(f"/proc/self/fd/{found}").read_text(encoding="utf-8")
    finally:
        os.close(found)


@pytest.mark.usefixtures("kernel")
def test_a_link_within_the_folder_is_followed(volume):
    (volume / "..data").symlink_to("real")
    (volume / "key").symlink_to("..data/mine")

    assert text_at(volume, "key") == "mine"


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("target", ["../outside", "{outside}", "real/../../outside"])
def test_a_link_that_leads_out_is_refused(tmp_path, volume, target):
    (volume / "way").symlink_to(target.format(outside=tmp_path / "outside"))

    with pytest.raises(OSError, match="cross-device"):
        text_at(volume, "way/mine")
    with pytest.raises(OSError, match="cross-device"):
        make_folder_beneath(str(volume), "way/made", 0o755)
    assert sorted(path.name for path in (tmp_path / "outside").iterdir()) == ["mine"]


@pytest.mark.usefixtures("kernel")
def test_missing_folders_are_made_and_the_last_has_the_mode(volume):
    make_folder_beneath(str(volume), "a/b", 0o777)

    assert (volume / "a/b").stat().st_mode & 0o777 == 0o777


@pytest.mark.usefixtures("kernel")
def test_a_folder_that_is_there_keeps_its_mode(volume):
    (volume / "real").chmod(0o700)

    make_folder_beneath(str(volume), "real", 0o777)

    assert (volume / "real").stat().st_mode & 0o777 == 0o700


def test_what_is_no_folder_is_in_the_way(volume):
    with pytest.raises(NotADirectoryError):
        make_folder_beneath(str(volume), "real/mine/below", 0o755)


@pytest.mark.usefixtures("kernel")
def test_a_folder_that_becomes_a_link_never_leads_out(tmp_path, volume):
    """Look-ups while another thread swaps the folder for a link to the node's own files, without pause."""
    spot, other = volume / "real", volume / "other"
    other.symlink_to(tmp_path / "outside")
    libc, ends, found = ctypes.CDLL(None), threading.Event(), {"mine": 0, "refused": 0}

    def swap():
        """Exchange the two names at once (``renameat2(RENAME_EXCHANGE)``), as a hostile container does."""
        while not ends.is_set():
            assert libc.renameat2(-100, bytes(spot), -100, bytes(other), 2) == 0

    container = threading.Thread(target=swap)
    container.start()
    try:
        for number in range(ROUNDS):
            try:
                assert text_at(volume, "real/mine") == "mine"
                found["mine"] += 1
            except OSError:
                found["refused"] += 1
            try:
                make_folder_beneath(str(volume), f"real/made-{number % 10}", 0o755)
            except OSError:
                found["refused"] += 1
    finally:
        ends.set()
        container.join()

    assert sorted(path.name for path in (tmp_path / "outside").iterdir()) == ["mine"]
    assert found["refused"] > 0
    assert found["mine"] > 0
