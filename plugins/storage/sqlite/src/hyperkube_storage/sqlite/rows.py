"""Reading the table: single versions, the past of a range, and history as events."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from zlib import crc32

from hyperkube_storage.sqlite import live_keys
from hyperkube_storage.sqlite.database import PLACE_BITS, Database, unusable
from hyperkube_storage.sqlite.index import LARGEST_VERSION, Row, packed
from hyperkube_storage.sqlite.live_keys import Since

from hyperkube.machinery.errors import UsageError
from hyperkube.storage.store import KeyValue, StoreEvent

_ALL = "SELECT id, previous, key, created, version, lease, value, sum FROM history"
_KEY = "SELECT id, previous, key, created, version, lease, x'', NULL FROM history"

ITEMS_AT_ONCE = 500
"""Keys that one statement reads."""


class Found(NamedTuple):
    """What a file holds, as far as memory needs it; entries are `packed`, `since` is what the table of them lacks."""

    entries: dict[str, int]
    since: Since
    revision: int
    compacted: int
    cleaned: int
    leases: dict[int, float]


def load(database: Database) -> Found:
    """Read all that has to be in memory; the values are passed over.

    Raises:
        UsageError: the file is damaged.
    """
    try:
        state = _read_state(database.writer)
        wrong = _NO_STATE if state is None else _wrong(database.writer, "lease", "id || ' ' || expires")
        if state is None or wrong:
            database.close()
            raise UsageError(f"storage file {str(database.path)!r} is damaged: {wrong}")
        leases = dict(database.writer.execute("SELECT id, expires FROM lease").fetchall())
        entries, since = _read_live(database.writer, state) or _read_history(database.writer)
    except sqlite3.Error as error:
        database.close()
        raise unusable(database.path, error) from error
    revision = max(since.last >> PLACE_BITS, state["compacted"])
    return Found(entries, since, revision, state["compacted"], state["cleaned"], leases)


def _read_live(connection: sqlite3.Connection, state: Mapping[str, int]) -> tuple[dict[str, int], Since] | None:
    """Return the live keys by their table and what came after it, None where one of them is not to be relied on."""
    try:
        entries, until = live_keys.read(connection, state, last_row(state["compacted"]))
        since = live_keys.follow(connection, entries, until) if until else None
    except sqlite3.Error:  # of a damaged page history knows more
        return None
    return None if since is None else (entries, since)


def _read_history(connection: sqlite3.Connection) -> tuple[dict[str, int], Since]:
    """Return the live keys by walking history; have them in a table from now on if there are many."""
    entries, last, count = _read_index(connection)
    if count < live_keys.CHANGED_ROWS and not live_keys.is_there(connection):
        return entries, Since(dict.fromkeys(entries, 0), 0, last, count)
    connection.execute("BEGIN IMMEDIATE")
    live_keys.rewrite(connection, entries, last)
    connection.execute("COMMIT")
    return entries, Since({}, last, last, 0)


def _read_index(connection: sqlite3.Connection) -> tuple[dict[str, int], int, int]:
    """Return where each live key is, the last row, and how many rows there are.

    A key that is no text any more gets another, never asked for.
    """
    try:
        return _index(connection)
    except sqlite3.Error as error:
        if "decode to UTF-8" not in str(error):
            raise
    connection.text_factory = lambda raw: raw.decode(errors="replace")
    try:
        return _index(connection)
    finally:
        connection.text_factory = str


def _index(connection: sqlite3.Connection) -> tuple[dict[str, int], int, int]:
    entries: dict[str, int] = {}
    keys_at: dict[int, str] = {}
    row_id = count = 0
    history = connection.execute(
        "SELECT id, previous, key, created, version, lease, length(value) FROM history ORDER BY id"
    )
    for count, (row_id, previous, key, created, version, lease, length) in enumerate(history, 1):  # noqa: B007
        # A row that replaces another key's, and none of its own, has lost its key: that other one must not appear as it
        # was before. With one of its own to replace, it is the number that is wrong.
        replaced = keys_at.get(previous)
        if replaced is not None and (replaced == key or key not in entries):
            key = replaced  # noqa: PLW2901
            del keys_at[previous]
        if version or length:  # a deletion has no value: one with a value is a damaged version
            entries[key] = _entry(row_id, created, version, lease)
            keys_at[row_id] = key
        else:
            entries.pop(key, None)
    return entries, row_id, count


def _entry(row_id: int, created: int, version: int, lease: int) -> int:
    """Return where a key is; what a damaged row says beside that may be anything, and is reported when it is read."""
    try:
        if 0 < created <= row_id >> PLACE_BITS and 0 <= version < LARGEST_VERSION and lease >= 0:
            return packed(row_id, created, version, lease)
    except TypeError:  # SQLite tells a value's type from what the row says of itself
        pass
    return packed(row_id, row_id >> PLACE_BITS, 1, 0)


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


def read_item(connection: sqlite3.Connection, key: str, row_id: int, *, keys_only: bool = False) -> KeyValue | None:
    """Return a key as one row has it, None if the row was removed; a damaged row says so, and costs itself alone.

    The key is that of the index: what a damaged row says of itself is not believed.
    """
    try:
        found = connection.execute(f"{_KEY if keys_only else _ALL} WHERE id = ?", (row_id,)).fetchone()
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        return damaged_item(key, row_id, f"the storage file is damaged: {error}")
    if found is None:
        return None
    *columns, checksum = found
    row = Row(*columns)
    if row.key != key or (checksum is not None and checksum != row.checksum):
        return damaged_item(key, row_id, _not_as_written(key, row.revision))
    return key_value(row)


def damaged_item(key: str, row_id: int, why: str) -> KeyValue:
    """Return a key whose value is lost."""
    revision = row_id >> PLACE_BITS
    return KeyValue(key, b"", revision, revision, unreadable=why, damaged=True)


def is_damage(error: sqlite3.Error) -> bool:
    """Tell whether a statement failed because of what the file holds, rather than of what it is asked."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is None or code & 0xFF == sqlite3.SQLITE_CORRUPT or "decode to UTF-8" in str(error)


