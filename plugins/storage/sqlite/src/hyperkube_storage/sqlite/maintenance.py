"""What the store does in the background, on one thread: end leases, forget history, copy the log into the file."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from hyperkube_storage.sqlite import rows
from hyperkube_storage.sqlite.database import Database
from hyperkube_storage.sqlite.live_keys import CHANGED_ROWS

from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.storage.retention import Retention
from hyperkube.storage.store import StoreError, StoreFull

CHECKPOINT_BYTES = 8 * 1024 * 1024
"""Size of the log at which it is copied into the file."""

KEYS_AT_A_TIME = 100
"""Keys of a lease that are deleted in one step: each is an event for its watchers."""

ROWS_AT_A_TIME = 500
"""Rows looked at in one step of compaction, so that writers hardly notice it."""

PAGES_AT_A_TIME = 128
"""Pages by which the file shrinks in one step: half a MiB to flush, which a writer may have to wait for."""

PAGE_BYTES = 4096

COMPACTIONS = 5
"""How often history is compacted in the time that it is kept at least: it is kept a fifth longer at most."""

RETRY_SECONDS = 1.0

_monotonic = SystemClock().monotonic  # of the machine, whatever the cluster's time
logger = logging.getLogger("hyperkube.storage")


class MaintainedStore(Protocol):
    """The store, as far as its maintenance needs it; see `hyperkube_storage.sqlite.store.SqliteStore`."""

    clock: Clock
    database: Database

    @property
    def compacted(self) -> int:
        """The revision that was compacted last."""

    def revision(self) -> int:
        """Return the current revision."""

    def next_lease_end(self) -> float | None:
        """Return when the next lease ends, in seconds of wall time."""

    def end_lease(self, most: int) -> bool:
        """Delete up to `most` keys of a lease whose time is over; tell whether there was one."""

    def compact(self, revision: int) -> None:
        """Give up history before a revision."""

    def write_live_keys(self, *, least: int = 0) -> None:
        """Bring the table of live keys up to date if it is `least` rows of history behind, or many keys."""

    def remove_rows(self, ids: Sequence[int], cleaned: int) -> None:
        """Remove rows that compaction hid, all of them up to the row id `cleaned`."""

    def give_back(self, pages: int) -> None:
        """Make the file smaller by some free pages."""

    def checkpoint(self) -> bool:
        """Copy the log into the file; tell whether it was all."""


class Maintenance:
    """The background of one store.

    Args:
        history_seconds: how long history is kept; 0 for until the store is compacted on request.
        cleaned: the row id up to which what compaction hid has been removed.
    """

    def __init__(self, store: MaintainedStore, history_seconds: float, cleaned: int) -> None:
        self._store = store
        self._retention = Retention(history_seconds) if history_seconds else None
        self._next_compaction = store.clock.monotonic()
        self._cleaned = cleaned
        self._unflushed = 0
        self._removed = False
        self._closing = False
        self._bell = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sqlite-maintenance", daemon=True)

    def start(self) -> None:
        """Begin; called once, when the store is complete."""
        self._thread.start()

    def wake(self) -> None:
        """Look whether there is something to do."""
        self._bell.set()

    def wrote(self, size: int) -> None:
        """Note that `size` bytes went into the log; called by the writer."""
        self._unflushed += size
        if self._unflushed > CHECKPOINT_BYTES:
            self._bell.set()

    def close(self) -> None:
        """End the thread after what it is doing."""
        self._closing = True
        self._bell.set()
        self._thread.join()

    def _run(self) -> None:
        clock, wait = self._store.clock, self._wait_seconds()
        while True:
            clock.wait(self._bell, wait)
            self._bell.clear()
            if self._closing:
                return
            try:
                self._step()
                wait = self._wait_seconds()
            except StoreError as error:
                logger.warning("maintenance of the storage file failed and will be tried again: %s", error)
                wait = RETRY_SECONDS

    def _wait_seconds(self) -> float | None:
        clock = self._store.clock
        waits: list[float] = []
        if (ends := self._store.next_lease_end()) is not None:
            waits.append(max(ends - clock.now().timestamp(), 0.0))
        if self._retention is not None:
            waits.append(max(self._next_compaction - clock.monotonic(), 0.0))
        return min(waits, default=None)

    def _step(self) -> None:
        self._end_leases()
        self._store.write_live_keys(least=CHANGED_ROWS)
        self._forget_history()
        while self._store.compacted > 0 and self._cleaned < rows.last_row(self._store.compacted) and not self._closing:
            with self._resting():
                self._remove_hidden_rows()
                self._checkpoint_if_due()
        self._checkpoint_if_due()
        self._give_back_space()

    def _end_leases(self) -> None:
        """End leases, a few keys at a time: events share one for a minute, in which there may be thousands."""
        more = True
        while more and not self._closing:
            with self._resting():
                more = self._store.end_lease(KEYS_AT_A_TIME)
                self._store.write_live_keys(least=CHANGED_ROWS)

    @contextmanager
    def _resting(self) -> Iterator[None]:
        """Leave writers and readers as much time behind a step as it took."""
        begun = _monotonic()
        yield
        self._bell.wait(_monotonic() - begun)

    def _checkpoint_if_due(self) -> None:
        """Copy the log into the file when there is much in it: also in between, as what shrinks the file fills it."""
        if self._unflushed > CHECKPOINT_BYTES:
            self._unflushed = 0
            self._store.checkpoint()

    def _give_back_space(self) -> None:
        """Let the file shrink to what it holds and a little more, a piece at a time, after rows were removed."""
        if not self._removed:
            return
        self._removed = moved = False
        try:
            while not self._closing and (surplus := self._store.database.surplus_pages()):
                pages = min(surplus, PAGES_AT_A_TIME)
                self._store.give_back(pages)
                self._unflushed += 2 * pages * PAGE_BYTES  # the page, and where what refers to it is kept
                self._checkpoint_if_due()
                moved = True
            if moved and not self._store.checkpoint():  # which cuts off the file's end: else with the next step
                self._unflushed = CHECKPOINT_BYTES + 1
        except StoreFull as error:  # moving pages takes some space first; writers go on, and so does the file's size
            logger.warning("the storage file keeps its size until history is compacted again: %s", error)

    def _forget_history(self) -> None:
        now = self._store.clock.monotonic()
        if self._retention is None or now < self._next_compaction:
            return
        self._next_compaction = now + self._retention.seconds / COMPACTIONS
        old = self._retention.pass_over(now, self._store.revision())
        if old > self._store.compacted:
            self._store.compact(old)

    def _remove_hidden_rows(self) -> None:
        compacted = self._store.compacted
        with self._store.database.reader() as connection:
            ids, cleaned = rows.hidden(connection, self._cleaned, compacted, ROWS_AT_A_TIME)
        self._store.remove_rows(ids, cleaned)
        self._unflushed += 2 * PAGE_BYTES * len(ids)
        self._removed = self._removed or bool(ids)
        self._cleaned = cleaned
