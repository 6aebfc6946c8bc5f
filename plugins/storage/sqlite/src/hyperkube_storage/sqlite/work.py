"""The kinds of work that the writer does for those who wait: each decides on a batch, then adds its statements."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from hyperkube_storage.sqlite import live_keys
from hyperkube_storage.sqlite.database import SEAL_LEASES, Database, failure
from hyperkube_storage.sqlite.index import Batch, Entry, Index
from hyperkube_storage.sqlite.rows import SET_STATE, last_row, read_item

from hyperkube.machinery.errors import UsageError
from hyperkube.storage.store import Compare, Delete, KeyValue, LeaseNotFound, Put, StoreError, StoreUnavailable


class Work:
    """One piece of work and its outcome."""

    def __init__(self) -> None:
        self.error: StoreError | None = None

    def decide(self, batch: Batch) -> None:
        """Add what the work changes to the batch."""

    def write(self, connection: sqlite3.Connection) -> None:
        """Execute statements of its own within the batch's transaction."""

    @property
    def writes(self) -> bool:
        """Tell whether the work has statements of its own."""
        return False

    def done(self) -> None:
        """Note that the work is durable; called with the store's lock held."""

    def finish(self) -> None:
        """Do what belongs in the writer's turn but outside its transaction."""


class Transaction(Work):
    """Compare, then write."""

    def __init__(self, compare: Sequence[Compare], success: Sequence[Put | Delete]) -> None:
        super().__init__()
        self.compare = compare
        self.success = success
        self.succeeded = False
        self.revision = 0
        self.current: list[Entry | None] = []

    def decide(self, batch: Batch) -> None:
        """Apply the operations if the comparisons hold, else note what is."""
        self.succeeded = batch.holds(self.compare)
        try:
            if self.succeeded:
                batch.apply(self.success)
            else:
                self.current = [batch.entry(condition.key) for condition in self.compare]
        except LeaseNotFound as error:
            self.error = error
        self.revision = batch.revision

    def read_current(
        self, connection: sqlite3.Connection, get: Callable[[str], KeyValue | None]
    ) -> list[KeyValue | None]:
        """Return what was compared with; a version that is compacted meanwhile is asked of `get`, as it is now."""
        compared = [(condition.key, entry) for condition, entry in zip(self.compare, self.current, strict=True)]
        return [entry and (read_item(connection, key, entry.row) or get(key)) for key, entry in compared]


class Statement(Work):
    """A change of what is not history.

    Args:
        sql: one statement.
        parameters: one row of them, or several.
    """

    def __init__(self, sql: str, parameters: Sequence[Sequence[int | float | str]]) -> None:
        super().__init__()
        self._sql = sql
        self._parameters = parameters
        self.last_row = 0

    @property
    def writes(self) -> bool:
        """Always."""
        return True

    def write(self, connection: sqlite3.Connection) -> None:
        """Execute it."""
        if len(self._parameters) == 1:
            self.last_row = connection.execute(self._sql, self._parameters[0]).lastrowid or 0
        else:
            connection.executemany(self._sql, self._parameters)


class GrantLease(Statement):
    """Remember a lease."""

    def __init__(self, expires: float, leases: dict[int, float]) -> None:
        super().__init__("INSERT INTO lease (expires) VALUES (?)", [(expires,)])
        self._expires = expires
        self._leases = leases

    def write(self, connection: sqlite3.Connection) -> None:
        """Execute it, then add the checksum, which is about the id as well."""
        super().write(connection)
        connection.execute(f"{SEAL_LEASES} WHERE id = ?", (self.last_row,))

    def done(self) -> None:
        """Let writes use the lease."""
        self._leases[self.last_row] = self._expires


