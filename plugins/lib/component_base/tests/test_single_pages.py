"""Pages of files that are mapped one by one."""

import ctypes
import mmap
import os
import sys
from pathlib import Path

import pytest
from hyperkube_lib.component_base import single_pages
from hyperkube_lib.component_base.single_pages import SinglePages

PAGES = 64


@pytest.fixture
def mapped(tmp_path):
    """A file that is in the page cache, mapped and not yet touched."""
    path = tmp_path / "library"
    path.write_bytes(b"x" * PAGES * mmap.PAGESIZE)
    file = os.open(path, os.O_RDONLY)
    yield mmap.mmap(file, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    os.close(file)


def place(mapped):
    return ctypes.addressof(ctypes.c_char.from_buffer(mapped))


def present(start):
    """Return how many pages from `start` are mapped."""
    with Path("/proc/self/pagemap").open("rb") as file:
        file.seek(start // mmap.PAGESIZE * 8)
        entries = file.read(PAGES * 8)
    return sum(entries[at + (7 if sys.byteorder == "little" else 0)] >> 7 for at in range(0, len(entries), 8))


@pytest.mark.skipif(single_pages._opened() is None, reason="needs Linux 6.7 and userfaultfd")
def test_a_page_that_is_used_is_mapped_alone(mapped):
    start = place(mapped)
    assert SinglePages().add(start, start + PAGES * mmap.PAGESIZE)

    assert mapped[5 * mmap.PAGESIZE] == ord("x")

    assert present(start) == 1


@pytest.mark.skipif(single_pages._opened() is None, reason="needs Linux 6.7 and userfaultfd")
def test_what_is_not_mapped_is_not_added():
    assert not SinglePages().add(0, mmap.PAGESIZE)


@pytest.mark.parametrize("machine", ["pdp11", ""])
def test_a_machine_that_is_not_known_maps_as_ever(monkeypatch, mapped, machine):
    monkeypatch.setattr("platform.machine", lambda: machine)

    assert not SinglePages().add(place(mapped), place(mapped) + PAGES * mmap.PAGESIZE)


def test_a_system_that_has_none_maps_as_ever(monkeypatch, mapped):
    monkeypatch.setattr(single_pages, "_SYSTEM_CALL", dict.fromkeys(single_pages._SYSTEM_CALL, 100_000))

    assert not SinglePages().add(place(mapped), place(mapped) + PAGES * mmap.PAGESIZE)
