"""The objects of a resource in the order of their keys, with look-ups by index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from hyperkube_lib.watch_cache.cached_object import CachedObject
from hyperkube_lib.watch_cache.watchers import Index, Predicate

from hyperkube.storage.sorted_keys import SortedKeys

IndexFunction: TypeAlias = Callable[[CachedObject], tuple[str, ...]]
"""Returns an object's values in one index; none leaves it out."""


def by_field(path: str) -> IndexFunction:
    """Return the index function for a field that the transform extracts; an empty value is not indexed."""
    return lambda obj: (obj.fields[path],) if obj.fields.get(path) else ()


def by_owner(obj: CachedObject) -> tuple[str, ...]:
    """Index by the uids of the owner references."""
    return obj.owners


def in_index(indexes: Mapping[str, IndexFunction], index: Index | None, matches: Predicate | None) -> Predicate | None:
    """Return what tells whether an object has a value in an index and matches; None when nothing is asked."""
    if index is None:
        return matches
    name, value = index
    values_of = indexes[name]
    if matches is None:
        return lambda obj: value in values_of(obj)
    return lambda obj: value in values_of(obj) and matches(obj)


class ObjectTable:
    """Objects by key; used under the lock of its cache, except for `get`.

    A namespace needs no index: its objects are neighbours.
    """

    def __init__(self, indexes: Mapping[str, IndexFunction], objects: Iterable[CachedObject] = ()) -> None:
        self._indexes = indexes
        self._objects = {obj.key: obj for obj in objects}
        self._keys = SortedKeys(self._objects)
        self._index: dict[Index, dict[str, None]] = {}
        for obj in self._objects.values():
            self._file(obj)
        self.get = self._objects.get

    def __len__(self) -> int:
        return len(self._objects)

    @property
    def index_names(self) -> frozenset[str]:
        """The names of the indexes."""
        return frozenset(self._indexes)

    def copy(self) -> ObjectTable:
        """Return another table of the same objects; it shares nothing that changes."""
        other = ObjectTable(self._indexes)
        other._objects.update(self._objects)
        other._keys = self._keys.copy()
        other._index = {index: keys.copy() for index, keys in self._index.items()}
        return other

    def put(self, obj: CachedObject) -> None:
        """Add an object or replace the one with its key."""
        previous = self._objects.get(obj.key)
        if previous is None:
            self._keys.add(obj.key)
        else:
            self._unfile(previous)
        self._objects[obj.key] = obj
        self._file(obj)

    def remove(self, obj: CachedObject) -> None:
        """Remove an object that is there."""
        del self._objects[obj.key]
        self._keys.remove(obj.key)
        self._unfile(obj)

    def between(self, low: str, high: str, index: Index | None = None) -> Sequence[CachedObject]:
        """Return the objects with keys in ``[low, high)`` and, if given, a value in an index."""
        keys: Iterable[str]
        if index is None:
            keys = self._keys.between(low, high)
        else:
            keys = sorted(key for key in self._index.get(index, ()) if low <= key < high)
        return [self._objects[key] for key in keys]

    def _file(self, obj: CachedObject) -> None:
        for index, values_of in self._indexes.items():
            for value in values_of(obj):
                self._index.setdefault((index, value), {})[obj.key] = None

    def _unfile(self, obj: CachedObject) -> None:
        for index, values_of in self._indexes.items():
            for value in values_of(obj):
                keys = self._index.get((index, value), {})
                keys.pop(obj.key, None)
                if not keys:
                    self._index.pop((index, value), None)
