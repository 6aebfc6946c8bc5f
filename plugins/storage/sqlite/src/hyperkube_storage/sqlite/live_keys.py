"""The table of live keys: what history comes to up to one of its rows, so that a start need not walk all of it.

History is the truth, but to find each key's latest version in it is to read every page of the file, values and all. The
table says that in a twentieth of the pages. It is written in the background, from what is in memory, and not by the
transactions that clients wait for; a start reads it, then the history since (`follow`).

Rows are told by their place in history, as there, so that keys that are often written are neighbours at the end.
Nothing depends on the table: where a row of it is not what was written, or one is missing, or history does not go on
from it, or it reaches less far than compaction has come, it is passed over and history is walked.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from operator import add
from typing import NamedTuple, cast
from zlib import crc32

from hyperkube_storage.sqlite.database import PLACE_BITS
from hyperkube_storage.sqlite.index import LARGEST_VERSION, Entry, Index, packed, unpacked

INDEXED, COUNT = "indexed", "live"
"""Names in the table ``state``: the last row of history that the table takes in, and how many keys there are in it."""

CHANGED_KEYS, CHANGED_ROWS = 2000, 5000
"""Changed keys, or rows of history, from which on the table is brought up to date: a writer may wait 10 ms for that."""

TABLE = "live"
_TABLE = """
CREATE TABLE IF NOT EXISTS live (
  id INTEGER PRIMARY KEY,      -- the row of history
  key TEXT NOT NULL,
  created INTEGER NOT NULL,
  version INTEGER NOT NULL,
  lease INTEGER NOT NULL,
  sum INTEGER NOT NULL         -- id, and CRC-32 of the others; of the key alone where they follow from the id
)
"""
_SET = (
    "INSERT INTO state VALUES (?1, ?2, crc(?1 || ' ' || ?2))"
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value, sum = excluded.sum"
)
_INSERT = "INSERT INTO live VALUES (?, ?, ?, ?, ?, ?)"
_IS_PLAIN = f"version = 1 AND lease = 0 AND created = id >> {PLACE_BITS}"
_CONTENT = f"iif({_IS_PLAIN}, key, created || ' ' || version || ' ' || lease || ' ' || key)"
_AT_ONCE = 5000
_PLAIN = packed(1 << PLACE_BITS, 1, 1, 0) - (1 << PLACE_BITS)
"""What is above the row in the entry of a plain key, which was written once and without a lease."""


class Since(NamedTuple):
    """What history has changed since the table of live keys was written.

    Attributes:
        changed: the keys, with the rows under which the table has them, 0 for none.
        until: up to which row of history the table goes, 0 if there is none.
        last: the last row of history.
        rows: how many rows of history have come since.
    """

    changed: dict[str, int]
    until: int
    last: int
    rows: int


def faults(connection: sqlite3.Connection) -> int:
    """Return how many rows of the table are not what was written."""
    if not is_there(connection):
        return 0
    found = connection.execute(f"SELECT id, sum, CAST({_CONTENT} AS BLOB) FROM live")  # noqa: S608
    return sum(checksum != row_id + crc32(content or b"") for row_id, checksum, content in found)


def is_there(connection: sqlite3.Connection) -> bool:
    """Tell whether there is a table, to be relied on or not."""
    found = connection.execute("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", (TABLE,))
    return found.fetchone() is not None


def read(connection: sqlite3.Connection, state: Mapping[str, int], compacted_row: int) -> tuple[dict[str, int], int]:
    """Return the live keys up to a row of history, and that row; none, and 0, if the table is not to be relied on.

    Args:
        connection: of the file.
        state: the table ``state``, found whole.
        compacted_row: the last row that compaction may have hidden.

    Raises:
        sqlite3.Error: the table cannot be read.
    """
    until, count = state.get(INDEXED, 0), state.get(COUNT, -1)
    if until < compacted_row:
        return {}, 0
    entries: dict[str, int] = {}
    # Nearly all keys were written once: what can be said of them in C is not said row by row.
    plain = connection.execute(f"SELECT id, CAST(key AS BLOB), sum FROM live WHERE {_IS_PLAIN}")  # noqa: S608
    while found := plain.fetchmany(_AT_ONCE):
        ids, keys, sums = zip(*found, strict=True)
        if sums != tuple(map(add, ids, map(crc32, keys))):
            return {}, 0
        entries.update(zip(map(bytes.decode, keys), map(_PLAIN.__add__, ids), strict=True))
    for row_id, key, checksum, created, version, lease in connection.execute(
        f"SELECT id, key, sum, created, version, lease FROM live WHERE NOT ({_IS_PLAIN})"  # noqa: S608
    ):
        if checksum != _checksum(key, Entry(row_id, created, version, lease)):
            return {}, 0
        entries[key] = packed(row_id, created, version, lease)
    return (entries, until) if len(entries) == count else ({}, 0)


def follow(connection: sqlite3.Connection, entries: dict[str, int], after: int) -> Since | None:
    """Bring live keys up to date with the history after a row.

    Returns: what that changed; None if history does not go on from there: then one of the two is damaged.

    Raises:
        sqlite3.Error: history cannot be read.
    """
    last, count, changed = after, 0, dict[str, int]()
    history = connection.execute(
        "SELECT id, previous, key, created, version, lease, length(value) FROM history WHERE id > ? ORDER BY id",
        (after,),
    )
    for row_id, previous, key, created, version, lease, length in history:
        number = entries.get(key)
        before = 0 if number is None else unpacked(number).row
        if previous != before or not _is_plausible(row_id, created, version, lease, length):
            return None
        changed.setdefault(key, before)
        if version:
            entries[key] = packed(row_id, created, version, lease)
        else:
            entries.pop(key, None)
        last, count = row_id, count + 1
    return Since(changed, after, last, count)


def write(connection: sqlite3.Connection, index: Index, changed: Mapping[str, int], until: int) -> None:
    """Bring the table up to date, within a transaction.

    Args:
        connection: of the file.
        index: the live keys up to a row of history.
        changed: the keys that the table does not have like that, with the rows under which it has them, 0 for none.
        until: that row.
    """
    connection.execute(_TABLE)
    connection.executemany("DELETE FROM live WHERE id = ?", [(row_id,) for row_id in changed.values() if row_id])
    new = [(key, entry) for key in changed if (entry := index.get(key)) is not None]
    connection.executemany(_INSERT, [_row(key, entry) for key, entry in new])
    connection.execute(_SET, (COUNT, len(index)))
    connection.execute(_SET, (INDEXED, until))


def rewrite(connection: sqlite3.Connection, entries: Mapping[str, int], until: int) -> None:
    """Write the table anew, within a transaction: these live keys, which are all up to a row of history."""
    connection.execute("DROP TABLE IF EXISTS live")
    connection.execute(_TABLE)
    connection.executemany(_INSERT, (_row(key, unpacked(number)) for key, number in entries.items()))
    connection.execute(_SET, (COUNT, len(entries)))
    connection.execute(_SET, (INDEXED, until))


def _is_plausible(*row: object) -> bool:
    """Tell whether the numbers of a row can be right; a damaged one may have others, or none."""
    if not all(isinstance(number, int) for number in row):
        return False
    row_id, created, version, lease, length = cast("tuple[int, ...]", row)
    if not version:
        return not length
    return 0 < created <= row_id >> PLACE_BITS and 0 < version < LARGEST_VERSION and lease >= 0


def _row(key: str, entry: Entry) -> tuple[int, str, int, int, int, int]:
    return entry.row, key, entry.created, entry.version, entry.lease, _checksum(key, entry)


def _checksum(key: str, entry: Entry) -> int:
    row_id, created, version, lease = entry
    is_plain = version == 1 and not lease and created == row_id >> PLACE_BITS
    return row_id + crc32((key if is_plain else f"{created} {version} {lease} {key}").encode())
