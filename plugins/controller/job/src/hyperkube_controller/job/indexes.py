"""Completion indexes: which ones are done, written ``1,3-5,7``, and which come next.

Source: kubernetes ``pkg/controller/job/indexed_job_utils.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hyperkube.machinery.objects import Object, annotations_of

ANNOTATION = "batch.kubernetes.io/job-completion-index"


def index_of(pod: Object) -> int | None:
    """Return the completion index of a pod of an indexed job, or None."""
    text = annotations_of(pod).get(ANNOTATION, "")
    return int(text) if text.isdigit() else None


def read_indexes(text: str) -> set[int]:
    """Read ``1,3-5,7``."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
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
