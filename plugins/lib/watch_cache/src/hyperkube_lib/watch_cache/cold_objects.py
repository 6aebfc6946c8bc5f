"""Packs the objects that have not changed for a while: most of a large cluster, of which little is read.

What is read is unpacked until the next round, so that an object that is read all the time costs no more than one
packing a round, and a cluster at rest takes a fraction of what it took under load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hyperkube_lib.watch_cache.cached_object import CachedObject

from hyperkube.machinery.clock import Clock, Timer

PERIOD_SECONDS = 60.0
"""From the end of one round to the next: what has not changed in that time is packed."""

PAUSE_SECONDS = 0.05
"""Between two pieces of a round, which take a millisecond or three: the clock's thread has others waiting, and a round
through 200,000 objects that were just read is to take a twentieth of a core, not a seventh, from requests."""

_PACKED, _LOOKED_AT = 100, 5000
"""Objects that are packed, or looked at, in a piece."""


def in_pieces(objects: Sequence[CachedObject], revision: int, pack: Callable[[CachedObject], None]) -> Iterator[None]:
    """Pack those of the objects that have not changed since a revision; yields between two pieces of the work."""
    packed = 0
    for count, obj in enumerate(objects, 1):
        if obj.revision <= revision and obj.is_loose:
            packed += 1
            pack(obj)
        if packed == _PACKED or not count % _LOOKED_AT:
            packed = 0
            yield


class ColdObjects:
    """Rounds through all objects, in pieces on the clock's thread.

    Args:
        clock: calls for each piece.
        revision: returns the current one.
        pack: packs what has not changed since a revision, a piece for each step of the iterator.
    """

    def __init__(self, clock: Clock, revision: Callable[[], int], pack: Callable[[int], Iterator[None]]) -> None:
        self._clock = clock
        self._revision = revision
        self._pack = pack
        self._last = 0
        self._pieces: Iterator[None] = iter(())
        self._timer: Timer | None = None
        self._closed = False

    def start(self) -> None:
        """Begin to wait for the first round."""
        self._last = self._revision()
        self._call(PERIOD_SECONDS)

    def close(self) -> None:
        """Begin no further piece."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()

    def _round(self) -> None:
        if not self._closed:
            last, self._last = self._last, self._revision()
            self._pieces = self._pack(last)
            self._go_on()

    def _go_on(self) -> None:
        if next(self._pieces, _END) is _END:
            self._call(PERIOD_SECONDS)
        elif not self._closed:
            self._timer = self._clock.call_later(PAUSE_SECONDS, self._go_on)

    def _call(self, seconds: float) -> None:
        if not self._closed:
            self._timer = self._clock.call_later(seconds, self._round)


_END = object()
