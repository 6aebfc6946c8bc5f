"""A map of what is asked for again within seconds.

Most objects have their own requests: a few when they are made, and then one in minutes, which finds nothing that would
be worth its place until then. So an entry is kept when its key comes a second time within `SECONDS`, and goes when it
was not asked for during as long again. Entries are in two generations: what is found in the old one becomes young, and
every `SECONDS` the young ones become old and the others go.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from math import inf
from typing import Generic, TypeVar

from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.recent import SeenBefore

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

SECONDS = 20.0
"""Of a generation: a kubelet renews its lease every ten, and an entry is kept for one to two generations."""


class AgingCache(Generic[Key, Value]):
    """Two generations of entries, bounded together; may be used by several threads, which lose an entry at worst.

    Attributes:
        get: the young ones' own, as a call costs more: returns a value, or None.
    """

    def __init__(self, size: int, monotonic: Callable[[], float] = SystemClock.monotonic) -> None:
        """Begin empty; `size` is how many entries there may be, `monotonic` returns seconds that never go back."""
        self._size = size
        self._monotonic = monotonic
        self._until = -inf
        self._generation = 0
        self._seen_before = SeenBefore()
        self.forget()

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def forget(self) -> None:
        """Forget all entries."""
        self._old: dict[Key, Value] = {}
        self._begin()

    def find(self, key: Key) -> Value | None:
        """Return what `get` did not have, from the old generation; it is young from then on. None if there is none."""
        now = self._monotonic()
        if now >= self._until:
            self._until = now + SECONDS
            self._age()
        value = self._old.pop(key, None)
        if value is not None:
            self._young[key] = value
        return value

    def keep(self, key: Key, value: Value, *, at_once: bool = False) -> None:
        """Keep a value that was not found, `at_once` or when its key comes a second time in this generation."""
        if self._seen_before((self._generation, key)) or at_once:
            if len(self) >= self._size:
                self._age()
            self._young[key] = value

    def _age(self) -> None:
        self._generation += 1
        self._old = self._young
        self._begin()

    def _begin(self) -> None:
        self._young: dict[Key, Value] = {}
        self.get: Callable[[Key], Value | None] = self._young.get
