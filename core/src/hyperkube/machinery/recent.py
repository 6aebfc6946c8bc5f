"""Results of the latest calls, so that what objects of one template share is computed once."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Hashable
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakValueDictionary

Key = TypeVar("Key")
Value = TypeVar("Value")

TEMPLATES, TEMPLATE_MAX = 256, 16 * 1024
"""How many templates are remembered at a place, and up to which size of their JSON or message in bytes."""


class Forgetful(Protocol):
    """What remembers more than it needs."""

    def forget(self) -> None:
        """Let go of what can be made or learnt anew; called on any thread, while others use it."""


_forgetful: WeakValueDictionary[int, Forgetful] = WeakValueDictionary()
"""Of the whole process, as memory is."""


def forgets(holder: Forgetful) -> None:
    """Have a holder forget when the process has come to rest after work, as long as it lives."""
    _forgetful[id(holder)] = holder


def forget_all() -> None:
    """Have all holders forget."""
    for reference in _forgetful.valuerefs():
        if (holder := reference()) is not None:
            holder.forget()


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
        forgets(self)

    def forget(self) -> None:
        """Forget all."""
        with self._lock:
            self._entries.clear()

    def keep(self, key: Key, value: Value) -> Value:
        """Keep a value and return it."""
        with self._lock:
            while len(self._entries) >= self._size:
                del self._entries[next(iter(self._entries))]
            self._entries[exact(key)] = exact(value)
        return value


class SeenBefore:
    """Remembers the latest things by a piece of their hashes, so that only what comes again is kept; 32 KiB once used.

    May be used by several threads: what a race loses is that something counts as new once more.
    """

    _slots: array[int] | None = None

    def __call__(self, thing: Hashable) -> bool:
        """Tell whether something came before, and note that it did. Seldom it is told of what did not."""
        slots = self._slots = self._slots or array("I", bytes(4 * 8192))  # one that shares a slot ousts the other
        rest, slot = divmod(hash(thing) & 0x1FFF_FFFF_FFFF, 8192)
        before, slots[slot] = slots[slot], rest
        return before == rest
