"""An informer's cache that keeps compressed what was not looked at lately: a pod of 3.2 KB in 0.3.

A controller works on a few hundred objects at a time, and tens of thousands rest. The latest are dicts, which share
nothing; the others are their JSON, compressed with another one of their resource as zlib's dictionary: 33 µs to press,
once for each object that comes to rest, 23 to read one again, which then counts as one of the latest. Who goes through
all of them changes nothing about that: use `each`, as a list of all would be dicts.

What comes out is as it went in, byte for byte, and read-only as ever; asked for twice, a cold object may be two dicts.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import orjson

from hyperkube.client.client import Client
from hyperkube.client.informer import CacheMaker
from hyperkube.client.interning import Interner
from hyperkube.client.object_cache import ObjectCache
from hyperkube.client.projected_list import ListsProjections
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, name_of, namespace_of

HOT = 256
"""Objects of a cache that are dicts, unless told otherwise."""
_LEVEL, _MEMORY = 3, 6
_WINDOW = 14
"""Two to the power of it is how far back zlib looks: for the dictionary and an object of 8 KB."""
_DICTIONARIES = 16
_FIRST_SPAN = 1000
"""Objects that the first dictionary serves; each later one serves twice as many as the one before it."""


def compressed(
    client: Client, hot: Mapping[GroupVersionResource, int | None]
) -> Callable[[GroupVersionResource], CacheMaker]:
    """Return what makes caches, for an `InformerFactory`.

    Args:
        client: the informers' own; one that has the objects in its process gets plain caches, as its lists come whole.
        hot: resource → how many of its objects are dicts, None for all of them; others have `HOT`.
    """

    def cache_of(resource: GroupVersionResource) -> CacheMaker:
        limit = hot.get(resource, HOT)
        if limit is None or isinstance(client, ListsProjections):
            return ObjectCache

        return partial(CompressedCache, hot=limit)

    return cache_of


class Press:
    """Compresses JSON of one kind; thread-safe but for `press`."""

    def __init__(self) -> None:
        self._dictionaries: list[bytes] = []
        self._left = 0

    def press(self, obj: Object) -> bytes:
        """Return an object compressed; it begins with the number of its dictionary."""
        text = orjson.dumps(obj)
        if not self._left and len(self._dictionaries) < _DICTIONARIES:
            # What is written changes with the weeks.
            self._left = _FIRST_SPAN << len(self._dictionaries)
            self._dictionaries.append(text[: 1 << (_WINDOW - 1)])
        self._left -= self._left > 0
        number = len(self._dictionaries) - 1
        pressed = zlib.compressobj(
            _LEVEL, zlib.DEFLATED, -_WINDOW, _MEMORY, zlib.Z_DEFAULT_STRATEGY, self._dictionaries[number]
        )
        return b"%c%b%b" % (number, pressed.compress(text), pressed.flush())

    def read(self, data: bytes) -> Object:
        """Return the object, which is the caller's."""
        text = zlib.decompressobj(-_WINDOW, self._dictionaries[data[0]]).decompress(memoryview(data)[1:])
        obj: Object = orjson.loads(text)
        return obj


class CompressedCache(ObjectCache):
    """Objects by namespace and name, the latest `hot` of them as dicts; thread-safe.

    `held` has dicts and bytes. A hot object becomes cold when it was the first to be put, or read while it was cold, of
    more than `hot`: reading a hot one costs no more than in other caches.
    """

    def __init__(self, interner: Interner | None = None, *, detect_mutations: bool = False, hot: int = HOT) -> None:
        super().__init__(interner, detect_mutations=detect_mutations)
        self._hot = hot
        # The hot ones in the order in which they became it, with what they were while cold if they are as they were.
        self._latest: OrderedDict[str, bytes | None] = OrderedDict()
        self._press = Press()

    def get(self, namespace: str, name: str) -> Object | None:
        """Return the object or None."""
        key = f"{namespace}/{name}"
        found = self.held.get(key)
        return self._warmed({key: found})[0] if type(found) is bytes else found

    def keep(self, obj: Object) -> Object:
        """Return `obj` as it is: to find what few hot ones have in common costs more than to compress them once."""
        return obj

    def by_index(self, name: str, value: str) -> list[Object]:
        """Return the objects for which the index function yields `value`."""
        with self._lock:
            keys = self._indexes[name].entries.get(value)
            if not keys:  # as for most labels of a pod that a controller asks for
                return []
            found = {key: self.held[key] for key in keys}
        if len(found) * 2 > self._hot:  # they would push out what they do not fill
            return [*map(self._read, found.values())]
        return self._warmed(found)

    def put(self, obj: Object, *, rests: bool = False) -> Object | None:
        """Hold an object that is the cache's from now on; return the one that it replaces.

        Args:
            obj: hot from now on, unless
            rests: it is one of a list, nothing is new.
        """
        key = f"{namespace_of(obj)}/{name_of(obj)}"
        with self._lock:
            old = self.at(key)
            self.held[key] = self._press.press(obj) if rests else obj
            self._latest.pop(key, None)
            if not rests:
                self._latest[key] = None
                self._cool()
            for index in self._indexes.values():
                index.put(key, old, obj)
            self.changes += 1
            return old

    def remove(self, namespace: str, name: str) -> Object | None:
        """Let go of an object; return what was held."""
        key = f"{namespace}/{name}"
        with self._lock:
            old = self.at(key)
            self.held.pop(key, None)
            if old is not None:
                for index in self._indexes.values():
                    index.put(key, old, None)
            self._latest.pop(key, None)
            self.changes += 1
            return old

    def _read(self, held: Any) -> Object:
        return self._press.read(held) if isinstance(held, bytes) else held

    def _warmed(self, found: Mapping[str, Any]) -> list[Object]:
        """Return the objects; those that were cold and are still held are hot from now on."""
        cold = {key: self._press.read(data) for key, data in found.items() if type(data) is bytes}
        if not cold:
            return [*found.values()]
        with self._lock:
            for key, obj in cold.items():
                if self.held.get(key) is found[key]:  # else it was put again or is gone meanwhile
                    self.held[key] = obj
                    self._latest[key] = found[key]
            self._cool()
        return [cold.get(key, obj) for key, obj in found.items()]

    def _cool(self) -> None:
        """Compress the first of the hot ones while there are too many; the lock is held."""
        while len(self._latest) > self._hot:
            key, data = self._latest.popitem(last=False)
            self.held[key] = data or self._press.press(self.held[key])


__all__ = ["HOT", "CompressedCache", "Press", "compressed"]
