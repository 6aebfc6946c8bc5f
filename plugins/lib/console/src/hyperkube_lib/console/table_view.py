"""What of a table one page shows: filtered, sorted, cut into pages; pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from hyperkube_lib.console.reader import Row, Table

from hyperkube.machinery.dataclass import dataclass

PAGE = 100
_AGE = re.compile(r"(?:(\d+)y)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_AGE_SECONDS = (365 * 86400, 86400, 3600, 60, 1)
_LEADING = re.compile(r"-?\d+(?:\.\d+)?")
_FINE = {"Running", "Completed", "Succeeded", "Active", "Bound", "Available", "Ready", "Complete", "True", "Normal"}
_STARTING = {"Pending", "ContainerCreating", "PodInitializing", "Terminating", "Released", "Suspended", "Progressing"}
_STATES = ("Status", "Phase", "State", "Type", "Condition")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a page asks for.

    Attributes:
        text: rows that have it in some cell, their name or namespace; several words must all be there.
        state: rows in that state.
        sort: the column's place to sort by, -1 for the server's order.
        page: from 1.
    """

    text: str = ""
    state: str = ""
    sort: int = -1
    descending: bool = False
    page: int = 1


@dataclass(frozen=True, slots=True)
class View:
    """What is shown.

    Attributes:
        rows: of this page.
        found: how many match.
        pages: how many pages they make.
        states: how many objects are in which state, the most frequent first; before the filter.
    """

    rows: Sequence[Row]
    found: int
    pages: int
    page: int
    states: Sequence[tuple[str, int]]


def view(table: Table, wanted: Wanted) -> View:
    """Return one page of a table."""
    state = state_column(table)
    states = Counter(row.cells[state] for row in table.rows).most_common(12) if state is not None else []
    rows: Iterable[Row] = table.rows
    if wanted.state and state is not None:
        rows = (row for row in rows if row.cells[state] == wanted.state)
    words = wanted.text.lower().split()
    if words:
        rows = (row for row in rows if _has(row, words))
    found = list(rows)
    if 0 <= wanted.sort < len(table.columns):
        found.sort(key=lambda row: sort_key(row.cells[wanted.sort]), reverse=wanted.descending)
    pages = max(1, -(-len(found) // PAGE))
    page = min(max(1, wanted.page), pages)
    return View(found[(page - 1) * PAGE : page * PAGE], len(found), pages, page, states)


def state_column(table: Table) -> int | None:
    """Return the column that says how an object does, None where none does."""
    return next((place for place, name in enumerate(table.columns) if name in _STATES), None)


def tone(column: str, cell: str) -> str:
    """Return how a cell is to look: ``good``, ``busy``, ``bad`` or nothing."""
    if column == "Ready" and "/" in cell:
        have, _, want = cell.partition("/")
        return "" if have == want else "busy"
    if column not in _STATES or not cell:
        return ""
    first = cell.split(",", maxsplit=1)[0]
    if first in _FINE:
        return "good"
    return "busy" if first in _STARTING or first.startswith("Init:") else "bad"


def sort_key(cell: str) -> tuple[int, float, str]:
    """Return what a cell sorts by: ages and numbers by size, before texts."""
    age = _AGE.fullmatch(cell)
    if cell and age:
        seconds = sum(int(count or 0) * each for count, each in zip(age.groups(), _AGE_SECONDS, strict=True))
        return 0, float(seconds), ""
    number = _LEADING.match(cell)
    return (0, float(number[0]), cell) if number else (1, 0.0, cell.lower())


def _has(row: Row, words: Sequence[str]) -> bool:
    text = "\n".join((row.namespace, *row.cells)).lower()
    return all(word in text for word in words)
