"""How soon a call has its turn while others wait for theirs, see `hyperkube_lib.serving.turns`."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum


class Priority(Enum):
    """Of a call; what is low has a share of the turns all the same."""

    HIGH = "high"
    USUAL = "usual"
    LOW = "low"


def next_of(calls: deque[Callable[[], None]]) -> Callable[[], None] | None:
    """Take the first of calls that wait, None where there is none; another thread may take them, too."""
    try:
        return calls.popleft() if calls else None
    except IndexError:
        return None
