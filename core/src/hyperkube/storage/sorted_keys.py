"""Keys in byte order that come and go: a list in blocks, so that one more of 100,000 moves a thousand and not all."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable
from itertools import chain

BLOCK = 1000
"""Keys in a new block; one that has twice as many is split."""


class SortedKeys:
    """A sorted set of keys; the caller sees to it that a key is added once and removed only while it is there."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        ordered = sorted(keys)
        self._blocks = [ordered[start : start + BLOCK] for start in range(0, len(ordered), BLOCK)]
        self._firsts = [block[0] for block in self._blocks]

    def __len__(self) -> int:
        return sum(map(len, self._blocks))

    def copy(self) -> SortedKeys:
        """Return another set of the same keys."""
        other = SortedKeys()
        other._blocks = [block.copy() for block in self._blocks]
        other._firsts = self._firsts.copy()
        return other

    def add(self, key: str) -> None:
        """Add a key that is not there."""
        if not self._blocks:
            self._blocks, self._firsts = [[key]], [key]
            return
        place = self._block_of(key)
        block = self._blocks[place]
        insort(block, key)
        self._firsts[place] = block[0]
        if len(block) > 2 * BLOCK:
            self._blocks[place : place + 1] = [block[:BLOCK], block[BLOCK:]]
            self._firsts.insert(place + 1, block[BLOCK])

    def remove(self, key: str) -> None:
        """Remove a key that is there."""
        place = self._block_of(key)
        block = self._blocks[place]
        del block[bisect_left(block, key)]
        if block:
            self._firsts[place] = block[0]
        else:
            del self._blocks[place], self._firsts[place]

    def between(self, low: str, high: str) -> list[str]:
        """Return the keys in ``[low, high)`` in order."""
        if not self._blocks or low >= high:
            return []
        first, last = self._block_of(low), self._block_of(high)
        start = bisect_left(self._blocks[first], low)
        if first == last:
            return self._blocks[first][start : bisect_left(self._blocks[first], high)]
        end = self._blocks[last][: bisect_left(self._blocks[last], high)]
        return [*self._blocks[first][start:], *chain.from_iterable(self._blocks[first + 1 : last]), *end]

    def count(self, low: str, high: str) -> int:
        """Return the number of keys in ``[low, high)``."""
        return max(self._rank(high) - self._rank(low), 0)

    def _rank(self, key: str) -> int:
        if not self._blocks:
            return 0
        place = self._block_of(key)
        return sum(map(len, self._blocks[:place])) + bisect_left(self._blocks[place], key)

    def _block_of(self, key: str) -> int:
        return max(bisect_right(self._firsts, key) - 1, 0)
