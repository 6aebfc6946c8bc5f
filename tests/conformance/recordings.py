"""Reads the report of a replay: what passed, and what differs in nothing but the wording of descriptions.

The recordings carry the sentences with which another project describes its fields and columns. Ours are our own words,
so a step whose differences all lie in descriptions counts as equal apart from descriptions.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PROSE = "description"
_LEFT_OUT = "<absent>"


@dataclass(frozen=True, slots=True)
class Area:
    """The steps of one area of the recordings.

    Attributes:
        equal: steps that are equal to the letter.
        worded: steps that differ in descriptions only.
        total: all steps.
    """

    name: str
    equal: int
    worded: int
    total: int


def is_wording(diff: dict[str, Any]) -> bool:
    """Tell whether a difference is one of wording: a description on either side, or values that differ in those only."""
    if str(diff["path"]).rpartition("/")[2] == _PROSE:
        return True
    expected, got = diff["expected"], diff["got"]
    if _LEFT_OUT in (expected, got):
        return False
    return bool(without_prose(expected) == without_prose(got))


def without_prose(value: Any) -> Any:
    """Return a value without its descriptions, however deep; a property of that name (an object) stays."""
    if isinstance(value, dict):
        return {
            name: without_prose(item) for name, item in value.items() if not (name == _PROSE and isinstance(item, str))
        }
    if isinstance(value, list):
        return [without_prose(item) for item in value]
    return value


def areas(report: dict[str, Any]) -> list[Area]:
    """Return the areas of a replay's report, sorted by name."""
    equal: Counter[str] = Counter()
    worded: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for scenario in report["scenarios"]:
        name = scenario["area"]
        equal[name] += scenario["passed"]
        total[name] += scenario["total"]
        worded[name] += sum(differs_in_wording_only(step) for step in scenario["failures"])
    return [Area(name, equal[name], worded[name], total[name]) for name in sorted(total)]


def differs_in_wording_only(step: dict[str, Any]) -> bool:
    """Tell whether all differences of a step are wording."""
    return bool(step["diffs"]) and all(map(is_wording, step["diffs"]))


def real_failures(report: dict[str, Any]) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield the steps that differ in more than wording, each with its scenario."""
    for scenario in report["scenarios"]:
        for step in scenario["failures"]:
            if not differs_in_wording_only(step):
                yield f"{scenario['area']}/{scenario['scenario']}", step


def table(report: dict[str, Any]) -> Iterable[str]:
    """Return a line with both figures for each area, then for all."""
    found = areas(report)
    found.append(Area("all", *(sum(getattr(area, what) for area in found) for what in ("equal", "worded", "total"))))
    for area in found:
        left = area.total - area.equal - area.worded
        yield f"{area.name:16} {area.equal:5} equal {area.worded:4} worded otherwise {left:4} different of {area.total}"


if __name__ == "__main__":
    print(*table(json.loads(Path(sys.argv[1]).read_text())), sep="\n")
