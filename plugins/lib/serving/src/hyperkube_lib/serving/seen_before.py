"""Whether something came before, so that only what comes again is kept: most names are asked for once or twice."""

from __future__ import annotations

from array import array
from collections.abc import Hashable

_SLOTS = 8192
"""Of 4 bytes each: what else falls into a slot has the one before forgotten."""


class SeenBefore:
    """Remembers the latest things by a piece of their hashes, in 32 KiB once there is one.

    May be used by several threads: what a race loses is that something counts as new once more.
    """

    def __init__(self) -> None:
        self._slots: array[int] | None = None

    def __call__(self, thing: Hashable) -> bool:
        """Tell whether something came before, and note that it did. Seldom it is told of what did not."""
        slots = self._slots
        if slots is None:
            slots = self._slots = array("I", bytes(4 * _SLOTS))
        rest, slot = divmod(hash(thing) & 0x1FFF_FFFF_FFFF, _SLOTS)
        before, slots[slot] = slots[slot], rest
        return before == rest
