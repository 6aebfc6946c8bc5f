"""The recent changes of one resource: what a watcher that comes back has missed, and how the past looked.

Kept by age, so that a busy resource remembers as long as a quiet one, within a budget of bytes. What goes beyond a part
of the budget is packed: so eight MiB of pods that change 250 times a second reach back for a minute, not for six
seconds, and a watch that comes back needs nothing of the store.
Source of the idea: kubernetes apiserver ``pkg/storage/cacher/watch_cache.go`` (a ring sized by age).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import takewhile
from math import inf
from typing import NamedTuple

from hyperkube_lib.watch_cache.cached_object import CachedObject
from hyperkube_lib.watch_cache.packing import Packer
from hyperkube_lib.watch_cache.watchers import DELETED, CacheEvent

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.recent import forgets


class HistoryLimits(NamedTuple):
    """How much of the past one resource keeps.

    Attributes:
        events: this many are kept however old they are.
        seconds: younger ones are kept as well,
        size: as long as the old bodies they hold are less than this many bytes.
        is_all: whether no more than `events` are taken from the store's own history.
    """

    events: int = 100
    seconds: float = 75.0
    size: int = 8 * 1024 * 1024
    is_all: bool = False


_LOOSE = 4
"""The part of the budget, as a divisor, up to which old bodies are kept as they are."""

_MOST_LOOSE = 2
"""The part up to which they may wait for the clock's thread to pack them."""

STEP_SECONDS = 0.5
"""How exactly it is known when an event came: those of one step share the number, of 32 bytes."""

PACK_SECONDS, _AT_ONCE = 0.05, 64
"""How long after a change its bodies are packed, and how many events at a time: a timer for each costs more."""


class Beside(NamedTuple):
    """What a history needs to pack beside the changes that it is told of: the lock it is used under, and a clock."""

    lock: AbstractContextManager[object]
    clock: Clock


