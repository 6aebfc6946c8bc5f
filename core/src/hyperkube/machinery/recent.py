"""Results of the latest calls, so that what objects of one template share is computed once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

TEMPLATES, TEMPLATE_MAX = 256, 16 * 1024
"""How many templates are remembered at a place, and up to which size of their JSON or message in bytes."""

BUSY_TEMPLATES = 64
"""How many are remembered where each costs several times its JSON: the objects of one come in bursts."""


def exact(value: Any) -> Any:
    """Return bytes, or a tuple with some, that take no more memory than they need; anything else as it is.

    For what is kept: orjson's answers keep the room of the buffer that they were written into, 4 to 32 KiB.
    """
    if type(value) is tuple:
        return tuple(map(exact, value))
    return bytes(memoryview(value)) if type(value) is bytes else value


class Recent(Generic[Key, Value]):
    """A bounded map that forgets its oldest entry; for results that cost more than hashing what they depend on.

    Values are shared between all who ask: they must not be changed.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: dict[Key, Value] = {}
        self._lock = threading.Lock()
        self.get: Callable[[Key], Value | None] = self._entries.get
        """Returns what was kept, None if nothing was or it is forgotten: the map's own, as a call costs more."""

    def keep(self, key: Key, value: Value) -> Value:
        """Keep a value and return it."""
        with self._lock:
            while len(self._entries) >= self._size:
                del self._entries[next(iter(self._entries))]
            self._entries[exact(key)] = exact(value)
        return value


class Recurring(Recent[Key, Value]):
    """A map for what is worth keeping only if it comes again: what came once leaves nothing but its hash."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._seen: Recent[int, bool] = Recent(4 * size)

    def recurs(self, key: Key) -> bool:
        """Tell whether a key came before, as far as is remembered; of others with the same hash it may be said, too."""
        mark = hash(key)
        if self._seen.get(mark):
            return True
        self._seen.keep(mark, True)
        return False
