"""A watch within the API server's own process: no socket, no frames, and nothing that has to be waited for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from hyperkube_host.apiserver.request.results import OpenedWatch
from hyperkube_host.apiserver.serializer.watch_stream import bookmark_object
from hyperkube_lib.serving.loop import TimeSlices
from hyperkube_lib.watch_cache.watchers import CacheEvent

from hyperkube.client.client import Taken, WatchEvent
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError

_BOOKMARK_SECONDS = 240.0
"""A reader that begins anew after less than that goes on where it was: its watch may last 5 to 10 minutes."""

REST_SECONDS = 0.002
"""How long a reader rests after a batch, so that a busy time costs its thread one waking a batch and not one an event:
each waking takes the interpreter away from the request that caused it. The first event in quiet times comes at once.
"""

TOGETHER = 5
"""Objects that are parsed, and events that are handed over, at once: a millisecond, with what informers do with them.

A reader of as many events comes back without a rest, but behind what the server's loop has to do.
"""


class InProcessWatch:
    """A watch to iterate on one thread, or to look at in passing; `close` it from any."""

    def __init__(self, watching: OpenedWatch, clock: Clock, slices: TimeSlices) -> None:
        self._watching = watching
        self._clock = clock
        self._slices = slices
        self._has_more = False
        # Only who iterates waits, for both: informers look in passing, thousands of them in one process.
        self._waited_for: tuple[threading.Event, ...] = ()
        self._closed = False
        self._deadline = clock.monotonic() + watching.seconds
        self._next_bookmark = clock.monotonic() + _BOOKMARK_SECONDS

    def __iter__(self) -> Iterator[WatchEvent]:
        """Yield events until the server ends the watch or `close` is called."""
        rung, closed = self._waited_for = threading.Event(), threading.Event()
        self._watching.signal.connect(rung.set)
        # `close` sets the flag first and the events then: it is seen here, or ends the wait below.
        while not self._closed:
            rung.clear()
            taken = self.take()
            for event in taken.events:
                if closed.is_set():
                    return
                yield event
            if taken.ended:
                return
            if taken.events:
                closed.wait(taken.seconds)  # of the machine's time, not the cluster's
            else:
                self._clock.wait(rung, taken.seconds)

    def connect(self, ring: Callable[[], None]) -> None:
        """Have `ring` called, from any thread, when there is something to take."""
        self._watching.signal.connect(ring)

    def take(self) -> Taken:
        """Return what there is by now, without waiting."""
        watch = self._watching.watch
        if self._closed:
            return Taken([], ended=True)
        if watch is None:
            return self._end()
        if self._has_more:
            self._slices.rest()
        records = watch.drain(TOGETHER)
        self._has_more = len(records) == TOGETHER
        if records:
            return self._parsed_up_to_an_error(records)
        now = self._clock.monotonic()
        if watch.ended or now >= self._deadline:
            return self._end()
        if now >= self._next_bookmark:
            self._next_bookmark = now + _BOOKMARK_SECONDS
            mark = watch.bookmark() if self._watching.bookmarks else None
            if mark is not None:
                return Taken([self._parsed(mark)], seconds=REST_SECONDS)
        return Taken([], seconds=min(self._deadline, self._next_bookmark) - now)

    def close(self) -> None:
        """End the iteration, also when it is blocked; idempotent."""
        self._closed = True
        if self._watching.watch is not None:
            self._watching.watch.close()
        for event in self._waited_for:
            event.set()

    def _end(self) -> Taken:
        watch = self._watching.watch
        error = self._watching.error or (watch.error if watch is not None else None)
        return Taken([] if error is None else [WatchEvent("ERROR", error.status())], ended=True)

    def _parsed_up_to_an_error(self, records: list[CacheEvent]) -> Taken:
        events: list[WatchEvent] = []
        try:
            seen = self._watching.selected(records)
        except ApiError as error:  # what the watch selects by could not be known
            return Taken([WatchEvent("ERROR", error.status())], ended=True)
        for record in seen:
            events.append(self._parsed(record))
            if events[-1].type == "ERROR":
                return Taken(events, ended=True)
        return Taken(events, seconds=0.0 if self._has_more else REST_SECONDS)

    def _parsed(self, event: CacheEvent) -> WatchEvent:
        served = self._watching.served
        if event.object is None:
            mark = bookmark_object(served, event.revision, initial_end=event.initial_end, zero_values=False)
            return WatchEvent("BOOKMARK", mark)
        try:
            return WatchEvent(event.kind, served.parsed(event.object))  # type: ignore[arg-type]  # the cache's words
        except ApiError as error:  # who converts it could not
            return WatchEvent("ERROR", error.status())
