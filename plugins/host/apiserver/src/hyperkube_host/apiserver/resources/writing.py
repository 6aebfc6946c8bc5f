"""An object on its way into the store, as the watch cache may take it without parsing."""

from __future__ import annotations

from typing import Self

from hyperkube_lib.watch_cache.cached_object import CachedObject

from hyperkube.machinery.objects import Object


class Writing:
    """An object while its value is being stored: the watch cache takes labels and fields from it, without parsing.

    A store of this process hands the very bytes on to the cache before the write returns: so what the cache makes of
    them is there for the answer.

    Attributes:
        cached: the object as the cache has it now; None where it has none, or in another version.
    """

    __slots__ = ("_all", "cached", "obj", "value")

    def __init__(self, value: bytes, obj: Object, everything: dict[int, Writing]) -> None:
        self.value = value
        self.obj = obj
        self.cached: CachedObject | None = None
        self._all = everything

    def __enter__(self) -> Self:
        self._all[id(self.value)] = self
        return self

    def __exit__(self, *_: object) -> None:
        del self._all[id(self.value)]
