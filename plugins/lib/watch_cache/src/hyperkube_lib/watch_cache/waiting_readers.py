"""Readers that wait until the cache has what they must see: each is told when it has, and not before.

A reader may be a thread, or a request that waits without one: it leaves a function that is called once, from any
thread, and must be short. Readers are kept by the revision that they wait for, so that a change wakes those alone whose
revision it reaches.

A remote store tells its revision only when it is asked, and what it writes outside of the watched range reaches the
cache only when its watch is asked. Both is done by one thread for all: `RemoteReaders`. One question answers all who
came before it was sent; those that come meanwhile share the next.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeAlias

from hyperkube_lib.watch_cache.cache_source import too_large

from hyperkube.machinery.clock import Clock
from hyperkube.storage.store import StoreError, StoreUnavailable

FIRST_WAIT_SECONDS = 0.02
"""How long nothing is delivered before a remote store's watch is asked how far it is."""

PROGRESS_SECONDS = 0.1
"""How often it is asked again."""

Reached: TypeAlias = Callable[[Exception | None], None]
"""Told once that the cache has what a reader waits for, or why it has not."""


class WaitingReaders:
    """Those who wait for a revision of the cache.

    Args:
        clock: for time-outs.
        applied: returns the revision that the cache has.
        timeout: seconds until a reader is told that its revision is too large.
    """

    def __init__(self, clock: Clock, applied: Callable[[], int], timeout: float) -> None:
        self._clock = clock
        self._applied = applied
        self._timeout = timeout
        self._lock = threading.Lock()
        self._order = itertools.count()
        self._closed = False
        self.waiting: list[tuple[int, int, float, Sequence[Reached]]] = []
        """A heap of (revision, order of arrival, until when, readers)."""

    def add(self, revision: int, readers: Sequence[Reached]) -> None:
        """Tell readers when a revision is reached."""
        until = self._clock.monotonic() + self._timeout
        with self._lock:
            heapq.heappush(self.waiting, (revision, next(self._order), until, readers))
        # The cache may have reached the revision just before they were in the heap, and then tells them no more. Who
        # moves it on does so before looking at the heap: so either they are seen there, or the new revision here.
        if self._closed or self._applied() >= revision:
            self.reach()

    def reach(self) -> None:
        """Tell those whose revision the cache has by now; all of them after `close`."""
        told: list[tuple[int, Sequence[Reached]]] = []
        with self._lock:
            applied = self._applied()
            while self.waiting and (self._closed or self.waiting[0][0] <= applied):
                revision, _, _, readers = heapq.heappop(self.waiting)
                told.append((revision, readers))
        for revision, readers in told:  # without the lock: they may come back at once
            error = too_large(revision, applied) if revision > applied else None
            for reader in readers:
                reader(error)

    def expire(self, now: float) -> None:
        """Tell those whose time is up."""
        with self._lock:
            late = [entry for entry in self.waiting if entry[2] <= now]
            if late:
                self.waiting = [entry for entry in self.waiting if entry[2] > now]
                heapq.heapify(self.waiting)
        for revision, _, _, readers in late:
            for reader in readers:
                reader(too_large(revision, self._applied()))

    def fail(self, error: Exception) -> None:
        """Tell all of them that there is no hope."""
        with self._lock:
            failed, self.waiting = self.waiting, []
        for entry in failed:
            for reader in entry[3]:
                reader(error)

    def wait(self, revision: int) -> None:
        """Block until the cache has reached a revision.

        Raises:
            Timeout: not in time.
        """
        waiter = Waiter()
        self.add(revision, [waiter])
        if not self._clock.wait(waiter.told, self._timeout):
            raise too_large(revision, self._applied())
        waiter.result()

    def close(self) -> None:
        """Let none wait any more, now and later."""
        self._closed = True
        self.reach()


class Waiter:
    """A thread that waits to be told."""

    def __init__(self) -> None:
        self.told = threading.Event()
        self._error: Exception | None = None

    def __call__(self, error: Exception | None) -> None:
        """Let the thread go on."""
        self._error = error
        self.told.set()

    def result(self) -> None:
        """Raise what it was told."""
        if self._error is not None:
            raise self._error


class RemoteReaders:
    """The thread that asks a remote store what its revision is, and its watch how far it is, for all who wait.

    Args:
        readers: those who wait for a revision; told too late by this thread.
        clock: for pauses.
        revision: asks the store.
        applied: returns the revision that the cache has.
        request_progress: asks the watch; its answer is a delivery.
    """

    def __init__(
        self,
        readers: WaitingReaders,
        clock: Clock,
        revision: Callable[[], int],
        applied: Callable[[], int],
        request_progress: Callable[[], None],
    ) -> None:
        self._readers = readers
        self._clock = clock
        self._revision = revision
        self._applied = applied
        self._request_progress = request_progress
        self._asking: deque[Reached] = deque()
        self._wake = threading.Event()
        self._closed = False
        self._seen = -1
        self._quiet_since = 0.0
        self._ask_at = 0.0
        self._thread = threading.Thread(target=self._run, name="waiting-readers", daemon=True)
        self._thread.start()

    def when_current(self, reader: Reached) -> None:
        """Tell a reader when the cache has all that the store had when this was called."""
        self._asking.append(reader)
        self._wake.set()
        if self._closed:  # the thread may have ended without having seen it
            self._refuse()

    def wait(self, revision: int | None) -> None:
        """Block until the cache has reached a revision; None for the store's current one.

        Raises:
            Timeout: not in time.
            StoreError: the store does not answer.
        """
        waiter = Waiter()
        if revision is None:
            self.when_current(waiter)
        else:
            self._readers.add(revision, [waiter])
            self._wake.set()
        self._clock.wait(waiter.told, None)
        waiter.result()

    def close(self) -> None:
        """End the thread; who asks now or later is refused. Does not wait for an answer of the store."""
        self._closed = True
        self._wake.set()
        self._refuse()

    def _run(self) -> None:
        pause: float | None = None
        while not self._closed:
            self._clock.wait(self._wake, pause)
            # Cleared before the look at who asks: who comes after it sets it again.
            self._wake.clear()
            if self._asking:
                self._ask()
            pause = self._look_after()

    def _ask(self) -> None:
        """Find out what those who ask wait for: who comes from now on may want more than the answer."""
        asked = self._taken()
        try:
            revision = self._revision()
        except StoreError as error:
            for reader in asked:
                reader(error)
            return
        self._readers.add(revision, asked)

    def _taken(self) -> list[Reached]:
        """Take those who ask now. One by one: an append that is under way must end up here or stay, and not between."""
        asked, count = list[Reached](), len(self._asking)
        with suppress(IndexError):  # `close` may take them, too
            while len(asked) < count:
                asked.append(self._asking.popleft())
        return asked

    def _refuse(self) -> None:
        for reader in self._taken():
            reader(StoreUnavailable("the store is closed"))

    def _look_after(self) -> float | None:
        """See to it that those who wait for a revision are told one day; return when to look again."""
        readers, now, applied = self._readers, self._clock.monotonic(), self._applied()
        if not readers.waiting:
            self._seen = -1
            return None
        readers.expire(now)
        if applied != self._seen:  # also when the first of them has come: the watch may be about to deliver
            self._seen, self._quiet_since = applied, now
        elif now >= max(self._quiet_since + FIRST_WAIT_SECONDS, self._ask_at):
            self._ask_at = now + PROGRESS_SECONDS
            try:
                self._request_progress()
            except StoreError as error:
                readers.fail(error)
        return FIRST_WAIT_SECONDS
