"""What is asked of the store for health checks and metrics, so that a store that does not answer holds up neither.

Source of names: kubernetes apiserver ``pkg/server/options/etcd.go``, ``pkg/storage/etcd3/metrics``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from hyperkube.apiserver.registry import Registry
from hyperkube.machinery.clock import Clock
from hyperkube.storage.store import StoreError, StoreUnavailable, prefix_end

HEALTH_SECONDS = 2.0
COUNT_SECONDS = 60.0

logger = logging.getLogger("hyperkube.storage")


class StoreAnswers:
    """Asks a store for its revision, for a limited time; whoever asks meanwhile shares the answer.

    Args:
        ask: returns or raises, possibly late.
        clock: for the time-out.
        seconds: how long an answer may take.
    """

    def __init__(self, ask: Callable[[], object], clock: Clock, seconds: float) -> None:
        self._ask = ask
        self._clock = clock
        self._seconds = seconds
        self._lock = threading.Lock()
        self._question: _Question | None = None

    def passes(self) -> bool:
        """Return True once there is an answer.

        Raises:
            StoreError: the store's own refusal, or none within the time.
        """
        with self._lock:
            question = self._question
            if question is None or question.answered.is_set():
                question = self._question = _Question(self._ask)
        if not self._clock.wait(question.answered, self._seconds):
            raise StoreUnavailable(f"the store does not answer within {self._seconds:g} s")
        if question.failure is not None:
            raise question.failure
        return True


class _Question:
    """One call on a thread of its own."""

    def __init__(self, ask: Callable[[], object]) -> None:
        self._ask = ask
        self.answered = threading.Event()
        self.failure: Exception | None = None
        threading.Thread(target=self._run, name="store-health", daemon=True).start()

    def _run(self) -> None:
        try:
            self._ask()
        except Exception as error:  # noqa: BLE001 -- raised by whoever waits
            self.failure = error
        self.answered.set()


class ObjectCounts:
    """The number of stored objects by resource, counted when metrics are read, at most once in a while.

    Args:
        registry: what is served.
        clock: for the while.
        seconds: how long a count is good; 0 for no counts at all.
    """

    def __init__(self, registry: Registry, clock: Clock, seconds: float) -> None:
        self._registry = registry
        self._clock = clock
        self._seconds = seconds
        self._counted: float | None = None
        self._text = b""

    def text(self) -> bytes:
        """Return the metric in Prometheus' text format."""
        now = self._clock.monotonic()
        if self._seconds and (self._counted is None or now - self._counted >= self._seconds):
            self._counted = now
            self._text = self._count()
        return self._text

    def _count(self) -> bytes:
        lines = [
            "# HELP apiserver_storage_objects Objects in the store at the time of the last count, by resource.",
            "# TYPE apiserver_storage_objects gauge",
        ]
        storages = {served.group_resource: served.storage for served in self._registry.resources() if served.storage}
        try:
            for resource, storage in storages.items():
                number = storage.store.count(storage.prefix, prefix_end(storage.prefix))
                lines.append(f'apiserver_storage_objects{{resource="{resource}"}} {number}')
        except StoreError as error:
            logger.warning("the objects in the store cannot be counted: %s", error)
            return b""
        return "\n".join(lines).encode() + b"\n"
