"""Worker threads of a work queue: they come when keys wait for one, and go when there are no more.

Dozens of controllers and hundreds of nodes in one process cost no thread while they have nothing to do.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from hyperkube.client.queue_metrics import QueueMeter
from hyperkube.client.workqueue import DEFAULT_BACKOFF, WorkQueue
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.condition import Condition

Key = TypeVar("Key", bound=Hashable)

LINGER_SECONDS = 1.0
"""How long a worker waits for another key before it ends."""


class WorkerPool(Generic[Key]):
    """A queue of keys and the threads that work on them, one per key at a time."""

    def __init__(
        self,
        name: str,
        work: Callable[[Key], None],
        *,
        clock: Clock,
        workers: int,
        logger: logging.Logger,
        backoff: Backoff = DEFAULT_BACKOFF,
        meter: QueueMeter[Key] | None = None,
    ) -> None:
        """Work on nothing before `begin`.

        Args:
            name: of the threads.
            work: is called with a key; when it raises, that is logged and the key comes back after its back-off.
            clock: of the queue's delays.
            workers: how many threads there are at most.
            logger: of failures.
            backoff: of keys that failed.
            meter: counts for ``/metrics``.
        """
        self.name = name
        self.queue: WorkQueue[Key] = WorkQueue(clock, backoff=backoff, on_unserved=self._hire, meter=meter)
        self._work = work
        self._workers = max(1, workers)
        self._logger = logger
        self._changed = Condition()
        self._begun = False
        self._threads = 0

    def begin(self) -> None:
        """Work from now on until `stop`, on threads that come and go; returns at once."""
        with self._changed:
            self._begun = True
        for _ in range(min(self._workers, len(self.queue))):
            self._hire()

    def wait_ended(self, seconds: float | None = None) -> bool:
        """Wait until `stop` was called and the last worker is done, at most so long; tell whether it is so.

        Args:
            seconds: of the machine's time; None for as long as it takes.
        """
        with self._changed:
            return self._changed.wait_for(lambda: self.queue.is_shut_down and not self._threads, seconds)

    def stop(self) -> None:
        """Drop the waiting keys and end once those being worked on are done; idempotent, from any thread."""
        self.queue.shut_down()
        with self._changed:
            self._changed.notify_all()

    def take(self, *, block: bool = True) -> Key | None:
        """Work on the next key on this thread; return it, or None if there was none.

        Args:
            block: wait for one for `LINGER_SECONDS`.
        """
        key = self.queue.get(block=block, seconds=LINGER_SECONDS)
        if key is None:
            return None
        try:
            self._work(key)
        except Exception:  # one broken object must not stop the work on all others
            self.queue.add_rate_limited(key)
            self._logger.exception("%s failed on %r", self.name, key)
        finally:
            self.queue.done(key)
        return key

    def _hire(self) -> None:
        with self._changed:
            if not self._begun or self._threads >= self._workers or self.queue.is_shut_down:
                return
            self._threads += 1
            threading.Thread(target=self._run, name=f"{self.name}-{self._threads}", daemon=True).start()

    def _run(self) -> None:
        while True:
            while self.take() is not None:
                continue
            # A key may have come since `take` gave up, while this thread still counted and so no other was hired.
            # `_hire` takes the same lock: either this look sees the key, or `_hire` sees one thread less.
            with self._changed:
                if not len(self.queue) or self.queue.is_shut_down:
                    self._threads -= 1
                    self._changed.notify_all()
                    return
