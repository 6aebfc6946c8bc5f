"""Lets go of pages of the program and its libraries that a process has read once, and may never again.

A start runs through much code of OpenSSL, SQLite and the interpreter. Those pages count as the process's for as long
as they are mapped, though they are clean: they stay in the system's page cache, and one that is used again is mapped
again without being read, alone where the system can (`single_pages`). So what is resident becomes what is in use, and
under pressure the system takes the rest without asking who maps it. It frees nothing by itself.

Only parts that may not be written are let go, and of these only such as hold no page of the process's own: where the
dynamic linker has relocated something. A part counts once it has been there at two looks, as one that is just being
loaded is not yet laid out. CPython never unloads an extension, so that a part stays what it was. Linux only.
Source: ``madvise(2)`` (MADV_DONTNEED), ``proc_pid_maps(5)``, ``proc_pid_pagemap(5)``.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from hyperkube_lib.component_base.single_pages import SinglePages

_MAPS = Path("/proc/self/maps")
_PAGEMAP = "/proc/self/pagemap"
_ENTRY_BYTES = 8
"""Of a page in ``pagemap``, whose highest byte holds the three bits below."""
_HIGHEST = 0 if sys.byteorder == "big" else _ENTRY_BYTES - 1
_PRESENT, _SWAPPED, _OF_A_FILE = 0x80, 0x40, 0x20


class Part(NamedTuple):
    """A stretch of addresses, page by page from a file."""

    start: int
    end: int
    file: str


def read_only_parts(maps: str) -> frozenset[Part]:
    """Return the parts of the program and its libraries that may not be written, by the text of ``/proc/PID/maps``.

    A file of which nothing may be run is no library, and not looked at.
    """
    rows = [line.split(None, 5) for line in maps.splitlines()]
    libraries = {row[5] for row in rows if len(row) == 6 and row[5].startswith("/") and "x" in row[1]}
    return frozenset(
        Part(*_addresses(row[0]), row[5])
        for row in rows
        if len(row) == 6 and row[5] in libraries and "w" not in row[1] and row[1].endswith("p")
    )


def _addresses(text: str) -> tuple[int, int]:
    start, end = text.split("-")
    return int(start, 16), int(end, 16)


def holds_own_pages(entries: bytes) -> bool:
    """Tell whether a part has a page that is the process's own, by its entries of ``/proc/PID/pagemap``."""
    kinds = set(entries[_HIGHEST::_ENTRY_BYTES])
    return any(kind & _SWAPPED or (kind & _PRESENT and not kind & _OF_A_FILE) for kind in kinds)


class LibraryPages:
    """Remembers what was mapped at the last look, by hashes: parts would lie between what the process has in use."""

    def __init__(self) -> None:
        self._known = array("q")
        self._single: set[int] = set()
        self._singly = SinglePages()

    def let_go(self) -> None:
        """Unmap the pages of what was there at the last look, too; without ``/proc`` nothing happens."""
        try:
            parts = read_only_parts(_MAPS.read_text())
            known = frozenset(self._known)
            self._unmap(part for part in parts if hash(part) in known)
        except OSError:  # a system that does not tell, or not us
            return
        self._known = array("q", map(hash, parts))

    def _unmap(self, parts: Iterable[Part]) -> None:
        libc = ctypes.CDLL(None)
        libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        file = os.open(_PAGEMAP, os.O_RDONLY | os.O_CLOEXEC)
        try:
            for part in parts:
                size = part.end - part.start
                entries = os.pread(
                    file, size // mmap.PAGESIZE * _ENTRY_BYTES, part.start // mmap.PAGESIZE * _ENTRY_BYTES
                )
                if not holds_own_pages(entries):
                    if hash(part) not in self._single and self._singly.add(part.start, part.end):
                        self._single.add(hash(part))
                    libc.madvise(part.start, size, mmap.MADV_DONTNEED)
        finally:
            os.close(file)
