"""The objects of a resource in the order of their keys, with look-ups by index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from hyperkube_lib.watch_cache.cached_object import CachedObject
from hyperkube_lib.watch_cache.listing import Part
from hyperkube_lib.watch_cache.watchers import Index, Predicate, Scope

from hyperkube.storage.sorted_keys import SortedKeys, keys_before
from hyperkube.storage.store import prefix_end

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


def only(indexes: Mapping[str, IndexFunction], index: Index | None, part: Part) -> Part:
    """Return the objects of a whole range that have a value in an index; all if none is asked for."""
    if index is None:
        return part
    name, value = index
    objects = [obj for obj in part.objects if value in indexes[name](obj)]
    return Part(objects, part.revision, len(objects))


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

    def all(self) -> list[CachedObject]:
        """Return all objects in no order; without the lock, too."""
        return list(self._objects.values())

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
            obj.key = previous.key  # one text: a history keeps many versions of what changes often
        self._objects[obj.key] = obj
        self._file(obj)

    def remove(self, obj: CachedObject) -> None:
        """Remove an object that is there."""
        del self._objects[obj.key]
        self._keys.remove(obj.key)
        self._unfile(obj)

    def between(self, low: str, high: str, index: Index | None = None, limit: int = 0) -> Sequence[CachedObject]:
        """Return the objects with keys in ``[low, high)`` and, if given, a value in an index.

        Args:
            low: the first key.
            high: the key after the last.
            index: its objects are all returned.
            limit: without an index only the first so many, unless it is 0.
        """
        keys: Iterable[str]
        if index is None:
            keys = self._keys.between(low, high, limit)
        else:
            keys = sorted(key for key in self._index.get(index, ()) if low <= key < high)
        return [self._objects[key] for key in keys]

    def in_scope(self, prefix: str, scope: Scope) -> Sequence[CachedObject]:
        """Return objects of a resource among which all those of a scope are; of one name in one place that one alone.

        Each kubelet watches its own node, and there may be thousands. `prefix` is what all keys begin with.
        """
        low = f"{prefix}{scope.namespace}/" if scope.namespace else prefix
        if scope.name and (scope.namespace or not self._has_namespaces(prefix)):
            found = self._objects.get(low + scope.name)
            return [] if found is None else [found]
        return self.between(low, prefix_end(low), scope.indexed)

    def _has_namespaces(self, prefix: str) -> bool:
        return any("/" in key[len(prefix) :] for key in self._keys.between(prefix, prefix_end(prefix), 1))

    def count(self, low: str, high: str) -> int:
        """Return the number of objects with keys in ``[low, high)``."""
        return self._keys.count(low, high)

    def before(
        self, past: Mapping[str, CachedObject | None], low: str, high: str, limit: int
    ) -> tuple[Sequence[CachedObject], int]:
        """Return the first objects of ``[low, high)`` as they were before some changes, and how many there were.

        Args:
            past: the objects of the range that were different, None for those that were not there.
            low: the first key.
            high: the key after the last.
            limit: only so many, unless it is 0.
        """
        keys = self._keys.between(low, high, limit + len(past) if limit else 0)
        count = self._keys.count(low, high)
        was_there = {key: obj is not None for key, obj in past.items()}
        then = keys_before(was_there, keys, limit, cut=len(keys) < count)
        count += sum(there - (key in self._objects) for key, there in was_there.items())
        return [past.get(key) or self._objects[key] for key in then], count

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
