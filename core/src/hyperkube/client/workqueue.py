"""The queue between what happened and what must be looked at again: keys, not events.

A key that is waiting is held once, however often it is added. A key that is being worked on is never handed to a
second worker; added meanwhile, it comes back when the first is done. Delays and back-off run on the cluster's clock.
Source of the behaviour: client-go ``util/workqueue``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from hyperkube.client.queue_metrics import QueueMeter
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.clock import Clock, Timer
from hyperkube.machinery.condition import Condition

Key = TypeVar("Key", bound=Hashable)

DEFAULT_BACKOFF = Backoff(initial=0.005, cap=1000.0)
"""What client-go's default controller rate limiter gives one item: 5 ms, doubled up to 1000 s."""


class WorkQueue(Generic[Key]):
    """A queue of distinct keys with delays and a back-off per key; all methods are thread-safe.

    Args:
        clock: of the delays.
        backoff: of `add_rate_limited`.
        on_unserved: called when a key becomes ready and fewer wait in `get` than there are ready keys, with the
            queue's lock held: it must be short and must not use the queue.
        meter: counts for ``/metrics``.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        backoff: Backoff = DEFAULT_BACKOFF,
        on_unserved: Callable[[], None] | None = None,
        meter: QueueMeter[Key] | None = None,
    ) -> None:
        self._clock = clock
        self._backoff = backoff
        self._on_unserved = on_unserved
        self._meter = meter
        self._waiting = 0
        self._condition = Condition()
        self._ready: deque[Key] | tuple[()] = ()  # an empty deque is 650 bytes
        self._dirty: set[Key] = set()
        self._processing: set[Key] = set()
        self._failures: dict[Key, int] = {}
        self._delayed: dict[Key, tuple[float, Timer]] = {}
        self._shut_down = False

    def __len__(self) -> int:
        """Return how many keys could be taken now."""
        return len(self._ready)

    @property
    def is_shut_down(self) -> bool:
        """Whether `shut_down` was called."""
        return self._shut_down

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits to be taken and nothing is being worked on; delayed keys do not count."""
        with self._condition:
            return not self._ready and not self._processing

    def add(self, key: Key) -> None:
        """Make `key` available, at once or as soon as its worker is done with it."""
        with self._condition:
            if self._shut_down or key in self._dirty:
                return
            # Invariant: `_dirty` holds the keys that still need a worker, `_processing` those that have one; `_ready`
            # lists the dirty ones that are not being processed. A key that is added while a worker has it is only
            # marked: two workers never have one key, and `done` offers it again, so that no change is missed.
            self._dirty.add(key)
            if self._meter is not None:
                self._meter.added(key)
            if key not in self._processing:
                self._offer(key)

    def _offer(self, key: Key) -> None:
        self._ready = self._ready or deque()
        self._ready.append(key)
        self._condition.notify()
        # A worker that was notified counts as waiting until it has the lock again: more keys than waiting workers
        # means that one of them has no worker to come for it.
        if self._on_unserved is not None and len(self._ready) > self._waiting:
            self._on_unserved()

    def add_after(self, key: Key, seconds: float) -> None:
        """Add `key` once `seconds` have passed; of several delays the one that ends first counts."""
        if self._meter is not None and not self._shut_down:
            with self._condition:
                self._meter.delayed()
        if seconds <= 0:
            self.add(key)
            return
        due = self._clock.monotonic() + seconds
        with self._condition:
            if self._shut_down:
                return
            earlier = self._delayed.get(key)
            if earlier is not None:
                if earlier[0] <= due:
                    return
                earlier[1].cancel()
            self._delayed[key] = (due, self._clock.call_later(seconds, lambda: self._due(key, due)))

    def _due(self, key: Key, due: float) -> None:
        with self._condition:
            entry = self._delayed.get(key)
            if entry is None or entry[0] != due:
                return  # it was cancelled, or came to be due earlier, while its timer went off
            del self._delayed[key]
        self.add(key)

    def cancel(self, key: Key) -> None:
        """Drop the delay of `key`, if it has one: it is not added when that ends."""
        with self._condition:
            entry = self._delayed.pop(key, None)
        if entry is not None:
            entry[1].cancel()

    def add_rate_limited(self, key: Key) -> float:
        """Add `key` after a delay that doubles with each call until `forget`; return the delay in seconds."""
        with self._condition:
            failures = self._failures.get(key, 0) + 1
            self._failures[key] = failures
        delay = self._backoff.delay(failures)
        self.add_after(key, delay)
        return delay

    def forget(self, key: Key) -> None:
        """Let the next `add_rate_limited` of `key` be its first."""
        with self._condition:
            self._failures.pop(key, None)

    def failures(self, key: Key) -> int:
        """Return how often `key` was added by `add_rate_limited` since it was forgotten."""
        return self._failures.get(key, 0)

    def get(self, *, block: bool = True, seconds: float | None = None) -> Key | None:
        """Take the next key; call `done` with it afterwards.

        Args:
            block: wait for one.
            seconds: of the machine's time: how long at most nothing may happen; None for as long as it takes.

        Returns:
            The key, or None when the queue was shut down and is empty, or when nothing is ready by then.
        """
        with self._condition:
            patient = block
            while not self._ready:
                if self._shut_down or not patient:
                    return None
                self._waiting += 1
                patient = self._condition.wait(seconds)
                self._waiting -= 1
            key = self._ready.popleft()
            self._ready = self._ready or ()
            # No longer dirty before the work begins: what is added from here on is news that the worker may have
            # missed, and brings the key back.
            self._dirty.discard(key)
            self._processing.add(key)
            if self._meter is not None:
                self._meter.taken(key)
            return key

    def done(self, key: Key) -> None:
        """Say that the work on `key` has ended, well or badly."""
        with self._condition:
            self._processing.discard(key)
            if self._meter is not None:
                self._meter.done(key)
            if key in self._dirty and not self._shut_down:
                self._offer(key)

    def shut_down(self) -> None:
        """Take no more keys, drop the waiting ones and wake all who wait in `get`; idempotent."""
        with self._condition:
            self._shut_down = True
            # Keys being processed stay so until their workers are `done`; without `_dirty` these do not come back.
            self._ready = ()
            self._dirty.clear()
            if self._meter is not None:
                self._meter.emptied()
            for _, timer in self._delayed.values():
                timer.cancel()
            self._delayed.clear()
            self._condition.notify_all()
