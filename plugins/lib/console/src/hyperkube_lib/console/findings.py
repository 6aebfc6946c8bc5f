"""What is wrong in a cluster now, from its tables; pure: tables come in, findings come out, the worst first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from enum import IntEnum

from hyperkube_lib.console.reader import Row, Table
from hyperkube_lib.console.table_view import state_column, tone

from hyperkube.machinery.dataclass import dataclass

SHOWN = 5


class Severity(IntEnum):
    """How bad it is; the lowest first."""

    BAD = 0
    BUSY = 1

    @property
    def word(self) -> str:
        """What the page calls it."""
        return {Severity.BAD: "wrong", Severity.BUSY: "on its way"}[self]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be, of any number of objects.

    Attributes:
        plural: the resource, as ``deployments.apps``.
        state: what the objects' column says, so that a list can be asked for all of them.
        rows: the first few of the objects.
        count: how many there are.
    """

    severity: Severity
    plural: str
    text: str
    state: str
    rows: Sequence[Row]
    count: int


def findings(tables: dict[str, Table]) -> list[Finding]:
    """Return what is wrong, by tables of nodes, pods, deployments and so on, each by its resource."""
    found: list[Finding] = []
    for plural, table in tables.items():
        found += _by_state(plural, table)
        found += _not_ready(plural, table)
    return sorted(found, key=lambda each: (each.severity, -each.count, each.plural))


def states(table: Table) -> list[tuple[str, int, str]]:
    """Return how many objects are in which state, and its tone."""
    place = state_column(table)
    if place is None:
        return []
    counts: dict[str, int] = defaultdict(int)
    for row in table.rows:
        counts[row.cells[place]] += 1
    name = table.columns[place]
    rows = [(state, count, tone(name, state)) for state, count in counts.items()]
    return sorted(rows, key=lambda row: -row[1])


def _by_state(plural: str, table: Table) -> Iterator[Finding]:
    place = state_column(table)
    if place is None:
        return
    grouped: dict[str, list[Row]] = defaultdict(list)
    for row in table.rows:
        state = row.cells[place]
        disabled = plural == "nodes" and "SchedulingDisabled" in state
        if disabled or tone(table.columns[place], state) not in {"good", ""}:
            grouped[state].append(row)
    for state, rows in grouped.items():
        bad = tone(table.columns[place], state) == "bad"
        severity = Severity.BAD if bad else Severity.BUSY
        yield Finding(severity, plural, f"{plural.partition('.')[0]} {state}", state, rows[:SHOWN], len(rows))


def _not_ready(plural: str, table: Table) -> Iterator[Finding]:
    """Find objects that run, and are not all ready."""
    ready, state = table.column("Ready"), state_column(table)
    if ready is None:
        return
    rows = [row for row in table.rows if _lacks(row.cells[ready]) and (state is None or row.cells[state] == "Running")]
    if rows:
        yield Finding(Severity.BUSY, plural, f"{plural.partition('.')[0]} not all ready", "", rows[:SHOWN], len(rows))


def _lacks(cell: str) -> bool:
    have, slash, want = cell.partition("/")
    return bool(slash) and have.isdecimal() and want.isdecimal() and int(have) < int(want)
