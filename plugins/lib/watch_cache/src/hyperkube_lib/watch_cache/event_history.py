"""The recent changes of one resource: what a watcher that comes back has missed, and how the past looked.

Kept by age, so that a busy resource remembers as long as a quiet one, within a budget of bytes.
Source of the idea: kubernetes apiserver ``pkg/storage/cacher/watch_cache.go`` (a ring sized by age).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from hyperkube_lib.watch_cache.cached_object import CachedObject
from hyperkube_lib.watch_cache.watchers import DELETED, CacheEvent


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


class EventHistory:
    """Events in order; used under the lock of its cache.

    The invariant: every change of the resource after `complete_from` is here, and nothing at or before it is promised.
    So a watch can be resumed from `complete_from` or later, and from nowhere earlier.
    """

    def __init__(self, limits: HistoryLimits, complete_from: int = 0) -> None:
        self._limits = limits
        self._events: deque[tuple[float, CacheEvent]] = deque()
        self._size = 0
        self.complete_from = complete_from

    def __len__(self) -> int:
        return len(self._events)

    def restart(self, complete_from: int) -> None:
        """Forget everything: the past begins at `complete_from`."""
        self._events.clear()
        self._size = 0
        self.complete_from = complete_from

    def append(self, event: CacheEvent, now: float) -> None:
        """Remember one more event and forget what the limits do not cover any more."""
        self._events.append((now, event))
        self._size += _weight(event)
        limits, events = self._limits, self._events
        while len(events) > limits.events and (self._size > limits.size or events[0][0] <= now - limits.seconds):
            _, old = events.popleft()
            self._size -= _weight(old)
            # The change itself is gone: complete is what comes after it.
            self.complete_from = old.revision

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
        now = self._events[0][0] if self._events else 0.0
        self._events.extendleft((now, event) for event in reversed(events))
        self._size += sum(map(_weight, events))
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

    def _newest_first(self, revision: int) -> Iterator[CacheEvent]:
        newest_first = (event for _, event in reversed(self._events))
        return takewhile(lambda event: event.revision > revision, newest_first)


def _weight(event: CacheEvent) -> int:
    """Return the bytes that only the history holds: the body that was replaced, and that of a deletion event."""
    held = len(event.previous.body) if event.previous else 0
    return held + (len(event.object.body) if event.kind == DELETED and event.object else 0)
