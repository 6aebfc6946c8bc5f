"""Completion indexes in a text: ``1,3-5,7``.

Source: kubernetes ``pkg/controller/job/indexed_job_utils.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def read_indexes(text: str, completions: int) -> set[int]:
    """Read the indexes below `completions`; a part that is no interval is ignored."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            found.update(range(int(first), min(int(last or first) + 1, completions)))
    return found


def write_indexes(indexes: Iterable[int]) -> str:
    """Write indexes in intervals: two neighbours with a comma, three and more with a dash."""
    parts: list[str] = []
    for first, last in _intervals(sorted(indexes)):
        if last == first:
            parts.append(str(first))
        else:
            parts.append(f"{first}{',' if last == first + 1 else '-'}{last}")
    return ",".join(parts)


def _intervals(ordered: list[int]) -> Iterator[tuple[int, int]]:
    start = 0
    for position in range(1, len(ordered) + 1):
        if position == len(ordered) or ordered[position] != ordered[position - 1] + 1:
            yield ordered[start], ordered[position - 1]
            start = position
