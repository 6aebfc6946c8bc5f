"""How soon a call has its turn while others wait for theirs, see `hyperkube_lib.serving.turns`."""

from __future__ import annotations

from collections import deque
from enum import Enum
from typing import Generic, TypeVar

Waiting = TypeVar("Waiting")


USUAL_BEFORE_LOW = 2
"""Usual calls between two of low priority, where both wait."""


class Priority(Enum):
    """Of a call; what is low has a share of the turns all the same."""

    HIGH = "high"
    USUAL = "usual"
    LOW = "low"


def next_of(waiting: deque[Waiting]) -> Waiting | None:
    """Take the first of those that wait, None where there is none; another thread may take them, too."""
    try:
        return waiting.popleft() if waiting else None
    except IndexError:
        return None


class WaitingCalls(Generic[Waiting]):
    """Calls that wait, of one thread: a high one goes before each usual one, a low one after each second of those.

    Those of one priority go in the order in which they came.
    """

    def __init__(self) -> None:
        self._high: deque[Waiting] = deque()
        self._usual: deque[Waiting] = deque()
        self._low: deque[Waiting] = deque()
        self._was_high = False
        self._since_low = 0

    def __len__(self) -> int:
        return len(self._high) + len(self._usual) + len(self._low)

    def put(self, call: Waiting, priority: Priority) -> None:
        """Have a call wait."""
        if priority is Priority.USUAL:  # compared by identity: a member's hash is a call
            self._usual.append(call)
        elif priority is Priority.HIGH:
            self._high.append(call)
        else:
            self._low.append(call)

    def take(self) -> tuple[Waiting, Priority]:
        """Take the next one; there must be one."""
        if self._high and not (self._was_high and self._usual):
            self._was_high = True
            return self._high.popleft(), Priority.HIGH
        if self._low and (self._since_low >= USUAL_BEFORE_LOW or not self._usual):
            self._since_low = 0
            return self._low.popleft(), Priority.LOW
        self._was_high = False
        self._since_low += 1
        return self._usual.popleft(), Priority.USUAL
