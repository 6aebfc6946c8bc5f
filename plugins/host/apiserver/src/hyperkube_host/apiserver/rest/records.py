"""Records that no resource has, such as the node ports in use: one key each, which many requests change at once."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

import orjson

from hyperkube.machinery.errors import ServerTimeout
from hyperkube.machinery.objects import Object
from hyperkube.storage.store import Compare, Put, QueuesWrites, Store

_ATTEMPTS = 1000
"""To change a record: of the servers that try at once one succeeds."""

RecordChange: TypeAlias = Callable[[Object | None], Object | None]
"""Gets what is there (None: nothing) and returns what shall be (None: leave it); may be called again, and may raise."""


class _Wish:
    """A change that waits; `done` once it is stored, left out, or has failed with `error`."""

    __slots__ = ("change", "done", "error")

    def __init__(self, change: RecordChange) -> None:
        self.change = change
        self.done = False
        self.error: Exception | None = None


class _Record:
    """The changes of one record that wait, and the lock of the request that makes them."""

    __slots__ = ("lock", "waiting")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting: deque[_Wish] = deque()


class Records:
    """Changes records by compare-and-swap, those of all requests that wait in one write.

    A hundred requests that each read and write on their own would do so five thousand times: of all that try at once
    one succeeds.
    """

    def __init__(self) -> None:
        self._records: dict[str, _Record] = {}

    def change(self, store: Store, path: str, change: RecordChange) -> None:
        """Change what is stored at `path`.

        Raises:
            ServerTimeout: other servers were faster in too many attempts.
            Exception: what `change` or the store raised.
        """
        record = self._records.setdefault(path, _Record())
        mine = _Wish(change)
        record.waiting.append(mine)
        # Where requests take turns on one thread the one with the lock pauses in its write, and who waited for the lock
        # there would wait for ever. An empty transaction ends with the next commit: that is how one waits on a turn.
        may_wait = not isinstance(store, QueuesWrites)
        while not mine.done:
            if record.lock.acquire(blocking=may_wait):
                try:
                    if not mine.done:
                        _make(store, path, record.waiting)
                finally:
                    record.lock.release()
            else:
                store.txn((), ())
        if mine.error is not None:
            raise mine.error


def _make(store: Store, path: str, waiting: deque[_Wish]) -> None:
    """Make the changes that wait, which are done then; under the record's lock, so that each is in one batch only."""
    batch: list[_Wish] = []
    text = f"the record {path!r} could not be changed at this time, please try again"
    failure: Exception | None = ServerTimeout(text)
    try:
        if _store(store, path, waiting, batch):
            failure = None
    except Exception as error:  # noqa: BLE001  each request of the batch raises it
        failure = error
    finally:
        for wish in batch:
            wish.error = wish.error or failure
            wish.done = True


def _store(store: Store, path: str, waiting: deque[_Wish], batch: list[_Wish]) -> bool:
    """Move the changes that wait to the batch and store what comes of them; tell whether one of the attempts did."""
    for _ in range(_ATTEMPTS):
        while waiting:
            batch.append(waiting.popleft())
        item = store.get(path)
        wanted = _changed(orjson.loads(item.value) if item is not None else None, batch)
        if wanted is None:
            return True
        expected = Compare(path, item.mod_revision if item is not None else 0)
        if store.txn([expected], [Put(path, orjson.dumps(wanted))]).succeeded:
            return True
    return False


def _changed(found: Object | None, batch: list[_Wish]) -> Object | None:
    """Return the record after all changes of a batch, None if it stays; a change that raises is left out."""
    wanted = None
    for wish in batch:
        wish.error = None
        try:
            new = wish.change(found)
        except Exception as error:  # noqa: BLE001  raised again by the request that wanted it
            wish.error = error
            continue
        if new is not None:
            found = wanted = new
    return wanted
