"""What was measured: latencies by kind with the moment each was taken, and what is said of them."""

from __future__ import annotations

import json
import math
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path


def percentile(values: Iterable[float], share: float) -> float:
    """Return the value below which `share` (0 to 1) of the values lie: the nearest rank, NaN of nothing."""
    ordered = sorted(values)
    if not ordered:
        return float("nan")
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


class Samples:
    """Latencies in seconds: kind → the moments (of the machine's monotonic clock) and the latencies."""

    def __init__(self) -> None:
        self._taken: dict[str, list[tuple[float, float]]] = defaultdict(list)

    def add(self, kind: str, seconds: float, moment: float | None = None) -> None:
        """Add one."""
        self._taken[kind].append((time.monotonic() if moment is None else moment, seconds))

    def kinds(self) -> list[str]:
        """Return the kinds that have samples, sorted."""
        return sorted(self._taken)

    def of(self, kind: str, begin: float = 0.0, end: float = float("inf")) -> list[float]:
        """Return the latencies of a kind that were taken between two moments."""
        return [seconds for moment, seconds in self._taken.get(kind, ()) if begin <= moment < end]

    def with_moments(self, kind: str) -> Sequence[tuple[float, float]]:
        """Return the (moment, latency) pairs of a kind."""
        return self._taken.get(kind, ())

    def save(self, file: Path) -> None:
        """Write all of it."""
        file.write_text(json.dumps(self._taken))

    def load(self, file: Path) -> None:
        """Add what another process saved: processes of one machine share the clock."""
        saved: Mapping[str, list[tuple[float, float]]] = json.loads(file.read_text())
        for kind, taken in saved.items():
            self._taken[kind].extend((moment, seconds) for moment, seconds in taken)
