"""SqliteStore: the Store in one SQLite file.

In memory is only where each live key's latest version is; values stay on disk, since the watch cache above holds what
is hot. Durable before the answer, many writes to one flush (`group_commit`); checkpoints, compaction and leases are
looked after in the background (`maintenance`).
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from hyperkube_storage.sqlite import rows
from hyperkube_storage.sqlite.database import Database, failure
from hyperkube_storage.sqlite.group_commit import GroupCommit
from hyperkube_storage.sqlite.index import Batch, Index, Row
from hyperkube_storage.sqlite.live_keys import CHANGED_KEYS, CHANGED_ROWS
from hyperkube_storage.sqlite.maintenance import Maintenance
from hyperkube_storage.sqlite.pages import SPARE, Live, changed_since
from hyperkube_storage.sqlite.row_events import as_events
from hyperkube_storage.sqlite.work import (
    CloneFile,
    EndLease,
    FinishCheckpoint,
    GiveBack,
    GrantLease,
    RemoveRows,
    Statement,
    Transaction,
    Work,
    WriteLiveKeys,
)

from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.storage.retention import DEFAULT_SECONDS
from hyperkube.storage.store import (
    FIRST_REVISION,
    Compacted,
    Compare,
    Delete,
    EventBatch,
    FutureRevision,
    KeyValue,
    Put,
    RangeResult,
    StoreError,
    StoreEvent,
    StoreUnavailable,
    TxnResult,
    check_distinct,
)
from hyperkube.storage.subscriptions import QueueWatch, Subscription, Subscriptions, WantsPrevious, after_revision

FATAL = frozenset({sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
"""After these it is unknown what is on the disk: the store refuses everything until it is opened again."""

ROW_OVERHEAD = 4096
"""Bytes that a row adds to the log beside its value, roughly: pages are written whole."""


class SqliteStore:
    """A `Store` in a file; it also calls its readers (`Subscribable`) and can be forked (`Forkable`).

    Args:
        path: made with its folder if it does not exist; one process at a time.
        clock: leases end by its wall time, so they go on ending while the store is closed.
        history_seconds: how long replaced versions are kept at least; 0 keeps them until `compact` is called.

    Raises:
        UsageError: the file is in use, unreadable, not writable, damaged, foreign or of a newer format.
    """

    def __init__(self, path: Path, clock: Clock | None = None, *, history_seconds: float = DEFAULT_SECONDS) -> None:
        self.clock = clock or SystemClock()
        self.database = Database(path)
        self._lock = threading.Lock()
        found = rows.load(self.database)
        self._index = Index(found.entries, found.since.changed)
        self._indexed, self._since = found.since.until, found.since.rows
        self._revision = max(found.revision, FIRST_REVISION)
        self._compacted = found.compacted
        self._leases = found.leases
        self._subscriptions = Subscriptions()
        self._watches: set[QueueWatch] = set()
        self._failed: StoreError | None = None
        self._closing = self._closed = False
        self._commits: GroupCommit[Work] = GroupCommit(self._commit)
        self._history_seconds = history_seconds
        self._maintenance = Maintenance(self, history_seconds, found.cleaned)
        self._maintenance.start()

    def revision(self) -> int:
        """Return the revision of the last write."""
        if self._closed:
            raise StoreUnavailable("the store is closed")
        return self._revision

    def get(self, key: str, *, revision: int = 0) -> KeyValue | None:
        """Return one key, now or at `revision`."""
        if revision:
            return next(iter(self.range(key, key + "\x00", revision=revision).items), None)
        with self.database.reader() as connection:
            while (entry := self._index.get(key)) is not None:
                if (item := rows.read_item(connection, key, entry.row)) is not None:
                    return item
                if self._index.get(key) == entry:  # else it was replaced and compacted meanwhile
                    return rows.read_items(connection, {key: entry.row}, keys_only=False)[0]
            return None

    def range(self, start: str, end: str, *, limit: int = 0, revision: int = 0, keys_only: bool = False) -> RangeResult:
        """Return the keys in ``[start, end)`` in byte order, now or at `revision`."""
        with self.database.reader() as connection:
            most = limit + SPARE if limit and revision else limit
            now, live = self._look(connection, start, end, most, revision)
            if 0 < revision < now:
                past = changed_since(connection, start, end, revision, now)
                page = live.as_of(past, limit)
                if page is None:  # so many keys have come since: look at all, and at the changes up to then
                    connection.execute("COMMIT")
                    now, live = self._look(connection, start, end, 0, revision)
                    page = live.as_of(changed_since(connection, start, end, revision, now), limit)
            else:
                page = live.first(limit)
            assert page is not None  # noqa: S101 - all keys are enough
            items = rows.read_items(connection, page.rows, keys_only=keys_only)
            return RangeResult(items, now, page.total, more=len(items) < page.total)

    def _look(self, connection: sqlite3.Connection, start: str, end: str, most: int, revision: int) -> tuple[int, Live]:
        """Return the current revision and the first `most` keys of a range (0: all), and let the connection see both.

        Raises:
            Compacted, FutureRevision: `revision` cannot be read.
        """
        with self._lock:
            self._check_readable(revision)
            keys = self._index.keys(start, end, most)
            found = self._index.rows(keys)
            rows.begin_snapshot(connection)
            return self._revision, Live(found, self._index.count(start, end) if most else len(found))

    def count(self, start: str, end: str) -> int:
        """Return the number of live keys in ``[start, end)``."""
        with self._lock:
            self._check_readable(0)
            return self._index.count(start, end)

    def txn(self, compare: Sequence[Compare], success: Sequence[Put | Delete]) -> TxnResult:
        """Compare, then apply all of `success` in one revision, or nothing; durable when it returns."""
        check_distinct(success)
        work = Transaction(compare, success)
        self._do(work)
        if work.succeeded:
            return TxnResult(succeeded=True, revision=work.revision)
        with self.database.reader() as connection:
            current = work.read_current(connection, self.get)
        return TxnResult(succeeded=False, revision=work.revision, current=current)

    def expecting_write(self) -> AbstractContextManager[None]:
        """Say that this thread is about to write: other writers wait a moment to share the flush."""
        return self._commits.expecting()

    def queue_writes(self, pause: Callable[[], None]) -> None:
        """Keep what this thread writes until it is taken and committed; `pause` returns after that."""
        self._commits.queue_here(pause)

    def queue_no_more(self) -> None:
        """Let this thread write like any other again."""
        self._commits.queue_no_more()

    def take_queued(self) -> Callable[[], None]:
        """Return what commits what this thread has written since the last time, with one flush."""
        return self._commits.take_queued()

    def watch(self, start: str, end: str, *, revision: int) -> QueueWatch:
        """Watch ``[start, end)`` for changes after `revision`, also those that already happened."""
        with self.database.reader() as connection:
            with self._lock:
                self._check_readable(0)
                failed = Compacted(revision, self._compacted) if revision < self._compacted else None
                watch = QueueWatch(progress=self._report_progress, closed=self._forget_watch, failure=failed)
                watch.subscription = self._subscribe(start, end, after_revision(revision, watch.put), previous=True)
                self._watches.add(watch)
                now = self._revision
                rows.begin_snapshot(connection)
            if failed is None and revision < now:
                watch.begin_with(EventBatch(rows.read_events(connection, start, end, revision, now), now))
        return watch

    def subscribe(
        self, start: str, end: str, deliver: Callable[[EventBatch], None], *, previous: WantsPrevious = True
    ) -> Subscription:
        """Call `deliver` with every change after now, in the thread that writes."""
        with self._lock:
            self._check_readable(0)
            return self._subscribe(start, end, deliver, previous=previous)

    def grant_lease(self, seconds: int) -> int:
        """Create a lease that ends `seconds` from now, also if the store is closed meanwhile."""
        work = GrantLease(self.clock.now().timestamp() + seconds, self._leases)
        self._do(work)
        self._maintenance.wake()
        return work.last_row

    def fork(self, folder: Path, clock: Clock | None = None) -> SqliteStore:
        """Return a store in a file of `folder` that begins as this one is now.

        Where the file system lets files share blocks this copies nothing; else it reads the whole file, beside writers.
        """
        clock = clock or self.clock
        target, shift = folder / self.database.path.name, (clock.now() - self.clock.now()).total_seconds()
        work = CloneFile(self.database, target, shift)
        self._do(work)
        try:
            if not work.cloned:
                from hyperkube_storage.sqlite.copies import copy

                with self.database.reader() as connection:
                    copy(connection, target, lease_shift=shift)
            return SqliteStore(target, clock, history_seconds=self._history_seconds)
        except UsageError as error:
            raise StoreUnavailable(str(error)) from error

    def compact(self, revision: int) -> None:
        """Refuse reads before `revision` from now on; the space is freed in the background."""
        if revision <= self._compacted:
            return
        with self._lock:
            self._check_readable(revision)
        if 0 < self._indexed < rows.last_row(revision):  # what the table lacks has to stay in history
            self.write_live_keys()
        self._do(Statement(rows.SET_STATE, [(revision, "compacted")]))
        with self._lock:
            self._compacted = max(self._compacted, revision)
        self._maintenance.wake()

    def close(self) -> None:
        """Finish the writes under way, end the watches, empty the log and unlock the file; idempotent."""
        with self._lock:
            closing, self._closing = self._closing, True
        if closing:
            return
        self._maintenance.close()
        with suppress(StoreError):  # history tells as much, and takes longer
            self.write_live_keys(least=CHANGED_ROWS // 5)
        with self._lock:
            self._closed = True
            watches = list(self._watches)
        self._commits.run(Work())  # earlier writers are done now, later ones are refused
        for watch in watches:
            watch.close()
        self.database.close()

    def next_lease_end(self) -> float | None:
        """Return the wall time in epoch seconds at which the next lease ends."""
        with self._lock:
            return min(self._leases.values(), default=None)

    def end_lease(self, most: int) -> bool:
        """End a lease whose time has come, or delete `most` of its keys; tell whether one was there."""
        now = self.clock.now().timestamp()
        with self._lock:
            due = next((lease for lease, expires in self._leases.items() if expires <= now), None)
        if due is None:
            return False
        self._do(EndLease(due, self._leases, most))
        return True

    @property
    def compacted(self) -> int:
        """The revision that was compacted last."""
        return self._compacted

    def remove_rows(self, ids: Sequence[int], cleaned: int) -> None:
        """Remove rows that cannot be read any more, and remember how far that was done."""
        self._do(RemoveRows(ids, cleaned))

    def write_live_keys(self, *, least: int = 0) -> None:
        """Bring the table of live keys up to date if it is `least` rows of history behind, or many keys."""
        if self._since < least and len(self._index.changed) < CHANGED_KEYS:
            return
        work = WriteLiveKeys(self._index, lambda: self._revision)
        try:
            self._do(work)
        except StoreError:
            with self._lock:  # whatever was written meanwhile, the table has what it had
                self._index.changed |= work.taken
            raise
        self._indexed, self._since = work.until, 0

    def give_back(self, pages: int) -> None:
        """Make the file smaller by some free pages."""
        self._do(GiveBack(self.database, pages))

    def checkpoint(self) -> bool:
        """Copy the log into the file: most of it beside the writers, the rest in their way; tell whether it was all."""
        self.database.checkpoint()
        work = FinishCheckpoint(self.database)
        self._do(work)
        return work.complete

    def _do(self, work: Work) -> None:
        self._commits.run(work)
        if work.error is not None:
            raise work.error

    def _commit(self, batch_of_work: Sequence[Work]) -> None:
        """Decide, write and publish a batch; the only thing that changes the file, one thread at a time."""
        if self._closed or self._failed:
            for work in batch_of_work:
                work.error = self._failed or StoreUnavailable("the store is closed")
            return
        batch = Batch(self._index, self._revision, self._leases)
        for work in batch_of_work:
            work.decide(batch)
        others = [work for work in batch_of_work if work.__class__ is not Transaction]  # of one rows are all there is
        try:
            events = self._events(batch.rows) if self._subscriptions else ()
            if batch.rows or any(work.writes for work in others):
                self._write(batch.rows, others)
        except sqlite3.Error as error:
            self._fail(error, batch_of_work)
        except StoreError as error:
            for work in batch_of_work:
                work.error = error
        else:
            self._publish(batch, events, others)

    def _write(self, new: Sequence[Row], others: Sequence[Work]) -> None:
        writer = self.database.writer
        if 0 < len(new) <= rows.MOST_AT_ONCE and not any(work.writes for work in others):
            rows.insert_at_once(writer, new)
            return
        writer.execute("BEGIN IMMEDIATE")
        writer.executemany("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [(*row, row.checksum) for row in new])
        for work in others:
            work.write(writer)
        writer.execute("COMMIT")

    def _fail(self, error: sqlite3.Error, batch_of_work: Sequence[Work]) -> None:
        """Undo what was begun and tell everybody; after a failure of the disk itself, refuse all that follows."""
        reason = failure(error)
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in FATAL:
            self._failed = reason
        try:
            if self.database.writer.in_transaction:
                self.database.writer.execute("ROLLBACK")
        except sqlite3.Error as second:
            self._failed = failure(second)
        for work in batch_of_work:
            work.error = reason

    def _publish(self, batch: Batch, events: Sequence[StoreEvent], others: Sequence[Work]) -> None:
        with self._lock:
            for key, entry in batch.changes.items():
                self._index.change(key, entry)
            self._revision = batch.revision
            self._since += len(batch.rows)
            for work in others:
                work.done()
            if events:
                self._subscriptions.publish(tuple(events), batch.revision)
        for work in others:
            work.finish()
        self._maintenance.wrote(sum(len(row.value) + ROW_OVERHEAD for row in batch.rows))

    def _events(self, new: Sequence[Row]) -> Sequence[StoreEvent]:
        return as_events(new, self._subscriptions.needs_previous, self.database, self._index)

    def _check_readable(self, revision: int) -> None:
        if self._closed:
            raise StoreUnavailable("the store is closed")
        if revision > self._revision:
            raise FutureRevision(f"revision {revision} does not exist yet, the current one is {self._revision}")
        if 0 < revision < self._compacted:
            raise Compacted(revision, self._compacted)

    def _subscribe(
        self, start: str, end: str, deliver: Callable[[EventBatch], None], *, previous: WantsPrevious
    ) -> Subscription:
        added = Subscription(start, end, deliver, revision=self._revision, previous=previous, close=self._unsubscribe)
        self._subscriptions.add(added)
        return added

    def _unsubscribe(self, subscription: Subscription) -> None:
        with self._lock:
            self._subscriptions.remove(subscription)

    def _report_progress(self, watch: QueueWatch) -> None:
        with self._lock:
            watch.report(self._revision)

    def _forget_watch(self, watch: QueueWatch) -> None:
        with self._lock:
            self._watches.discard(watch)
            if watch.subscription is not None:
                self._subscriptions.remove(watch.subscription)
