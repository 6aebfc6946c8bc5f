"""Care for a storage file from outside: check it, compact it, copy it under load, put a copy back."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from hyperkube_storage.sqlite import live_keys, rows
from hyperkube_storage.sqlite.arriving import SIDE_FILES, arriving
from hyperkube_storage.sqlite.copies import clone, copy
from hyperkube_storage.sqlite.database import (
    APPLICATION_ID,
    FORMAT,
    GIVES_BACK,
    PLACE_BITS,
    Database,
    teach_checksums,
    unusable,
)

from hyperkube.hookspecs.storage import Survey
from hyperkube.machinery.errors import UsageError

_MOST_FAULTS = 100
"""As many damaged rows are listed."""


class FileUpkeep:
    """Care for the file at `path`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def check(self) -> str:
        """Read every page and every row; say what is there.

        Raises:
            UsageError: there is no such file, or something in it is wrong.
        """
        with _reading(self._path) as connection:
            return _check(self._path, connection)

    def compact(self) -> str:
        """Forget all history and shrink the file.

        Raises:
            UsageError: a server uses the file, or it is damaged.
        """
        _must_exist(self._path)
        before = self._path.stat().st_size
        database = Database(self._path)
        try:
            _forget(database)
        except sqlite3.Error as error:
            raise unusable(self._path, error) from error
        finally:
            database.close()
        return f"compacted: {before} bytes before, {self._path.stat().st_size} bytes now"

    def backup(self, target: Path, *, force: bool) -> str:
        """Copy one state of the file, also while it is written to.

        Raises:
            UsageError: the target exists (without `force`) or cannot be written, or the file is damaged, or not a
                store yet. Whatever was at the target stays then.
        """
        _free(target, force=force)
        with _reading(self._path) as connection:
            _recognize(self._path, connection)
            with arriving(target) as partial:
                copy(connection, partial)
                with _reading(partial) as copied:
                    found = _check(partial, copied, named=self._path)
        return f"saved to {str(target)!r}: {found}"

    def restore(self, source: Path, *, force: bool) -> str:
        """Put a backup in the file's place.

        Raises:
            UsageError: the backup is damaged, or there is a store already (without `force`) or a server that uses it.
        """
        with _reading(source) as connection:
            found = _check(source, connection)
            _free(self._path, force=force)
            with _alone(self._path):
                for ending in SIDE_FILES:  # they belong to the file that goes
                    self._path.with_name(self._path.name + ending).unlink(missing_ok=True)
                copy(connection, self._path)
        return f"restored to {str(self._path)!r}: {found}"

    def fork(self, folder: Path) -> str:
        """Copy the file into a folder; one that no server uses shares its blocks with the copy if the disk can do that.

        Raises:
            UsageError: there is a store in the folder already or it cannot be written, or the file is damaged.
        """
        target = folder / self._path.name
        _free(target, force=False)
        shared = self._is_free() and self._clone(target)
        if not shared:
            with _reading(self._path) as connection:
                copy(connection, target)
        found = FileUpkeep(target).survey()
        how = "shares its blocks" if shared else f"{target.stat().st_size} bytes copied"
        return f"revision {found.revision}, {len(found.keys)} keys, {how}"

    def survey(self, *, source: Path | None = None, revision: int = 0) -> Survey:
        """Read which keys there are, now or at a revision.

        Raises:
            UsageError: the file is missing or damaged, or the revision cannot be read.
        """
        path = source or self._path
        with _reading(path) as connection:
            _recognize(path, connection)
            connection.execute("BEGIN")
            last, oldest, keys = rows.survey(connection, revision)
        if revision > last:
            raise UsageError(f"revision {revision} does not exist yet, the current one is {last}")
        if 0 < revision < oldest:
            raise UsageError(f"revision {revision} has been compacted, the oldest retained one is {oldest}")
        return Survey(revision or last, oldest, keys)

    def _is_free(self) -> bool:
        """Tell whether no server uses the file, which must exist."""
        _must_exist(self._path)
        try:
            os.close(Database.lock(self._path))
        except UsageError:
            return False
        return True

    def _clone(self, target: Path) -> bool:
        database = Database(self._path)
        try:
            return database.finish_checkpoint() and clone(self._path, target)
        except sqlite3.Error as error:
            raise unusable(self._path, error) from error
        finally:
            database.close()


def _must_exist(path: Path) -> None:
    if not path.is_file():
        raise UsageError(f"storage file {str(path)!r} does not exist")


def _free(target: Path, *, force: bool) -> None:
    if target.exists() and not force:
        raise UsageError(f"{str(target)!r} exists: give --force to replace it")


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Lend a connection that cannot write; whatever fails means that the file is unusable."""
    _must_exist(path)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=5.0)) as connection:
            teach_checksums(connection)
            yield connection
    except sqlite3.Error as error:
        raise unusable(path, error) from error


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the lock that a server would hold."""
    lock = Database.lock(path)
    try:
        yield
    finally:
        os.close(lock)


def _recognize(path: Path, connection: sqlite3.Connection) -> None:
    """Refuse a file that is not ours, or of a format that we do not know.

    Raises:
        UsageError: it is one of these.
    """
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if not tables:
        raise UsageError(f"storage file {str(path)!r} holds nothing yet: is its server still starting?")
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise UsageError(f"storage file {str(path)!r} is a database of another program")
    if version > FORMAT:
        raise UsageError(f"storage file {str(path)!r} has format {version}, this hyperkube reads up to {FORMAT}")


def _check(path: Path, connection: sqlite3.Connection, *, named: Path | None = None) -> str:
    """Return what a file holds.

    Args:
        path: the file.
        connection: reads it.
        named: the file that faults are those of, if this one is a copy.

    Raises:
        UsageError: it is not a whole storage file.
        sqlite3.Error: it cannot even be read.
    """
    named = named or path
    _recognize(named, connection)
    connection.execute("BEGIN")
    problems = [text for (text,) in connection.execute("PRAGMA integrity_check(1)") if text != "ok"]
    faults = [" ".join(problems[0].split())] if problems else list(rows.faults(connection))
    if faults:
        more = f"; and {len(faults) - _MOST_FAULTS} more" if len(faults) > _MOST_FAULTS else ""
        raise UsageError(f"storage file {str(named)!r} is damaged: {'; '.join(faults[:_MOST_FAULTS])}{more}")
    keys, versions, last = connection.execute(
        "SELECT count(DISTINCT key), count(*), coalesce(max(id), 0) FROM history"
    ).fetchone()
    connection.execute("ROLLBACK")
    return f"ok, revision {last >> PLACE_BITS}, {keys} keys in {versions} versions, {path.stat().st_size} bytes"


def _forget(database: Database) -> None:
    """Remove all versions but the last of each live key."""
    found = rows.load(database)
    writer = database.writer
    writer.execute("BEGIN IMMEDIATE")
    ids, _ = rows.hidden(writer, found.cleaned, found.revision, -1)
    writer.executemany("DELETE FROM history WHERE id = ?", [(row_id,) for row_id in ids])
    state = [(found.revision, "compacted"), (rows.last_row(found.revision), "cleaned")]
    writer.executemany(rows.SET_STATE, state)
    live_keys.rewrite(writer, found.entries, rows.last_row(found.revision))
    writer.execute("COMMIT")
    writer.execute(GIVES_BACK)
    writer.execute("VACUUM")
