"""Reading the table: single versions, the past of a range, and history as events."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hyperkube_storage.sqlite.database import PLACE_BITS, Database, unusable
from hyperkube_storage.sqlite.index import Entry, Row

from hyperkube.machinery.errors import UsageError
from hyperkube.storage.store import KeyValue, StoreEvent, StoreUnavailable

_ALL = "SELECT id, previous, key, created, version, lease, value, sum FROM history"
_BY_ID = f"{_ALL} WHERE id = ?"


_KEY_BY_ID = "SELECT id, previous, key, created, version, lease, x'', NULL FROM history WHERE id = ?"


class Found(NamedTuple):
    """What a file holds, as far as memory needs it."""

    entries: dict[str, Entry]
    revision: int
    compacted: int
    cleaned: int
    leases: dict[int, float]


def load(database: Database) -> Found:
    """Read all that has to be in memory; the values are passed over.

    Raises:
        UsageError: the file is damaged.
    """
    entries: dict[str, Entry] = {}
    last = 0
    try:
        history = database.writer.execute("SELECT id, key, created, version, lease FROM history ORDER BY id")
        for row_id, key, created, version, lease in history:
            last = row_id
            if version:
                entries[key] = Entry(row_id, created, version, lease)
            else:
                entries.pop(key, None)
        state = _read_state(database.writer)
        wrong_leases = _wrong(database.writer, "lease", "id || ' ' || expires")
        leases = dict(database.writer.execute("SELECT id, expires FROM lease").fetchall())
    except sqlite3.Error as error:
        database.close()
        raise unusable(database.path, error) from error
    if state is None or wrong_leases:
        database.close()
        raise UsageError(f"storage file {str(database.path)!r} is damaged: {wrong_leases or _NO_STATE}")
    revision = max(last >> PLACE_BITS, state["compacted"])
    return Found(entries, revision, state["compacted"], state["cleaned"], leases)


SET_STATE = "UPDATE state SET value = max(value, ?1), sum = crc(name || ' ' || max(value, ?1)) WHERE name = ?2"
"""Takes a value, which never becomes smaller, and the name."""

_NO_STATE = "it does not say how far it is compacted"


def _read_state(connection: sqlite3.Connection) -> dict[str, int] | None:
    """Return how far the file is compacted and cleaned; None if it does not say so any more."""
    state = dict(connection.execute("SELECT name, value FROM state").fetchall())
    if _wrong(connection, "state", "name || ' ' || value"):
        return None
    whole = all(isinstance(state.get(name), int) for name in ("compacted", "cleaned"))
    return state if whole else None


MOST_AT_ONCE = 64
"""Rows that one statement inserts; the connection keeps the compiled statement for each number of them."""


def insert_at_once(connection: sqlite3.Connection, new: Sequence[Row]) -> None:
    """Insert rows and commit, in one statement: each gives the interpreter away, and a crowd is slow to return it."""
    places = ", ".join(["(?, ?, ?, ?, ?, ?, ?, ?)"] * len(new))
    values = [value for row in new for value in (*row, row.checksum)]
    connection.execute(f"INSERT INTO history VALUES {places}", values)  # noqa: S608 - question marks only


def begin_snapshot(connection: sqlite3.Connection) -> None:
    """Let the connection see the file as it is now until it is given back."""
    connection.execute("BEGIN")
    connection.execute("SELECT value FROM state WHERE name = 'compacted'").fetchone()


def read(connection: sqlite3.Connection, row_id: int) -> Row | None:
    """Return one row, None if it was removed.

    Raises:
        StoreUnavailable: it is not what was written.
    """
    found = connection.execute(_BY_ID, (row_id,)).fetchone()
    return _whole(found) if found else None


def _whole(found: Sequence[Any]) -> Row:
    """Return a row as it was read, if its checksum says that it was written so."""
    *columns, checksum = found
    row = Row(*columns)
    if checksum is not None and checksum != row.checksum:
        raise StoreUnavailable(f"the storage file is damaged: {_not_as_written(row)}")
    return row


def _not_as_written(row: Row) -> str:
    return f"key {row.key!r} at revision {row.revision} is not what was written"


def read_items(connection: sqlite3.Connection, ids: Sequence[int], *, keys_only: bool) -> list[KeyValue]:
    """Return the rows as keys with or without values."""
    one = _KEY_BY_ID if keys_only else _BY_ID
    return [key_value(_whole(connection.execute(one, (row_id,)).fetchone())) for row_id in ids]


def rewind(
    connection: sqlite3.Connection, latest: Mapping[str, int], start: str, end: str, revision: int, now: int
) -> dict[str, int]:
    """Return the row of each key in a range as of `revision`, in order, from those as of `now`.

    The first change of a key after `revision` names the row that it replaced.
    """
    changes = connection.execute(
        "SELECT key, previous FROM history WHERE id >= ? AND id < ? AND key >= ? AND key < ? ORDER BY id DESC",
        (_first_row(revision + 1), _first_row(now + 1), start, end),
    )
    then = {**latest, **dict(changes.fetchall())}
    return {key: then[key] for key in sorted(then) if then[key]}


def read_events(connection: sqlite3.Connection, start: str, end: str, after: int, until: int) -> list[StoreEvent]:
    """Return a range's changes after one revision up to another."""
    changes = connection.execute(
        f"{_ALL} WHERE id >= ? AND id < ? AND key >= ? AND key < ? ORDER BY id",
        (_first_row(after + 1), _first_row(until + 1), start, end),
    )
    return [event(row, previous_of(connection, row, {})) for row in map(_whole, changes.fetchall())]


