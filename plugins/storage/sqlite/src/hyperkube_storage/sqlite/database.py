"""The file: one process at a time, private to its owner, flushed before a commit returns.

Rows are versions of keys and only ever appended or, by compaction, removed. A row's id is its revision and its place
within the transaction, so that the order of the table is the order of history and no second index is needed; each row
names the one it replaced.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from zlib import crc32

from hyperkube_storage.sqlite.arriving import arriving

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.recent import forgets
from hyperkube.storage.store import StoreError, StoreFull, StoreUnavailable

APPLICATION_ID = 0x68794B75  # "hyKu"
FORMAT = 3
"""Raised when an older hyperkube could not read the file any more. 2: versions have checksums. 3: all rows have."""

PLACE_BITS = 20
"""Bits of a row's id that count the keys within one transaction; the revision is above them."""

IDLE_READERS = 4
CACHE_KIB = 512
"""SQLite's page cache per connection; what is hot is in the watch cache already."""

LOG_BYTES = 16 * 1024 * 1024
"""Size that the log's file keeps when it starts anew."""

GIVES_BACK = "PRAGMA auto_vacuum = INCREMENTAL"
_INCREMENTAL = 2
SPARE_SHARE, SPARE_PAGES = 4, 128
"""Free pages that the file keeps for what is written next: a quarter of those in use, and at least half a MiB."""

_TABLES = """
BEGIN IMMEDIATE;
CREATE TABLE history (
  id INTEGER PRIMARY KEY,      -- revision << 20 | place within the transaction
  previous INTEGER NOT NULL,   -- the row that this one replaced, 0 for a creation
  key TEXT NOT NULL,
  created INTEGER NOT NULL,    -- the revision of the key's creation
  version INTEGER NOT NULL,    -- 0 marks a deletion
  lease INTEGER NOT NULL,
  value BLOB NOT NULL,
  sum INTEGER                  -- CRC-32 of all the others; NULL in rows of format 1
);
CREATE TABLE lease (id INTEGER PRIMARY KEY AUTOINCREMENT, expires REAL NOT NULL, sum INTEGER);
CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL, sum INTEGER) WITHOUT ROWID;
INSERT INTO state VALUES ('compacted', 0, NULL), ('cleaned', 0, NULL);
"""
SEAL_STATE = "UPDATE state SET sum = crc(name || ' ' || value)"
SEAL_LEASES = "UPDATE lease SET sum = crc(id || ' ' || expires)"
"""Put the right checksums to rows; with a WHERE, to some of them."""

_UPGRADES = {
    1: "ALTER TABLE history ADD COLUMN sum INTEGER;",
    2: "ALTER TABLE lease ADD COLUMN sum INTEGER; ALTER TABLE state ADD COLUMN sum INTEGER;",
}
"""What makes a file of a format one of the next."""
_SEAL = f"{SEAL_STATE}; {SEAL_LEASES};"
_STAMP = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {FORMAT}; COMMIT;"


