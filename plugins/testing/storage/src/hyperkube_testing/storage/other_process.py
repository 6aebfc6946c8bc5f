"""A store in memory as if it were in another process: it calls no readers, and its news may be late."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from hyperkube.storage.memory import MemoryStore
from hyperkube.storage.store import EventBatch, StoreWatch


class LateWatch:
    """A watch whose batches arrive while `arrives` is set."""

    def __init__(self, watch: StoreWatch, arrives: threading.Event) -> None:
        self._watch = watch
        self._arrives = arrives
        self.request_progress = watch.request_progress

    def __iter__(self) -> Iterator[EventBatch]:
        """Yield the batches as they arrive."""
        for batch in self._watch:
            self._arrives.wait()
            yield batch

    def close(self) -> None:
        """End the iteration, also of a watch whose batches do not arrive."""
        self._watch.close()
        self._arrives.set()


class OtherProcess:
    """What a `Store` in another process can do, which takes the writes of several requests at once.

    Attributes:
        arrives: cleared, what its watches deliver is held up until it is set again.
        pause: of the thread that queues writes, None while there is none.
    """

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self.arrives = threading.Event()
        self.arrives.set()
        self.pause: Callable[[], None] | None = None
        self.revision, self.get, self.range, self.count = store.revision, store.get, store.range, store.count
        self.txn, self.grant_lease, self.compact = store.txn, store.grant_lease, store.compact
        self.take_queued = store.take_queued

    def watch(self, start: str, end: str, *, revision: int) -> LateWatch:
        """Watch a range."""
        return LateWatch(self._store.watch(start, end, revision=revision), self.arrives)

    def queue_writes(self, pause: Callable[[], None]) -> None:
        """Note who queues; every write is committed at once."""
        self.pause = pause

    def queue_no_more(self) -> None:
        """Note that none does."""
        self.pause = None

    def close(self) -> None:
        """Leave the store in memory to its owner."""
