"""Runs what may hang (mounts, attachments) on threads of its own, one operation per volume and pod at a time.

A pod's worker waits a moment for its operations. What takes longer goes on without it: the worker goes away, and the
pod is synced again when the operation is done. Source: kubernetes ``pkg/util/goroutinemap``,
``pkg/volume/util/nestedpendingoperations``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from hyperkube.client.worker_pool import WorkerPool
from hyperkube.machinery.clock import Clock

WORKERS = 64
_log = logging.getLogger("hyperkube.kubelet.volumes")


class OperationKey(NamedTuple):
    """Names an operation: the pod's uid, and the volume's name in the pod."""

    uid: str
    volume: str


class Operation:
    """Something that is being done, or was."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self.done = threading.Event()
        self.error: Exception | None = None
        self.is_left = False

    def run(self) -> None:
        """Do it; what it raises is kept for those who wait."""
        try:
            self._work()
        except Exception as error:  # noqa: BLE001 - kept in the operation, for its reader
            self.error = error


class Operations:
    """Operations by key; thread-safe."""

    def __init__(self, clock: Clock, finished: Callable[[str], None]) -> None:
        """Call `finished` with a pod's uid when an operation that no caller waited for is done."""
        self._clock = clock
        self._finished = finished
        self._lock = threading.Lock()
        self._known: dict[OperationKey, Operation] = {}
        self._begun = False
        self._pool: WorkerPool[OperationKey] = WorkerPool(
            "kubelet-volumes", self._run, clock=clock, workers=WORKERS, logger=_log
        )

    def start(self, key: OperationKey, work: Callable[[], None]) -> Operation:
        """Begin an operation, or return the one of that key that is running, or has ended since it was left."""
        with self._lock:
            if not self._begun:
                self._pool.begin()
                self._begun = True
            found = self._known.get(key)
            if found is None:
                found = self._known[key] = Operation(work)
                self._pool.queue.add(key)
            elif found.done.is_set():
                del self._known[key]
            return found

    def wait(self, operation: Operation, until: float) -> bool:
        """Wait for an operation until a moment of the monotonic clock; tell whether it is done.

        One that is not is left: `finished` tells when it is.
        """
        left = until - self._clock.monotonic()
        if left > 0 and self._clock.wait(operation.done, left):
            return True
        with self._lock:  # under the lock it is either done, or its thread will see that it was left
            operation.is_left = not operation.done.is_set()
            return not operation.is_left

    def _run(self, key: OperationKey) -> None:
        with self._lock:
            operation = self._known.get(key)
        if operation is None or operation.done.is_set():
            return
        operation.run()
        with self._lock:
            operation.done.set()
            if not operation.is_left:
                self._known.pop(key, None)
        if operation.is_left:
            self._finished(key.uid)

    def forget(self, uid: str) -> None:
        """Drop what ended of a pod that is gone."""
        with self._lock:
            self._known = {key: one for key, one in self._known.items() if key.uid != uid or not one.done.is_set()}

    def is_busy(self, uid: str, but: str) -> bool:
        """Tell whether an operation of a pod is running, other than that of the name `but`."""
        with self._lock:
            return any(
                key.uid == uid and key.volume != but and not one.done.is_set() for key, one in self._known.items()
            )

    def close(self) -> None:
        """Begin nothing more."""
        self._pool.stop()


class NameLocks:
    """A lock per name, kept only while it is wanted: two pods do not mount one device at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._locks: dict[str, tuple[threading.Lock, int]] = {}

    @contextmanager
    def hold(self, name: str) -> Iterator[None]:
        """Hold the lock of a name."""
        with self._lock:
            lock, users = self._locks.get(name) or (threading.Lock(), 0)
            self._locks[name] = (lock, users + 1)
        try:
            with lock:
                yield
        finally:
            with self._lock:
                lock, users = self._locks[name]
                if users == 1:
                    del self._locks[name]
                else:
                    self._locks[name] = (lock, users - 1)
