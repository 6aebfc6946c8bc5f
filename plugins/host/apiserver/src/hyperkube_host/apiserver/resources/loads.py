"""What is read from the store into a cache for a reader who wants it parsed: one parse serves both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import TypeAlias

import orjson
from hyperkube_lib.watch_cache.cached_object import CachedObject

from hyperkube.machinery.objects import Object

Tell: TypeAlias = Callable[[CachedObject, Object], None]
"""Takes what the cache keeps, and the object as it was parsed for that: without ``resourceVersion``, and to keep."""


class Loads:
    """The readers of one resource's objects, by the thread that reads for them: a cache is filled by who asks first."""

    def __init__(self) -> None:
        self._readers: dict[int, Tell] = {}
        self._parsed: dict[int, Object] = {}

    @contextmanager
    def telling(self, tell: Tell) -> Iterator[None]:
        """Call `tell` with each object that this thread reads into the cache within the context."""
        thread = get_ident()
        self._readers[thread] = tell
        try:
            yield
        finally:
            del self._readers[thread]
            self._parsed.pop(thread, None)

    def parsed(self, value: bytes) -> Object | None:
        """Return the object of a value that is read for a reader, else None.

        Raises:
            orjson.JSONDecodeError: it is not JSON.
        """
        if not self._readers or (thread := get_ident()) not in self._readers:
            return None
        obj: Object = orjson.loads(value)
        self._parsed[thread] = obj
        return obj

    def made(self, cached: CachedObject) -> None:
        """Tell the reader, if there is one, what the cache keeps of the object that was parsed for it last."""
        if not self._readers or (tell := self._readers.get(thread := get_ident())) is None:
            return
        # Taken, not read: what a writer hands on in this thread's turn is the writer's, and was not parsed here.
        obj = self._parsed.pop(thread, None)
        if obj is not None:
            tell(cached, obj)