def _not_as_written(key: str, revision: int) -> str:
    return f"key {key!r} at revision {revision} is not what was written"


def read_items(connection: sqlite3.Connection, places: Mapping[str, int], *, keys_only: bool) -> list[KeyValue]:
    """Return keys with or without values, from the row that each of them is in."""
    keys = list(places)
    items: list[KeyValue] = []
    for start in range(0, len(keys), ITEMS_AT_ONCE):
        items += _read_some(connection, {key: places[key] for key in keys[start : start + ITEMS_AT_ONCE]}, keys_only)
    return items


def _read_some(connection: sqlite3.Connection, places: Mapping[str, int], keys_only: bool) -> list[KeyValue]:
    """Return some keys, read by one statement in the order of the file; one by one if any of them is damaged."""
    wanted = f"{_KEY if keys_only else _ALL} WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608 - constants
    ids = "[" + ",".join(map(str, places.values())) + "]"
    try:
        found = connection.execute(wanted, (ids,)).fetchall()
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        found = []
    by_id = {row[0]: row for row in found}
    items: list[KeyValue] = []
    for key, row_id in places.items():
        row = by_id.get(row_id)
        if row is not None:  # written out, as lists of thousands come this way
            _, previous, row_key, created, version, lease, value, checksum = row
            if row_key == key and type(value) is bytes:
                head = f"{row_id} {previous} {created} {version} {lease} {key}"
                if checksum is None or checksum == crc32(value, crc32(head.encode())):
                    items.append(KeyValue(key, value, created, row_id >> PLACE_BITS, version, lease))
                    continue
        item = read_item(connection, key, row_id, keys_only=keys_only)
        items.append(item or damaged_item(key, row_id, _lost(key)))
    return items


def _lost(key: str) -> str:
    return f"the storage file has lost key {key!r}"


def read_events(connection: sqlite3.Connection, start: str, end: str, after: int, until: int) -> list[StoreEvent]:
    """Return a range's changes after one revision up to another."""
    changes = connection.execute(
        "SELECT id, previous, key, version FROM history WHERE id >= ? AND id < ? AND key >= ? AND key < ? ORDER BY id",
        (first_row(after + 1), first_row(until + 1), start, end),
    )
    return [
        StoreEvent(
            key,
            row_id >> PLACE_BITS,
            read_item(connection, key, row_id) if version else None,
            read_item(connection, key, previous) if previous else None,
        )
        for row_id, previous, key, version in changes.fetchall()
    ]


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


def faults(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield what is wrong with the rows' own account of history: nothing if it holds together.

    Each row must be what was written, and name the one before it of the same key, whose versions count up.
    """
    latest: dict[str, tuple[int, int]] = {}
    state = _read_state(connection)
    if state is None:
        yield _NO_STATE
        return
    if wrong := _wrong(connection, "lease", "id || ' ' || expires"):
        yield wrong
    if count := live_keys.faults(connection):
        yield f"{count} rows of table 'live' are not what was written"
    columns = (
        "sum, id, previous, key, created, version, lease, value" if _has_sums(connection, "history") else _WITHOUT_SUMS
    )
    for checksum, *found in connection.execute(f"SELECT {columns} FROM history ORDER BY id"):  # noqa: S608 - constants
        row = Row(*found)
        if checksum is not None and checksum != row.checksum:
            yield _not_as_written(row.key, row.revision)
            latest.pop(row.key, None)
            continue
        before, count = latest.get(row.key, (0, 0))
        if row.previous != before and (before or row.previous > last_row(state["compacted"])):
            yield f"key {row.key!r} at revision {row.revision} does not follow its own history"
        elif row.version and before and row.version != count + 1:
            yield f"key {row.key!r} at revision {row.revision} has version {row.version} after {count}"
        latest[row.key] = (row.id if row.version else 0, row.version)


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


def event(row: Row, previous: KeyValue | None) -> StoreEvent:
    """Return a row as the change that it was."""
    return StoreEvent(row.key, row.revision, key_value(row) if row.version else None, previous)


def key_value(row: Row) -> KeyValue:
    """Return a row as a key at a revision."""
    return KeyValue(row.key, row.value, row.created, row.revision, row.version, row.lease)


def last_row(revision: int) -> int:
    """Return the highest id that a row of this revision could have."""
    return first_row(revision + 1) - 1


def first_row(revision: int) -> int:
    """Return the lowest id that a row of this revision could have."""
    return revision << PLACE_BITS
