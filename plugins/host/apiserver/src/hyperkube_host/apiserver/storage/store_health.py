"""What is asked of the store for health checks and metrics, so that a store that does not answer holds up neither.

Source of names: kubernetes apiserver ``pkg/server/options/etcd.go``, ``pkg/storage/etcd3/metrics``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from hyperkube_host.apiserver.options import StorageOptions
from hyperkube_host.apiserver.resources.registry import Registry
from hyperkube_host.apiserver.storage.damaged_objects import DamagedObjects

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import UsageError
from hyperkube.storage.store import Store, StoreError, StoreUnavailable, prefix_end

HEALTH_SECONDS = 2.0
COUNT_SECONDS = 60.0
SIZE_SECONDS = 30.0
_RETRY_SECONDS = 0.2

logger = logging.getLogger("hyperkube.storage")


@runtime_checkable
class Measured(Protocol):
    """A store that knows how big it is."""

    def size(self) -> int:
        """Return the bytes of its database.

        Raises:
            StoreError: it does not answer.
        """


def wait_for_store(store: Store, clock: Clock, seconds: float) -> None:
    """Return once a store answers.

    Raises:
        UsageError: it does not within the time; the message says why.
    """
    deadline = clock.monotonic() + seconds
    waiting = False
    while True:
        try:
            store.revision()
        except StoreUnavailable as error:
            if clock.monotonic() >= deadline:
                raise UsageError(f"the store does not answer within {seconds:g} s: {error}") from error
            if not waiting:
                logger.warning("waiting for the store: %s", error)
            waiting = True
            clock.sleep(_RETRY_SECONDS)
        else:
            return


class StoreAnswers:
    """Asks a store for its revision, for a limited time; checks that come meanwhile share the answer.

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
        except Exception as error:  # noqa: BLE001 -- raised by the check that waits
            self.failure = error
        self.answered.set()


class Polled:
    """Metrics that are read from the store when they are asked for, at most once in a while.

    Args:
        read: returns them in Prometheus' text format.
        clock: for the while.
        seconds: how long they are good; 0 for none at all.
    """

    def __init__(self, read: Callable[[], Sequence[str]], clock: Clock, seconds: float) -> None:
        self._read = read
        self._clock = clock
        self._seconds = seconds
        self._taken: float | None = None
        self._text = b""

    def text(self) -> bytes:
        """Return the metrics; nothing if the store does not answer."""
        now = self._clock.monotonic()
        if self._seconds and (self._taken is None or now - self._taken >= self._seconds):
            self._taken = now
            try:
                self._text = "".join(f"{line}\n" for line in self._read()).encode()
            except StoreError as error:
                logger.warning("the store cannot be measured: %s", error)
                self._text = b""
        return self._text


class StoreMetrics:
    """All of a server's metrics of its stores, as often as its flags say."""

    def __init__(
        self,
        registry: Registry,
        stores: Sequence[Store],
        options: StorageOptions,
        clock: Clock,
        damaged: DamagedObjects,
    ) -> None:
        self._damaged = damaged
        counted = options.etcd_count_metric_poll_period
        measured = options.etcd_db_metric_poll_interval
        self._counts = Polled(lambda: object_counts(registry), clock, counted)
        self._sizes = Polled(lambda: store_sizes(stores), clock, measured)

    def text(self) -> bytes:
        """Return them in Prometheus' text format."""
        damaged = "".join(f"{line}\n" for line in self._damaged.metrics()).encode()
        return self._counts.text() + self._sizes.text() + damaged


def object_counts(registry: Registry) -> list[str]:
    """Return the number of stored objects by resource.

    Raises:
        StoreError: the store does not answer.
    """
    lines = [
        "# HELP apiserver_storage_objects Objects in the store at the time of the last count, by resource.",
        "# TYPE apiserver_storage_objects gauge",
    ]
    storages = {served.group_resource: served.storage for served in registry.resources() if served.storage}
    for resource, storage in storages.items():
        number = storage.store.count(storage.prefix, prefix_end(storage.prefix))
        lines.append(f'apiserver_storage_objects{{resource="{resource}"}} {number}')
    return lines


def store_sizes(stores: Sequence[Store]) -> list[str]:
    """Return the size of each store's database, of those that know it.

    Raises:
        StoreError: a store does not answer.
    """
    sizes = [store.size() for store in stores if isinstance(store, Measured)]
    head = [
        "# HELP apiserver_storage_size_bytes Size of the database file.",
        "# TYPE apiserver_storage_size_bytes gauge",
    ]
    rows = [
        f'apiserver_storage_size_bytes{{storage_cluster_id="etcd-{number}"}} {size}'
        for number, size in enumerate(sizes)
    ]
    return [*head, *rows] if rows else []