def previous_of(connection: sqlite3.Connection, row: Row, known: Mapping[int, Row]) -> Row | None:
    """Return the row that this one replaced, from `known` or the file; None for a creation."""
    return known.get(row.previous) or (read(connection, row.previous) if row.previous else None)


def hidden(connection: sqlite3.Connection, after: int, compacted: int, most: int) -> tuple[list[int], int]:
    """Return ids of rows that compaction has hidden, and the row id up to which these are all; looks at `most` rows.

    A row is hidden when it was replaced at or before the compacted revision, or marks a deletion there.
    """
    end = last_row(compacted)
    changes = connection.execute(
        "SELECT id, previous, version FROM history WHERE id > ? AND id <= ? ORDER BY id LIMIT ?", (after, end, most)
    ).fetchall()
    ids = [previous for _, previous, _ in changes if previous]
    ids += [row_id for row_id, _, version in changes if not version]
    return ids, end if len(changes) < most else changes[-1][0]


def first_fault(connection: sqlite3.Connection) -> str:
    """Return what is wrong with the rows' own account of history, empty if it holds together.

    Each row must be what was written, and name the one before it of the same key, whose versions count up.
    """
    latest: dict[str, tuple[int, int]] = {}
    state = _read_state(connection)
    if state is None:
        return _NO_STATE
    if wrong := _wrong(connection, "lease", "id || ' ' || expires"):
        return wrong
    columns = (
        "sum, id, previous, key, created, version, lease, value" if _has_sums(connection, "history") else _WITHOUT_SUMS
    )
    for checksum, *found in connection.execute(f"SELECT {columns} FROM history ORDER BY id"):  # noqa: S608 - constants
        row = Row(*found)
        if checksum is not None and checksum != row.checksum:
            return _not_as_written(row)
        before, count = latest.get(row.key, (0, 0))
        if row.previous != before and (before or row.previous > last_row(state["compacted"])):
            return f"key {row.key!r} at revision {row.revision} does not follow its own history"
        if row.version and before and row.version != count + 1:
            return f"key {row.key!r} at revision {row.revision} has version {row.version} after {count}"
        latest[row.key] = (row.id if row.version else 0, row.version)
    return ""


def survey(connection: sqlite3.Connection, revision: int) -> tuple[int, int, dict[str, int]]:
    """Return the last revision, the oldest that can be read, and the live keys at a revision (0: the last).

    A key comes with the revision of its last write until then.
    """
    state = _read_state(connection) or {"compacted": 0}
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM history").fetchone()
    end = last_row(revision) if revision else last
    keys: dict[str, int] = {}
    for row_id, key, version in connection.execute(
        "SELECT id, key, version FROM history WHERE id <= ? ORDER BY id", (end,)
    ):
        if version:
            keys[key] = row_id >> PLACE_BITS
        else:
            keys.pop(key, None)
    return max(last >> PLACE_BITS, state["compacted"]), state["compacted"], keys


_WITH_SUMS = "sum, id, previous, key, created, version, lease, value"
_WITHOUT_SUMS = "NULL, id, previous, key, created, version, lease, value"


def _has_sums(connection: sqlite3.Connection, table: str) -> bool:
    return any(column[1] == "sum" for column in connection.execute(f"PRAGMA table_info({table})"))


def _wrong(connection: sqlite3.Connection, table: str, content: str) -> str:
    """Return that rows of a small table are not what was written; empty if they are, or have no checksums yet."""
    if not _has_sums(connection, table):
        return ""
    count = f"SELECT count(*) FROM {table} WHERE sum IS NOT crc({content})"  # noqa: S608 - constants
    (wrong,) = connection.execute(count).fetchone()
    return f"{wrong} rows of table {table!r} are not what was written" if wrong else ""


def event(row: Row, previous: Row | None) -> StoreEvent:
    """Return a row as the change that it was."""
    current = key_value(row) if row.version else None
    return StoreEvent(row.key, row.revision, current, key_value(previous) if previous else None)


def key_value(row: Row) -> KeyValue:
    """Return a row as a key at a revision."""
    return KeyValue(row.key, row.value, row.created, row.revision, row.version, row.lease)


def last_row(revision: int) -> int:
    """Return the highest id that a row of this revision could have."""
    return _first_row(revision + 1) - 1


def _first_row(revision: int) -> int:
    return revision << PLACE_BITS
