"""Gives pools of Python's that hold no object back to the system, while a process rests.

Python lays small objects into pools of 16 KiB, each for one size, and 64 pools into an arena of one MiB, which goes
back to the system when nothing is left in it. After a load a few objects lie in nearly each arena that it took, but not
in each pool. So the blocks of empty pools are taken, as an extension would, and the pages of the pools are given back:
what is in a block is the business of who took it, and these are empty. Python looks at the header of a pool with no
free block when one of them is freed, not before. So the header is kept aside, and is put back first. The blocks are
held until there is work.

That there is work is seen by the collector of garbage: it is to come when so many more objects that may hold others
were made than went as are a fraction of an arena. Were the blocks held for longer, work would take new arenas beside
those that it had before, and each load would leave more of them.

Where the allocator is another one, its blocks do not lie as in a pool, and nothing happens. Linux only.
Source: CPython ``Objects/obmalloc.c`` (``pymalloc_alloc``, ``pymalloc_pool_extend``, ``allocate_from_new_pool``,
``pymalloc_free``, ``_Py_GetAllocatedBlocks``); ``madvise(2)``.
"""

from __future__ import annotations

import ctypes
import gc
import mmap
import re
import sys
import threading
from array import array
from bisect import bisect_right
from collections.abc import Callable, Mapping
from pathlib import Path

_MAPS = Path("/proc/self/maps")
_WRITABLE = re.compile(rb"^([0-9a-f]+)-([0-9a-f]+) rw", re.MULTILINE)
_POOL, _HEADER, _BLOCK = 1 << 14, 48, 512
"""Bytes of a pool, whose address is a multiple of them, of what stands in it before the first block, and of a block: of
the largest that there is, as more is the C library's."""
_BLOCKS = (_POOL - _HEADER) // _BLOCK
_HEADER_WORDS = _HEADER // 8
_MOST = 1 << 20
"""Blocks that are taken at most, should others take as many meanwhile that there are always new ones."""
SPARE_POOLS = 32
"""Empty pools that stay as they are: what is done at rest takes one now and then, not a new arena."""
WORK = 2000
"""Objects known to the collector of garbage, more than went, after which there is work."""


class Mapped:
    """The stretches of addresses that the process may write, as they are now; read without filling pools."""

    def __init__(self, maps: bytes) -> None:
        """Read them from the text of ``/proc/PID/maps``, which has them in order."""
        self._starts, self._ends = array("Q"), array("Q")
        for found in _WRITABLE.finditer(maps):
            self._starts.append(int(found[1], 16))
            self._ends.append(int(found[2], 16))

    def __contains__(self, address: int) -> bool:
        place = bisect_right(self._starts, address) - 1
        return place >= 0 and address < self._ends[place]


class EmptyPools:
    """Holds the blocks of pools that were given back, until there is work.

    Attributes:
        had_work: whether all was taken back for work since the last look: at rest there is some every few minutes.
    """

    def __init__(self) -> None:
        """Hold nothing yet."""
        self.had_work = False
        self._held = array("Q")
        """The addresses of the pools."""
        self._headers = array("Q")
        """Their headers, each of `_HEADER_WORDS`."""
        self._lock = threading.Lock()
        """Of what is held. The collector comes on any thread, at any point of it: there it is not waited for."""
        self._thresholds: tuple[int, int, int] | None = None
        """Those of the collector, while it is to tell of work."""
        python, libc = ctypes.pythonapi, ctypes.PyDLL(None)
        malloc, free = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t), ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
        self._malloc: Callable[[int], int | None] = malloc(("PyObject_Malloc", python))
        self._free: Callable[[int], None] = free(("PyObject_Free", python))
        advise = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        self._advise: Callable[[int, int, int], int] = advise(("madvise", libc))

    def __len__(self) -> int:
        """Return how many pools are given back."""
        return len(self._held)

    def let_go(self) -> None:
        """Give empty pools back, until there is work; without ``/proc``, or with large pages, nothing happens."""
        if not sys.getallocatedblocks() or mmap.PAGESIZE > _POOL:  # another allocator, or several pools on a page
            return
        with self._lock:
            self.had_work = False
            self._take_back()  # an arena that is empty by now goes as a whole
            try:
                mapped = Mapped(_MAPS.read_bytes())
            except OSError:
                return
            spare = SPARE_POOLS
            for pool, blocks in self._take(mapped).items():
                is_whole = blocks == _WHOLE
                if is_whole and not spare:
                    self._headers.frombytes(ctypes.string_at(pool, _HEADER))
                    self._held.append(pool)
                    self._advise(pool, _POOL, mmap.MADV_DONTNEED)
                else:
                    spare -= is_whole
                    self._free_blocks(pool, blocks)
            if self._held:
                self._watch()

    def take_back(self) -> None:
        """Free all that is held: Python uses it again."""
        with self._lock:
            self._take_back()

    def close(self) -> None:
        """Take back what is held; for good."""
        self.take_back()
        if self._collects in gc.callbacks:
            gc.callbacks.remove(self._collects)

    def _take(self, mapped: Mapped) -> dict[int, int]:
        """Take all free blocks; return them as bits, by the addresses of pools. What is not `mapped` is a new arena."""
        taken: dict[int, int] = {}
        for _ in range(_MOST):
            address = self._malloc(_BLOCK)
            if address is None:
                break
            pool = address // _POOL * _POOL
            place, beside = divmod(address - pool - _HEADER, _BLOCK)
            if beside or place < 0 or (pool not in taken and address not in mapped):
                self._free(address)
                break
            taken[pool] = taken.get(pool, 0) | 1 << place
        return taken

    def _take_back(self) -> None:
        if self._thresholds is not None:
            gc.set_threshold(*self._thresholds)
            self._thresholds = None
        while self._held:
            pool, header = self._held.pop(), self._headers[-_HEADER_WORDS:]
            del self._headers[-_HEADER_WORDS:]
            ctypes.memmove(pool, header.buffer_info()[0], _HEADER)
            self._free_blocks(pool, _WHOLE)

    def _free_blocks(self, pool: int, blocks: int) -> None:
        for place in range(_BLOCKS):
            if blocks >> place & 1:
                self._free(pool + _HEADER + place * _BLOCK)

    def _watch(self) -> None:
        """Have the collector tell of work."""
        if self._collects not in gc.callbacks:
            gc.callbacks.append(self._collects)
        gc.collect(0)  # what was made up to now is not counted
        self._thresholds = gc.get_threshold()
        gc.set_threshold(min(WORK, self._thresholds[0]), *self._thresholds[1:])

    def _collects(self, phase: str, _info: Mapping[str, int]) -> None:
        """Take all back, as there is work: a few milliseconds for a hundred pools; called by the collector."""
        if phase == "start" and self._thresholds is not None and self._lock.acquire(blocking=False):
            try:
                self._take_back()
                self.had_work = True
            finally:
                self._lock.release()


_WHOLE = (1 << _BLOCKS) - 1
"""All blocks of a pool, as bits."""
