"""What an informer keeps: objects by namespace and name, with indexes, and a detector of changes in place."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

import orjson

from hyperkube.client.interning import Interner
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import Object, name_of, namespace_of

IndexFunction = Callable[[Object], Iterable[str]]
Objects = list[Object]
Texts = list[str]


class CacheMutated(HyperkubeError):
    """An object was changed that belongs to a shared cache; copy before changing."""


class _Index:
    """Keys of objects by the values that a function finds in these."""

    def __init__(self, function: IndexFunction) -> None:
        self.function = function
        self.entries: dict[str, dict[str, None]] = {}

    def put(self, key: str, old: Object | None, new: Object | None) -> None:
        before = () if old is None else tuple(self.function(old))
        after = () if new is None else tuple(self.function(new))
        if before != after:
            for value in before:
                entry = self.entries.get(value, {})
                entry.pop(key, None)
                if not entry:
                    self.entries.pop(value, None)
            for value in after:
                self.entries.setdefault(value, {})[key] = None


class ObjectCache:
    """Objects by namespace and name, with indexes; thread-safe.

    Attributes:
        held: the objects by ``NAMESPACE/NAME``, to be read only; a class of its own may hold them in another form.
        changes: how often `held` has changed: counted after each change, so that what was computed while the count
            stayed the same holds as long as it does.
    """

    def __init__(self, interner: Interner | None = None, *, detect_mutations: bool = False) -> None:
        self._lock = threading.Lock()
        self._interner = interner or Interner()
        self.held: dict[str, Any] = {}
        self.changes = 0
        self._indexes: dict[str, _Index] = {"namespace": _Index(lambda obj: (namespace_of(obj),))}
        self._digests: dict[str, bytes] | None = {} if detect_mutations else None

    def __len__(self) -> int:
        return len(self.held)

    def get(self, namespace: str, name: str) -> Object | None:
        """Return the object or None."""
        return self.held.get(f"{namespace}/{name}")

    def at(self, key: str) -> Object | None:
        """Return the object of ``NAMESPACE/NAME``, or None: for who goes through many of them."""
        held = self.held.get(key)
        return None if held is None else self._read(held)

    def keep(self, obj: Object) -> Object:
        """Return `obj`, the caller's own, with what it has in common with others shared."""
        return self._interner.intern(obj, self.get(namespace_of(obj), name_of(obj)))

    def list(self, namespace: str = "") -> Objects:
        """Return the objects of one namespace, or all."""
        return self.by_index("namespace", namespace) if namespace else [*self.each()]

    def each(self) -> Iterator[Object]:
        """Yield all objects that are held when it begins, each as it is by then; those that went are left out."""
        with self._lock:
            keys = [*self.held]
        return (obj for key in keys if (obj := self.at(key)) is not None)

    def _read(self, held: Any) -> Object:
        """Return an object in the form in which it is handed out."""
        return cast("Object", held)

    def add_index(self, name: str, function: IndexFunction) -> None:
        """Keep an index from now on; the same name again is ignored when the function is the same."""
        with self._lock:
            known = self._indexes.get(name)
            if known is not None and known.function is function:
                return
            if known is not None:
                raise ValueError(f"index {name!r} exists with another function")
            index = self._indexes[name] = _Index(function)
            for key, held in self.held.items():
                index.put(key, None, self._read(held))

    def by_index(self, name: str, value: str) -> Objects:
        """Return the objects for which the index function yields `value`."""
        with self._lock:
            return [self.held[key] for key in self._indexes[name].entries.get(value, ())]

    def index_keys(self, name: str, value: str) -> Texts:
        """Return the keys, ``NAMESPACE/NAME``, of the objects that an index has under `value`."""
        with self._lock:
            return [*self._indexes[name].entries.get(value, ())]

    def index_values(self, name: str) -> Texts:
        """Return the values under which an index has an object."""
        with self._lock:
            return [*self._indexes[name].entries]

    def index_size(self, name: str, value: str) -> int:
        """Return how many objects an index has under `value`."""
        with self._lock:
            return len(self._indexes[name].entries.get(value, ()))

    def put(self, obj: Object, *, rests: bool = False) -> Object | None:
        """Hold what `keep` returned; return the object that it replaces; with `rests` it is one of a list, no news."""
        key = f"{namespace_of(obj)}/{name_of(obj)}"
        with self._lock:
            old = self.held.get(key)
            self.held[key] = obj
            for index in self._indexes.values():
                index.put(key, old, obj)
            if self._digests is not None:
                self._digests[key] = _digest(obj)
            self.changes += 1
            return old

    def remove(self, namespace: str, name: str) -> Object | None:
        """Let go of an object; return what was held."""
        key = f"{namespace}/{name}"
        with self._lock:
            old: Object | None = self.held.pop(key, None)
            if old is not None:
                for index in self._indexes.values():
                    index.put(key, old, None)
            if self._digests is not None:
                self._digests.pop(key, None)
            self.changes += 1
            return old

    def check_mutations(self) -> None:
        """Raise `CacheMutated` if an object's digest is not that of when it came in; never when the detector is off."""
        with self._lock:
            for key, digest in (self._digests or {}).items():
                if _digest(self.held[key]) != digest:
                    raise CacheMutated(f"cached object {key!r} was changed in place: {self.held[key]!r}")


class CachedObjects:
    """What is read of a cache by those who do not fill it."""

    def __init__(self, cache: ObjectCache) -> None:
        self._cache = cache

    def __len__(self) -> int:
        """Return how many objects the cache holds."""
        return len(self._cache.held)

    @property
    def changes(self) -> int:
        """How often the cache has changed: what was computed from it holds while the number is the same as before."""
        return self._cache.changes

    def get(self, namespace: str, name: str) -> Object | None:
        """Return a cached object, or None; the namespace is empty for cluster-scoped ones."""
        return self._cache.get(namespace, name)

    def list(self, namespace: str = "") -> Objects:
        """Return the cached objects of one namespace, or all."""
        return self._cache.list(namespace)

    def each(self) -> Iterator[Object]:
        """Yield all cached objects one by one: of tens of thousands, a list may be much larger than the cache."""
        return self._cache.each()

    def add_index(self, name: str, function: IndexFunction) -> None:
        """Keep an index by the values that `function` yields; ValueError if the name is another function's."""
        self._cache.add_index(name, function)

    def by_index(self, name: str, value: str) -> Objects:
        """Return the objects for which the index function yields `value`; KeyError if no such index was added."""
        return self._cache.by_index(name, value)

    def index_keys(self, name: str, value: str) -> Texts:
        """Return the keys, ``NAMESPACE/NAME``, of what `by_index` returns; KeyError if no such index was added."""
        return self._cache.index_keys(name, value)

    def index_values(self, name: str) -> Texts:
        """Return the values under which an index has an object; KeyError if no such index was added."""
        return self._cache.index_values(name)

    def index_size(self, name: str, value: str) -> int:
        """Return how many objects an index has under `value`; KeyError if no such index was added."""
        return self._cache.index_size(name, value)

    def check_mutations(self) -> None:
        """Raise `CacheMutated` when a cached object was changed and the detector is on."""
        self._cache.check_mutations()


def _digest(obj: Object) -> bytes:
    return hashlib.blake2b(orjson.dumps(obj, option=orjson.OPT_SORT_KEYS), digest_size=16).digest()