def failure(error: sqlite3.Error) -> StoreError:
    """Return what a failed statement means for the writer or reader."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return StoreFull("the disk is full")
    return StoreUnavailable(f"the storage file cannot be used: {error}")


def unusable(path: Path, error: sqlite3.Error) -> UsageError:
    """Return what a user is told about a file that fails while it is opened."""
    damaged = getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
    return UsageError(f"storage file {str(path)!r} {'is damaged' if damaged else 'cannot be used'}: {error}")


_CHECKPOINT = "PRAGMA wal_checkpoint(PASSIVE)"
_MAGIC, _HEAD_BYTES = b"SQLite format 3\x00", 100
_REMEDY = "restore a backup with 'hyperkube storage restore --force'"


def teach_checksums(connection: sqlite3.Connection) -> None:
    """Give a connection the SQL function ``crc``: the CRC-32 of a text."""
    connection.create_function("crc", 1, lambda text: crc32(str(text).encode()), deterministic=True)


def _create(path: Path) -> None:
    """Make a new file; it has its name only with its tables in it, so that an empty one is never a new one."""
    with arriving(path) as partial, closing(sqlite3.connect(partial, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")  # it is flushed as a whole before it gets its name
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute(GIVES_BACK)  # before there is a table, or it needs a VACUUM
        teach_checksums(connection)
        connection.executescript(_TABLES + _SEAL + _STAMP)


def _refuse_short(path: Path) -> None:
    """Refuse a file that has lost its end, which SQLite would not notice before it is read there.

    What is in the log only is copied first: a crash may have come before that.

    Raises:
        UsageError: there is less of it than there was.
        sqlite3.Error: it cannot be read at all.
    """
    size = path.stat().st_size
    if not size:
        raise UsageError(f"storage file {str(path)!r} is damaged: it is empty; {_REMEDY}, or remove it to start anew")
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(_CHECKPOINT).fetchall()
        size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if len(head) == _HEAD_BYTES and head.startswith(_MAGIC):
        page = int.from_bytes(head[16:18], "big")
        wanted = int.from_bytes(head[28:32], "big") * (page if page > 1 else 1 << 16)
        if size < wanted:
            lost = wanted - size
            raise UsageError(f"storage file {str(path)!r} is damaged: its last {lost} bytes are missing; {_REMEDY}")


class Database:
    """An open and locked storage file.

    Raises:
        UsageError: the file is in use, unreadable, not writable, damaged, foreign or of a newer format.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._readers: list[sqlite3.Connection] = []
        self._readers_lock = threading.Lock()
        self._closed = False
        self._lock_file = self.lock(path)
        try:
            if not path.exists():
                _create(path)
            _refuse_short(path)
            self.writer = self._connect()
            self._prepare()
        except sqlite3.Error as error:
            self._unlock()
            raise unusable(path, error) from error
        except UsageError:
            self._unlock()
            raise
        forgets(self)

    def forget(self) -> None:
        """Close the connections on which no read is under way, half a MiB each."""
        with self._readers_lock:
            idle, self._readers = self._readers, []
        for connection in idle:
            connection.close()

    @contextmanager
    def reader(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection for reading.

        Raises:
            StoreUnavailable: the file cannot be read.
        """
        with self._readers_lock:
            if self._closed:
                raise StoreUnavailable("the store is closed")
            connection = self._readers.pop() if self._readers else None
        try:
            connection = connection or self._connect()
            yield connection
        except sqlite3.Error as error:
            raise failure(error) from error
        finally:
            if connection is not None:
                self._take_back(connection)

    def checkpoint(self) -> None:
        """Copy the write-ahead log into the file, beside the writer and without keeping it waiting."""
        with self.reader() as connection:
            connection.execute(_CHECKPOINT).fetchall()

    def finish_checkpoint(self) -> bool:
        """Copy what was written since `checkpoint`, in the writer's turn, so that the log starts anew.

        A log that is written over is half as dear to flush as one that grows. Returns whether all of it was copied.
        """
        ((busy, in_log, copied),) = self.writer.execute(_CHECKPOINT).fetchall()
        return not busy and in_log == copied

    def surplus_pages(self) -> int:
        """Return how many free pages the file could do without; 0 for a file that cannot give any back.

        A file from before hyperkube had that can once it has been compacted from outside (`storage compact`).
        """
        with self.reader() as connection:
            (mode,) = connection.execute("PRAGMA auto_vacuum").fetchone()
            (free,) = connection.execute("PRAGMA freelist_count").fetchone()
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
        keep = max((pages - free) // SPARE_SHARE, SPARE_PAGES)
        return max(free - keep, 0) if mode == _INCREMENTAL else 0

    def give_back(self, pages: int) -> None:
        """Move pages from the file's end to free ones; the next checkpoint cuts them off. In the writer's turn."""
        self.writer.execute(f"PRAGMA incremental_vacuum({pages})").fetchall()

    def close(self) -> None:
        """Close all connections, which empties the write-ahead log, and let others have the file."""
        with self._readers_lock:
            self._closed = True
            for connection in (*self._readers, self.writer):
                connection.close()
            self._readers.clear()
        self._unlock()

    @staticmethod
    def lock(path: Path) -> int:
        """Create the folder for its owner alone and take the lock that tells other processes to stay away.

        Returns the open lock file; closing it gives the lock back.

        Raises:
            UsageError: another process has it, or the place cannot be written to.
        """
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if path.exists():
                os.close(os.open(path, os.O_RDWR))
            file = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise UsageError(f"storage file {str(path)!r} cannot be used: {error.strerror}") from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.pread(file, 20, 0).decode(errors="replace").strip() or "unknown"
            os.close(file)
            raise UsageError(f"storage file {str(path)!r} is in use by process {owner}") from error
        os.truncate(file, 0)
        os.pwrite(file, str(os.getpid()).encode(), 0)
        return file

    def _unlock(self) -> None:
        os.close(self._lock_file)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=5.0, isolation_level=None, check_same_thread=False)
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
        teach_checksums(connection)
        return connection

    def _prepare(self) -> None:
        """Check that this is a file that we can read."""
        (application,) = self.writer.execute("PRAGMA application_id").fetchone()
        (version,) = self.writer.execute("PRAGMA user_version").fetchone()
        name = str(self.path)
        if application != APPLICATION_ID:
            raise UsageError(f"storage file {name!r} is a database of another program")
        if version > FORMAT:
            raise UsageError(f"storage file {name!r} has format {version}, this hyperkube reads up to {FORMAT}")
        if version < FORMAT:
            steps = "".join(step for before, step in _UPGRADES.items() if before >= version)
            self.writer.executescript("BEGIN IMMEDIATE; " + steps + _SEAL + _STAMP)
        self.writer.execute("PRAGMA journal_mode = WAL")  # without effect unless it is a restored backup
        # A read-only file opens without complaint: find out now, not at the first write.
        self.writer.execute("UPDATE state SET value = value WHERE name = 'compacted'")

    def _take_back(self, connection: sqlite3.Connection) -> None:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        with self._readers_lock:
            if len(self._readers) < IDLE_READERS and not self._closed:
                self._readers.append(connection)
                return
        connection.close()
