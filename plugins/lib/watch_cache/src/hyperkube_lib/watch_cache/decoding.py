"""From what the store holds to what the cache does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from hyperkube_lib.watch_cache.cached_object import CachedObject, Transform
from hyperkube_lib.watch_cache.listing import Part
from hyperkube_lib.watch_cache.watchers import ADDED, DELETED, MODIFIED, CacheEvent

from hyperkube.machinery.errors import StorageReadError
from hyperkube.storage.store import KeyValue, RangeResult, StoreEvent

TOGETHER = 10
"""Objects that are decoded before others may have their turn: a millisecond, of pods."""


class DamagedObject(StorageReadError):
    """The store has lost an object: it alone cannot be read, and lists go on without it."""


class UnreadableKeys(dict[str, StorageReadError]):
    """The keys of a resource whose values cannot be read, and why."""

    def check(self, low: str, high: str) -> None:
        """Raise for a key in a range whose value cannot be decoded; those that the store has lost do not count."""
        for key, error in self.items():
            if low <= key < high and not isinstance(error, DamagedObject):
                raise error

    def lost(self) -> list[str]:
        """Return the keys whose values the store has lost."""
        return [key for key, error in list(self.items()) if isinstance(error, DamagedObject)]


def a_few_at_a_time(pages: Iterable[RangeResult], rest: Callable[[], None]) -> Iterator[RangeResult]:
    """Yield pages in pieces, with a call between two of these: to decode a page of pods takes a tenth of a second."""
    for page in pages:
        for start in range(0, len(page.items) or 1, TOGETHER):
            yield replace(page, items=page.items[start : start + TOGETHER])
            rest()


class Decoder:
    """Decodes the values of one resource."""

    def __init__(self, transform: Transform) -> None:
        self._transform = transform

    def object(self, item: KeyValue) -> CachedObject:
        """Return the object of a stored value.

        Raises:
            StorageReadError: the value cannot be decoded.
        """
        if item.damaged:
            raise DamagedObject(f'the value of key "{item.key}" is lost: {item.unreadable}')
        if item.unreadable:
            raise StorageReadError(f'unable to transform key "{item.key}": {item.unreadable}')
        return self._transform(item.key, item.value, item.mod_revision)

    def part(self, pages: Iterable[RangeResult], revision: int, most: int, *, holds: bytes = b"") -> Part:
        """Return the objects of the first pages of a range that have `most` (0: of all), without what the store lost.

        Those whose values do not hold a text are left out.

        Raises:
            StorageReadError: a value cannot be decoded.
        """
        objects: list[CachedObject] = []
        looked_at = count = 0
        end = last = ""
        read = self.object
        for page in pages:
            revision = revision or page.revision
            objects += [
                read(item)
                for item in page.items
                if not item.damaged and (not holds or holds in item.value or item.unreadable)
            ]
            looked_at += len(page.items)
            count = count or page.count
            last = page.items[-1].key if page.items else last
            if page.more and 0 < most <= looked_at:
                end = f"{last}\0"
                break
        return Part(objects, revision, count, end, last if holds else "")

    def event(self, event: StoreEvent) -> CacheEvent | None:
        """Return the record of a change in the past, None if it cannot be decoded."""
        try:
            current = self.object(event.current) if event.current else None
            previous = self.object(event.previous) if event.previous else None
        except StorageReadError:
            return None
        if current is not None:
            return CacheEvent(MODIFIED if previous else ADDED, event.revision, current, previous)
        return CacheEvent(DELETED, event.revision, previous.at(event.revision), previous) if previous else None
