"""Which cache a key of the store belongs to: asked for each change, by the one who delivers it."""

from __future__ import annotations

from hyperkube_lib.watch_cache.resource_cache import ResourceCache

_MOST_FOLDERS = 1024
"""Namespaces of resources whose cache is remembered."""


class CachesByPrefix(dict[str, ResourceCache]):
    """The caches of resources by the prefixes of their keys; it never changes, so that what is known of a key holds."""

    def __init__(self, caches: dict[str, ResourceCache]) -> None:
        super().__init__(caches)
        self._known: dict[str, ResourceCache] = {}

    def of(self, key: str) -> ResourceCache | None:
        """Return the cache with the longest prefix of a key."""
        end = key.rfind("/")
        folder = key[: end + 1]
        cache = self._known.get(folder)
        if cache is None and (cache := self._longest(key, end)) is not None:
            if len(self._known) >= _MOST_FOLDERS:
                self._known.clear()
            self._known[folder] = cache
        return cache

    def _longest(self, key: str, end: int) -> ResourceCache | None:
        while end > 0:
            cache = self.get(key[: end + 1])
            if cache is not None:
                return cache
            end = key.rfind("/", 0, end)
        return None