class EventHistory:
    """Events in order; used under the lock of its cache.

    The invariant: every change of the resource after `complete_from` is here, and nothing at or before it is promised.
    So a watch can be resumed from `complete_from` or later, and from nowhere earlier.
    `_loose` are those of the events, in order, whose old bodies are not packed, with what these weigh.

    Args:
        limits: how much it keeps.
        packer: of its cache.
        complete_from: where it begins.
        beside: with it bodies are mostly packed on the clock's thread: a change that waited for zlib to get the
            interpreter back would keep all that come after it waiting.
    """

    def __init__(
        self, limits: HistoryLimits, packer: Packer, complete_from: int = 0, *, beside: Beside | None = None
    ) -> None:
        self._limits = limits
        self._packer = packer
        # Made with the first entry: most resources of a cluster never change, and an empty deque is 650 bytes.
        self._events: deque[CacheEvent] | tuple[()] = ()
        self._loose: deque[tuple[CacheEvent, int]] | tuple[()] = ()
        self._size = self._loose_size = 0
        self._now = -inf
        self._beside = beside
        self._is_packing = False
        self._packed: CacheEvent | None = None
        """The event that is being packed, while it is remembered."""
        self.complete_from = complete_from

    def __len__(self) -> int:
        return len(self._events)

    def restart(self, complete_from: int) -> None:
        """Forget everything: the past begins at `complete_from`."""
        self._events = self._loose = ()
        self._packed = None
        self._size = self._loose_size = 0
        self.complete_from = complete_from

    def append(self, event: CacheEvent, now: float) -> None:
        """Remember one more event, in place of what the limits do not cover any more."""
        if now - self._now >= STEP_SECONDS:
            self._now = now
        event.at = self._now
        if not self._events:
            self._events = deque()
            forgets(self)
        self._events.append(event)
        if held := _held_by(event):
            for obj in held:
                obj.settle()  # or what it weighs would change when it is read
            weight = _weight(event)
            self._loose = self._loose or deque()
            self._loose.append((event, weight))
            self._size += weight
            self._loose_size += weight
            self._pack(_LOOSE if self._beside is None else _MOST_LOOSE)
            if self._beside is not None and self._is_heavy and not self._is_packing:
                self._is_packing = True
                self._beside.clock.call_later(PACK_SECONDS, self._pack_beside)
        self.trim(now)

    def trim(self, now: float) -> None:
        """Forget what the limits do not cover any more."""
        limits, events = self._limits, self._events
        while (
            events
            and len(events) > limits.events
            and (self._size > limits.size or events[0].at <= now - limits.seconds)
        ):
            old = events.popleft()
            self._size -= _weight(old)
            if old is self._packed:
                self._packed = None
            if self._loose and self._loose[0][0] is old:
                self._loose_size -= self._loose.popleft()[1]
            # The change itself is gone: complete is what comes after it.
            self.complete_from = old.revision

    def forget(self) -> None:
        """Forget what the limits do not cover, when all rests."""
        if self._beside is not None:
            lock, clock = self._beside
            with lock:
                self.trim(clock.monotonic())

    def prepend(self, events: Sequence[CacheEvent], complete_from: int, until: int) -> bool:
        """Remember events from before the history's start, `until`, unless they are too many.

        Returns:
            False if the start has moved meanwhile: then nothing happened, and they must be read again.
        """
        # The store was asked without the lock: meanwhile the limits may have dropped events, or another watch may have
        # prepended its own. In both cases these would leave a gap, or be there twice.
        if until != self.complete_from:
            return False
        if self._limits.is_all and len(self._events) + len(events) > self._limits.events:
            return True
        now = self._events[0].at if self._events else 0.0
        for event in events:
            event.at = now
        self._events = self._events or deque()
        self._events.extendleft(reversed(events))
        loose = [(event, weight) for event in reversed(events) if (weight := _weight(event))]
        if loose:
            self._loose = self._loose or deque()
            self._loose.extendleft(loose)
        added = sum(weight for _, weight in loose)
        self._size += added
        self._loose_size += added
        self._pack(_LOOSE)
        self.complete_from = complete_from
        return True

    def after(self, revision: int) -> list[CacheEvent]:
        """Return the events after `revision`, oldest first; `revision` is at least `complete_from`."""
        events = list(self._newest_first(revision))
        events.reverse()
        return events

    def undone_to(self, revision: int) -> dict[str, CachedObject | None]:
        """Return the objects that were different at `revision`, by key; None for one that was not there."""
        past: dict[str, CachedObject | None] = {}
        for event in self._newest_first(revision):
            if event.object is not None:
                past[event.object.key] = event.previous
        return past

    def pack_cold(self, revision: int) -> Iterator[None]:
        """Forget what the limits do not cover, and pack what events up to a revision hold; yields between two pieces.

        A resource that rests keeps its last events for long, and hardly a watch asks for them. On the clock's thread,
        without the lock.
        """
        assert self._beside is not None  # noqa: S101  who packs beside has told how
        lock, clock = self._beside
        with lock:
            self.trim(clock.monotonic())
        while True:
            for _ in range(_AT_ONCE):
                with lock:
                    if not self._loose or self._loose[0][0].revision > revision:
                        return
                    event, weight = self._take_loose()
                    self._packed = event
                self._pack_taken(event, weight, lock)
            yield

    @property
    def _is_heavy(self) -> bool:
        return self._loose_size > self._limits.size // _LOOSE and bool(self._loose)

    def _pack(self, part: int) -> None:
        """Pack what the oldest events hold, down to a part of the budget."""
        most = self._limits.size // part
        while self._loose_size > most and self._loose:
            event, weight = self._take_loose()
            for obj in _held_by(event):
                obj.pack(self._packer, stays=True)
            self._size += _weight(event) - weight

    def _take_loose(self) -> tuple[CacheEvent, int]:
        assert self._loose  # noqa: S101  both callers have looked
        event, weight = self._loose.popleft()
        self._loose_size -= weight
        return event, weight

    def _pack_beside(self) -> None:
        """Pack what some of the oldest events hold, and come back for the others; without the lock, on a timer."""
        assert self._beside is not None  # noqa: S101  it has begun the timer
        lock, clock = self._beside
        for _ in range(_AT_ONCE):
            with lock:
                if not self._is_heavy:
                    self._is_packing = False
                    return
                event, weight = self._take_loose()
                self._packed = event
            self._pack_taken(event, weight, lock)
        clock.call_later(PACK_SECONDS, self._pack_beside)

    def _pack_taken(self, event: CacheEvent, weight: int, lock: AbstractContextManager[object]) -> None:
        """Pack what the event holds that is `_packed`; without the lock."""
        bodies = [(obj, obj.packed(self._packer, stays=True)) for obj in _held_by(event)]
        with lock:
            for obj, exchange in bodies:
                obj.exchange(exchange, self._packer)
            if self._packed is event:  # else it was forgotten meanwhile, with what it weighed then
                self._size += _weight(event) - weight
                self._packed = None

    def _newest_first(self, revision: int) -> Iterator[CacheEvent]:
        return takewhile(lambda event: event.revision > revision, reversed(self._events))


def _held_by(event: CacheEvent) -> list[CachedObject]:
    """Return what only the history holds: the object that was replaced, and that of a deletion event."""
    held = [event.previous] if event.previous else []
    return [*held, event.object] if event.kind == DELETED and event.object else held


def _weight(event: CacheEvent) -> int:
    """Return the bytes of the bodies that only the history holds."""
    held = event.previous.held if event.previous else 0
    return held + (event.object.held if event.kind == DELETED and event.object else 0)
