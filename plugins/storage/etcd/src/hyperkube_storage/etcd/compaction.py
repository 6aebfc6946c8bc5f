"""Forgetting etcd's history, by one of the API servers that share it.

They agree through a key that each tries to write once an interval: who succeeds compacts to what was current when the
key was written before. Source of key and method: kubernetes apiserver ``pkg/storage/etcd3/compact.go``, so that servers
of both kinds can share an etcd.
"""

from __future__ import annotations

import logging
import threading

from hyperkube.machinery.clock import Clock
from hyperkube.storage.store import Compare, Put, Store, StoreError

KEY = "compact_rev_key"

logger = logging.getLogger("hyperkube.storage")


class Compaction:
    """Compacts a store every so many seconds, on a thread of its own."""

    def __init__(self, store: Store, clock: Clock, seconds: float) -> None:
        self._store = store
        self._clock = clock
        self._seconds = seconds
        self._written = 0
        self._revision = 0
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="etcd-compaction", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._closed.set()
        self._thread.join()

    def step(self) -> None:
        """Try to be the one who compacts this time.

        Raises:
            StoreError: etcd does not answer.
        """
        value = b"%d" % self._revision
        result = self._store.txn([Compare(KEY, self._written)], [Put(KEY, value)])
        if not result.succeeded:
            (current,) = result.current
            self._written = current.mod_revision if current else 0
            self._revision = result.revision
            return
        old, self._revision, self._written = self._revision, result.revision, result.revision
        if old:
            self._store.compact(old)

    def _run(self) -> None:
        while not self._clock.wait(self._closed, self._seconds):
            try:
                self.step()
            except StoreError as error:
                logger.warning("compaction of etcd failed and will be tried again: %s", error)
