"""How soon a call has its turn while others wait for theirs, see `hyperkube_lib.serving.turns`."""

from __future__ import annotations

from collections import deque
from enum import Enum
from typing import TypeVar

Waiting = TypeVar("Waiting")


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
