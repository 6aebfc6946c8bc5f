"""New rows as the events that subscribers get."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hyperkube_storage.sqlite import rows
from hyperkube_storage.sqlite.database import Database
from hyperkube_storage.sqlite.index import Index, Row

from hyperkube.storage.store import KeyValue, StoreEvent


def as_events(
    new: Sequence[Row], wants_previous: Callable[[str], bool], database: Database, index: Index
) -> Sequence[StoreEvent]:
    """Return new rows, of which `index` knows nothing yet, as events.

    Previous values are read from the disk only of the keys that `wants_previous` tells.

    Raises:
        StoreUnavailable: the file cannot be read.
    """
    known = {row.id: row for row in new}
    read: dict[int, KeyValue | None] = {}
    if wanted := [row for row in new if row.previous and row.previous not in known and wants_previous(row.key)]:
        with database.reader() as connection:
            read = {row.id: rows.read_item(connection, row.key, row.previous) for row in wanted}
    return [rows.event(row, read[row.id] if row.id in read else _before(row, known, index)) for row in new]


def _before(row: Row, known: Mapping[int, Row], index: Index) -> KeyValue | None:
    """Return what a row replaced: from `known`, or without its value; None for a creation."""
    if (before := known.get(row.previous)) is not None:
        return rows.key_value(before)
    entry = index.get(row.key) if row.previous else None
    return KeyValue(row.key, b"", entry.created, entry.revision, entry.version, entry.lease) if entry else None
