"""What was read of an uncached resource lately, kept up to date for a while: for those who read it again and again.

It is told of every change, so that what it has is what there is now. So it needs neither times nor revisions to be
compared when it is read, and a list of a busy namespace is read from the store once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

from hyperkube_lib.watch_cache.cached_object import CachedObject

from hyperkube.storage.store import KeyValue, StoreEvent

MOST_BYTES = 8 << 20
"""What is kept of a resource, all its objects together; what is read of more is not kept at all."""

OBJECT_BYTES = 400
"""What an object takes beside its body, with its key and its place, roughly."""

LEAST_BYTES = 2 * OBJECT_BYTES
"""What one takes that is as small as events are."""


class _Range:
    """All keys of ``[low, high)`` in order, and whether they were read since the last round."""

    __slots__ = ("high", "is_read", "keys", "low")

    def __init__(self, low: str, high: str, keys: list[str]) -> None:
        self.low = low
        self.high = high
        self.keys = keys
        self.is_read = True


class KeptRanges:
    """Single objects, and all objects of ranges that do not overlap; used under the lock of its resource, but `find`.

    Attributes:
        replaced: the revision of the last change, of what is kept, that was no creation, or since which it is kept: at
            any later one there was the same, but for what has been created after that.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._objects: dict[str, CachedObject] = {}
        self._lows: list[str] = []
        self._ranges: list[_Range] = []
        self._size = 0
        self.replaced = 0
        self.find = self._objects.get
        """Returns the object of a key, None for one that is not kept; from any thread, without the lock."""

    def __bool__(self) -> bool:
        return bool(self._objects or self._ranges)

    def may_hold(self, count: int) -> bool:
        """Tell whether a range of so many objects might be kept, as far as that is known before it is read."""
        return count * LEAST_BYTES <= self._most

    @property
    def size(self) -> int:
        """The bytes that it takes, roughly."""
        return self._size

    def first(self, low: str, high: str, most: int, revision: int) -> tuple[Sequence[CachedObject], str] | None:
        """Return the first objects of ``[low, high)`` at a revision (0: now), at least `most` of them (0: all).

        With where those begin that are not among them, empty if all are. None where that is not kept.
        """
        found = self._range_of(low)
        if found is None or 0 < revision < self.replaced:
            return None
        keys, end = found.keys, min(high, found.high)
        start, stop = bisect_left(keys, low), bisect_left(keys, end)
        is_cut = 0 < most < stop - start
        if is_cut:
            stop = start + most
        elif end < high and (not most or stop - start < most):
            return None
        of = self._objects
        objects = [of[key] for key in keys[start:stop]]
        found.is_read = True
        rest = f"{objects[-1].key}\0" if is_cut else end if end < high else ""
        if revision:
            objects = [obj for obj in objects if obj.revision <= revision]
            if rest and len(objects) < most:
                return None
        return objects, rest

    def keep(self, obj: CachedObject) -> None:
        """Keep an object as it is now."""
        self._put(obj)
        self._fit()

    def keep_range(self, low: str, high: str, objects: Sequence[CachedObject], since: int) -> None:
        """Keep all objects of ``[low, high)`` as they are since a revision, in order, unless they are too many."""
        size = sum(obj.held for obj in objects) + OBJECT_BYTES * (len(objects) + 1)
        if size > self._most:
            return
        if self._size + size > self._most:
            self.clear()
        before = self._range_of(low[:-1]) if low.endswith("\0") else None
        for each in [each for each in self._ranges if each.low < high and each.high > low]:
            self._drop(each)
        keys = [obj.key for obj in objects]
        for key in self._objects.keys() & keys:  # that were kept as single ones
            self._remove(key)
        self._objects.update(zip(keys, objects, strict=True))
        self._size += size - OBJECT_BYTES
        self.replaced = max(self.replaced, since)
        if before is not None and before.high == low:
            before.high, before.is_read = high, True
            before.keys += keys
            return
        self._size += OBJECT_BYTES
        place = bisect_left(self._lows, low)
        self._lows.insert(place, low)
        self._ranges.insert(place, _Range(low, high, keys))

    def apply(self, event: StoreEvent, decode: Callable[[KeyValue], CachedObject]) -> None:
        """Follow a change; what cannot be decoded is read from the store, with all that was kept, when it is needed.

        Must: not raise, as the writer's thread calls it.
        """
        key, current = event.key, event.current
        inside, old = self._range_of(key), self._objects.get(key)
        if old is not None and old.revision >= event.revision:
            return
        known = old is not None
        if event.previous is not None and (known or inside is not None):
            self.replaced = event.revision
        if inside is None or current is None:
            self._remove(key)
            if inside is not None and known:
                del inside.keys[bisect_left(inside.keys, key)]
            return
        try:
            obj = decode(current)
        except Exception:  # noqa: BLE001 - of whatever kind: the read that needs it raises it
            self.clear()
            return
        self._put(obj)
        if not known:
            inside.keys.insert(bisect_left(inside.keys, key), key)
        self._fit()

    def forget_unread(self) -> None:
        """Keep of the ranges those alone that were read since the last time, and no single objects."""
        for each in [each for each in self._ranges if not each.is_read]:
            self._drop(each)
        inside = set[str]()
        for each in self._ranges:
            each.is_read = False
            inside.update(each.keys)
        for key in self._objects.keys() - inside:
            self._remove(key)

    def clear(self) -> None:
        """Keep nothing."""
        self._objects.clear()
        self._lows, self._ranges, self._size = [], [], 0

    def _range_of(self, key: str) -> _Range | None:
        place = bisect_right(self._lows, key) - 1
        return self._ranges[place] if place >= 0 and key < self._ranges[place].high else None

    def _put(self, obj: CachedObject) -> None:
        old = self._objects.get(obj.key)
        self._objects[obj.key] = obj
        self._size += obj.held - old.held if old is not None else obj.held + OBJECT_BYTES

    def _remove(self, key: str) -> None:
        obj = self._objects.pop(key, None)
        if obj is not None:
            self._size -= obj.held + OBJECT_BYTES

    def _drop(self, gone: _Range) -> None:
        place = self._ranges.index(gone)
        del self._ranges[place], self._lows[place]
        self._size -= OBJECT_BYTES
        for key in gone.keys:
            self._remove(key)

    def _fit(self) -> None:
        if self._size > self._most:
            self.clear()
