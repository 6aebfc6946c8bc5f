"""What still grows when a load has lasted: the slope of each server's memory after the tenth minute of a phase."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scale.servers import Usage

MEBIBYTE = 1 << 20
SETTLED_SECONDS = 600.0
"""Caches, histories and what is kept for some minutes are full by then."""
SHORTEST_SECONDS = 60.0
TOLERANCE = 0.05
"""The share of its size by which memory may rise in all, and still counts as staying."""


@dataclass(frozen=True, slots=True)
class Growth:
    """How a size moved from the tenth minute of a phase to its end; sizes in MiB."""

    name: str
    first: float
    last: float
    per_minute: float
    minutes: float

    @property
    def grows(self) -> bool:
        """Whether it rose by more than measuring explains."""
        return self.per_minute * self.minutes > self.first * TOLERANCE


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Return the rise of a straight line through points (x, y), by least squares; 0 of a single x."""
    middle_x, middle_y = (sum(column) / len(points) for column in zip(*points, strict=True))
    square = sum((x - middle_x) ** 2 for x, _ in points)
    return sum((x - middle_x) * (y - middle_y) for x, y in points) / square if square else 0.0


def growth_of(name: str, sizes: Sequence[tuple[float, float]], begin: float, end: float) -> Growth | None:
    """Return how a size moved in a phase; None if the phase is hardly longer than ten minutes.

    Args:
        name: of what has the size.
        sizes: (moment, MiB), oldest first.
        begin: of the phase, as a moment.
        end: of the phase.
    """
    within = [each for each in sizes if begin + SETTLED_SECONDS <= each[0] <= end]
    if not within or within[-1][0] - within[0][0] < SHORTEST_SECONDS:
        return None
    minutes = (within[-1][0] - within[0][0]) / 60
    return Growth(name, within[0][1], within[-1][1], slope(within) * 60, minutes)


def growths(
    history: Mapping[str, Sequence[Usage]], stored: Sequence[tuple[float, float]], begin: float, end: float
) -> list[Growth]:
    """Return the growth of each server's resident memory in a phase, and of the store's files."""
    sizes = {name: [(each.moment, each.resident / MEBIBYTE) for each in looks] for name, looks in history.items()}
    found = (growth_of(name, points, begin, end) for name, points in {**sizes, "the store's files": stored}.items())
    return [each for each in found if each]


def table(rows: Sequence[tuple[str, Growth]]) -> Iterator[str]:
    """Yield the lines of a table of (phase, growth); none without rows."""
    if not rows:
        return
    yield "| phase, after its tenth minute | of | MiB/min | MiB then | MiB at the end | minutes |"
    yield "|---|---|---|---|---|---|"
    for phase, row in rows:
        mark = " **grows**" if row.grows else ""
        figures = f"{row.per_minute:+.2f}{mark} | {row.first:.0f} | {row.last:.0f} | {row.minutes:.0f}"
        yield f"| {phase} | {row.name} | {figures} |"
    yield ""