class EndLease(Statement):
    """Delete keys of a lease, and forget the lease with the last of them.

    Args:
        lease: its id.
        leases: those that there are.
        most: keys that are deleted.

    Attributes:
        is_over: whether these were all.
    """

    def __init__(self, lease: int, leases: dict[int, float], most: int) -> None:
        super().__init__("DELETE FROM lease WHERE id = ?", [(lease,)])
        self.is_over = False
        self._lease = lease
        self._leases = leases
        self._most = most

    @property
    def writes(self) -> bool:
        """Whether the lease is forgotten."""
        return self.is_over

    def decide(self, batch: Batch) -> None:
        """Delete keys."""
        self.is_over = batch.end_lease(self._lease, self._most)

    def write(self, connection: sqlite3.Connection) -> None:
        """Forget the lease if it has no other keys."""
        if self.is_over:
            super().write(connection)

    def done(self) -> None:
        """Let no write use a lease that is over."""
        if self.is_over:
            self._leases.pop(self._lease, None)


class RemoveRows(Work):
    """Remove rows of history, and remember how far that was done."""

    def __init__(self, ids: Sequence[int], cleaned: int) -> None:
        super().__init__()
        self._ids = ids
        self._cleaned = cleaned

    @property
    def writes(self) -> bool:
        """Always."""
        return True

    def write(self, connection: sqlite3.Connection) -> None:
        """Execute it."""
        connection.executemany("DELETE FROM history WHERE id = ?", [(row_id,) for row_id in self._ids])
        connection.execute(SET_STATE, (self._cleaned, "cleaned"))


class WriteLiveKeys(Work):
    """Bring the table of live keys up to what is committed.

    Attributes:
        taken: what the index said was changed; it has to have it back if the work fails.
        until: the row of history up to which the table is right then.

    Args:
        index: what is committed.
        revision: returns up to where that is.
    """

    def __init__(self, index: Index, revision: Callable[[], int]) -> None:
        super().__init__()
        self._index = index
        self._revision = revision
        self.taken: dict[str, int] = {}
        self.until = 0

    @property
    def writes(self) -> bool:
        """Always."""
        return True

    def write(self, connection: sqlite3.Connection) -> None:
        """Write what was changed until now: index and revision know nothing of this batch yet."""
        self.until = last_row(self._revision())
        self.taken, self._index.changed = self._index.changed, {}
        live_keys.write(connection, self._index, self.taken, self.until)


class CloneFile(Work):
    """Let another file share the blocks of the storage file, in the turn in which nothing is written.

    Attributes:
        cloned: False where the file system cannot do that, or while readers keep the log from being emptied.
    """

    def __init__(self, database: Database, target: Path, lease_shift: float) -> None:
        super().__init__()
        self._database = database
        self._target = target
        self._lease_shift = lease_shift
        self.cloned = False

    def finish(self) -> None:
        """Bring the file up to date, then clone it."""
        from hyperkube_storage.sqlite.copies import clone  # the first fork asks for it

        try:
            if self._database.finish_checkpoint():
                self.cloned = clone(self._database.path, self._target, lease_shift=self._lease_shift)
        except sqlite3.Error as error:
            self.error = failure(error)
        except UsageError as error:
            self.error = StoreUnavailable(str(error))


class FinishCheckpoint(Work):
    """Complete a checkpoint while there is no writer.

    Attributes:
        complete: whether all of the log was copied, which a reader of an older state prevents.
    """

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database
        self.complete = False

    def finish(self) -> None:
        """Copy the rest of the log."""
        try:
            self.complete = self._database.finish_checkpoint()
        except sqlite3.Error as error:
            self.error = failure(error)


class GiveBack(Work):
    """Make the file smaller by some pages while nothing else is written.

    It is no part of the batch's transaction: a disk too full for it costs nobody a write.
    """

    def __init__(self, database: Database, pages: int) -> None:
        super().__init__()
        self._database = database
        self._pages = pages

    def finish(self) -> None:
        """Move them."""
        try:
            self._database.give_back(self._pages)
        except sqlite3.Error as error:
            self.error = failure(error)
