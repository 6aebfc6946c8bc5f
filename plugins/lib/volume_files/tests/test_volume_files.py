"""Files of volumes."""

import os
import threading

import pytest
from hyperkube_lib.volume_files import File, PathRefused, write_files


def files(**contents):
    return {name: File(text.encode(), 0o644) for name, text in contents.items()}


def content(name, folder):
    descriptor = os.open(name, os.O_RDONLY, dir_fd=folder)
    try:
        return os.read(descriptor, 10)
    finally:
        os.close(descriptor)


def test_a_change_replaces_everything_at_once(tmp_path):
    write_files(str(tmp_path), files(a="1", b="1"))

    assert write_files(str(tmp_path), files(a="2", c="2"))

    assert {p.name: p.read_text() for p in tmp_path.iterdir() if not p.name.startswith("..")} == {"a": "2", "c": "2"}


def test_nothing_is_written_when_nothing_changed(tmp_path):
    write_files(str(tmp_path), files(a="1"))
    before = (tmp_path / "..data").readlink()

    assert not write_files(str(tmp_path), files(a="1"))

    assert (tmp_path / "..data").readlink() == before


def test_old_content_does_not_pile_up(tmp_path):
    for number in range(5):
        write_files(str(tmp_path), files(a=str(number)))

    assert len(list(tmp_path.iterdir())) == 3


def test_a_reader_never_sees_a_mixture(tmp_path):
    write_files(str(tmp_path), files(a="0", b="0"))
    stop, mixtures = threading.Event(), []

    def read():
        while not stop.is_set():
            try:
                folder = os.open(tmp_path / "..data", os.O_RDONLY)
            except FileNotFoundError:
                continue  # the link was read just before it moved on
            try:
                pair = [content(name, folder) for name in ("a", "b")]
            except FileNotFoundError:
                continue  # the old folder went away under our feet, as a whole
            finally:
                os.close(folder)
            if pair[0] != pair[1]:
                mixtures.append(pair)

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(50):
        write_files(str(tmp_path), files(a=str(number), b=str(number)))
    stop.set()
    reader.join()

    assert mixtures == []


@pytest.mark.parametrize("path", ["../out", "/etc/passwd", "a/../../b", "..hidden"])
def test_a_path_cannot_lead_out_of_the_folder(tmp_path, path):
    with pytest.raises(PathRefused, match="invalid path"):
        write_files(str(tmp_path), {path: File(b"", 0o644)})


@pytest.mark.parametrize("path", ["/etc/x", "../x", "a/../b", "..x", "", "a\0b", "a/\0", "x" * 256, "\ud800"])
def test_a_path_that_no_file_can_have_is_refused_and_leaves_nothing(tmp_path, path):
    with pytest.raises(PathRefused, match="invalid path"):
        write_files(str(tmp_path), files(**{path: "1"}))

    assert list(tmp_path.iterdir()) == []


def test_what_fails_half_way_leaves_nothing(tmp_path):
    with pytest.raises(OSError, match="exists"):
        write_files(str(tmp_path), files(**{"a": "1", "a/b": "2"}))

    assert list(tmp_path.iterdir()) == []
