"""Which rows a page of a range is made of, now or in the past: as much is looked at as the page needs."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

from hyperkube_storage.sqlite.rows import first_row

from hyperkube.storage.sorted_keys import keys_before

SPARE = 500
"""Live keys looked at beyond a page's, as a page of the past leaves out those that have come since."""


class Live(NamedTuple):
    """The first keys of a range, in order and with their rows, and how many there are in all of it."""

    rows: Mapping[str, int]
    total: int

    @property
    def is_cut(self) -> bool:
        """Whether there are more."""
        return len(self.rows) < self.total

    def first(self, limit: int) -> Live:
        """Return the first of them, 0 for all."""
        return Live(dict(islice(self.rows.items(), limit)), self.total) if limit else self

    def as_of(self, past: Mapping[str, Past], limit: int) -> Live | None:
        """Return the first `limit` keys (0: all) as they were before some changes; None if too few keys are known."""
        if self.is_cut and len(self.rows) < limit + len(past):
            return None
        was_there = {key: bool(change.row) for key, change in past.items()}
        then = keys_before(was_there, list(self.rows), limit, cut=self.is_cut)
        total = self.total + sum(bool(change.row) - change.is_live for change in past.values())
        return Live({key: past[key].row if key in past else self.rows[key] for key in then}, total)


class Past(NamedTuple):
    """A key that has changed since a revision: the row that held it then, 0 for none, and whether it is there now."""

    row: int
    is_live: bool


def changed_since(connection: sqlite3.Connection, start: str, end: str, revision: int, now: int) -> dict[str, Past]:
    """Return the keys of a range that were changed after `revision` and not after `now`.

    The first change of a key after `revision` names the row that it replaced, the last one tells whether it is there.
    """
    changes = connection.execute(
        "SELECT key, previous, version FROM history WHERE id >= ? AND id < ? AND key >= ? AND key < ? ORDER BY id",
        (first_row(revision + 1), first_row(now + 1), start, end),
    )
    found: dict[str, Past] = {}
    for key, previous, version in changes:
        first = found.get(key)
        found[key] = Past(previous if first is None else first.row, version > 0)
    return found
