"""Time arrives as an object, so that a cluster's time can be faked.

``time.*`` and ``threading.Timer`` are forbidden elsewhere by lint. The real clock is `SystemClock`; its twin for
tests is `FakeClock`, which only moves when told to and then wakes the threads that were waiting.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol

_LOGGER = logging.getLogger("hyperkube.clock")


class Timer(Protocol):
    """A call that has been put off and may still be cancelled."""

    def cancel(self) -> None:
        """Do not call any more; harmless when the call was already made."""


class Clock(Protocol):
    """Wall time, monotonic time, waiting and timers."""

    def now(self) -> datetime:
        """Return the wall time, aware, in UTC."""

    def monotonic(self) -> float:
        """Return seconds that never go back, from an arbitrary start."""

    def wait(self, event: threading.Event, timeout: float | None) -> bool:
        """Wait until `event` is set or `timeout` seconds of this clock passed; tell whether it is set."""

    def sleep(self, seconds: float) -> None:
        """Let `seconds` of this clock pass."""

    def call_later(self, seconds: float, call: Callable[[], None]) -> Timer:
        """Make `call` after `seconds`, on a thread of the clock's; it must be short and must not raise."""


class _Call:
    """One entry of a timer queue."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call: Callable[[], None] | None = call

    def cancel(self) -> None:
        self._call = None

    def run(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            call()


class SystemClock:
    """The machine's clock; one daemon thread, started with the first timer, makes all put-off calls."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._order = itertools.count()
        self._calls: list[tuple[float, int, _Call]] = []
        self._thread: threading.Thread | None = None
        self._closed = False

    def now(self) -> datetime:
        """Return the wall time in UTC."""
        return datetime.now(UTC)

    monotonic = staticmethod(time.monotonic)  # C's own, in seconds: each request asks several times

    def wait(self, event: threading.Event, timeout: float | None) -> bool:
        """Wait for the event, at most `timeout` real seconds."""
        return event.wait(timeout if timeout is None else min(timeout, threading.TIMEOUT_MAX))

    def sleep(self, seconds: float) -> None:
        """Sleep for real."""
        time.sleep(min(seconds, threading.TIMEOUT_MAX))

    def call_later(self, seconds: float, call: Callable[[], None]) -> Timer:
        """Put `call` off by `seconds`."""
        entry = _Call(call)
        with self._condition:
            if self._closed:
                return entry
            heapq.heappush(self._calls, (time.monotonic() + seconds, next(self._order), entry))
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="clock", daemon=True)
                self._thread.start()
            if self._calls[0][2] is entry:  # else the thread wakes early enough
                self._condition.notify()
        return entry

    def close(self) -> None:
        """Drop all put-off calls, take no more, and end the thread: for the owner of the clock, at the end."""
        with self._condition:
            self._closed = True
            self._calls.clear()
            self._condition.notify()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        while True:
            with self._condition:
                while not self._calls and not self._closed:
                    self._condition.wait()
                if self._closed:
                    return
                remaining = self._calls[0][0] - time.monotonic()
                if remaining > 0:
                    self._condition.wait(min(remaining, threading.TIMEOUT_MAX))
                    continue
                entry = heapq.heappop(self._calls)[2]
            try:
                entry.run()
            except Exception:  # one call must not take the time of all others along
                _LOGGER.exception("a put-off call failed")


class FakeClock:
    """A clock that stands still until `advance`; the twin of `SystemClock` for tests.

    `wait` and `sleep` block a thread until another one advances the clock far enough; timers run on the thread that
    advances, in the order of their times.
    """

    def __init__(self, start: datetime | None = None) -> None:
        self._condition = threading.Condition()
        self._start = start or datetime(2030, 1, 1, tzinfo=UTC)
        self._elapsed = 0.0
        self._order = itertools.count()
        self._calls: list[tuple[float, int, _Call]] = []

    def now(self) -> datetime:
        """Return the start plus all advances."""
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        """Return the seconds advanced so far."""
        return self._elapsed

    def wait(self, event: threading.Event, timeout: float | None) -> bool:
        """Wait for the event or for enough advances; polls the event every 2 ms of real time."""
        deadline = None if timeout is None else self._elapsed + timeout
        while not event.is_set():
            with self._condition:
                if deadline is not None and self._elapsed >= deadline:
                    break
                self._condition.wait(0.002)
        return event.is_set()

    def sleep(self, seconds: float) -> None:
        """Block until the clock was advanced by `seconds`."""
        self.wait(threading.Event(), seconds)

    def call_later(self, seconds: float, call: Callable[[], None]) -> Timer:
        """Make `call` in the `advance` that passes its time."""
        entry = _Call(call)
        with self._condition:
            heapq.heappush(self._calls, (self._elapsed + seconds, next(self._order), entry))
        return entry

    def advance(self, seconds: float) -> None:
        """Move time on, making the due calls in order at their own times."""
        target = self._elapsed + seconds
        while True:
            with self._condition:
                if not self._calls or self._calls[0][0] > target:
                    self._elapsed = target
                    self._condition.notify_all()
                    return
                due, _, entry = heapq.heappop(self._calls)
                self._elapsed = max(self._elapsed, due)
                self._condition.notify_all()
            entry.run()
