"""Keys in byte order that come and go: a list in blocks, so that one more of 100,000 moves a thousand and not all."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Mapping, Sequence
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

    def between(self, low: str, high: str, limit: int = 0) -> list[str]:
        """Return the keys in ``[low, high)`` in order, only the first `limit` of them unless that is 0."""
        if not self._blocks or low >= high:
            return []
        first, last = self._block_of(low), self._block_of(high)
        start = bisect_left(self._blocks[first], low)
        if limit:
            return self._first(first, start, high, limit)
        if first == last:
            return self._blocks[first][start : bisect_left(self._blocks[first], high)]
        end = self._blocks[last][: bisect_left(self._blocks[last], high)]
        return [*self._blocks[first][start:], *chain.from_iterable(self._blocks[first + 1 : last]), *end]

    def _first(self, place: int, start: int, high: str, limit: int) -> list[str]:
        """Return up to `limit` keys before `high`, from one of a block on."""
        found: list[str] = []
        for block in self._blocks[place:]:
            found += block[start : start + limit - len(found)]
            if len(found) == limit or block[-1] >= high:
                break
            start = 0
        return found[: bisect_left(found, high)]

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


def keys_before(changed: Mapping[str, bool], now: Sequence[str], limit: int, *, cut: bool) -> list[str]:
    """Return the first keys of a range as they were before some changes, in order.

    Args:
        changed: the keys of the range that have come, gone or changed since, and whether they were there.
        now: the keys of the range in order, at least `limit` and as many as there are in `changed`, or all.
        limit: as many are wanted, 0 for all.
        cut: whether `now` is not all of them.
    """
    # Of the keys up to the last of `now` all are known: at most those in `changed` were not there.
    then = [key for key in now if key not in changed]
    then += [key for key, was_there in changed.items() if was_there and not (cut and key > now[-1])]
    then.sort()
    return then[:limit] if limit else then
