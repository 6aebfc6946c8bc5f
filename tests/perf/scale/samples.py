"""What was measured: latencies by kind with the moment each was taken, and what is said of them."""

from __future__ import annotations

import asyncio
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
    """Latencies in seconds: kind → the moments (of the machine's monotonic clock) and the latencies; steps of objects."""

    def __init__(self) -> None:
        self._taken: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self._marks: dict[str, dict[str, float]] = defaultdict(dict)

    def add(self, kind: str, seconds: float, moment: float | None = None) -> None:
        """Add one."""
        self._taken[kind].append((time.monotonic() if moment is None else moment, seconds))

    def mark(self, step: str, uid: str, moment: float | None = None) -> None:
        """Take down that an object has now come to a step; the first time counts."""
        self._marks[step].setdefault(uid, time.monotonic() if moment is None else moment)

    def marks(self, step: str) -> Mapping[str, float]:
        """Return when objects came to a step: uid → moment."""
        return self._marks.get(step, {})

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
        file.write_text(json.dumps({"taken": self._taken, "marks": self._marks}))

    def load(self, file: Path) -> None:
        """Add what another process saved: processes of one machine share the clock."""
        saved = json.loads(file.read_text())
        for kind, taken in saved["taken"].items():
            self._taken[kind].extend((moment, seconds) for moment, seconds in taken)
        for step, moments in saved["marks"].items():
            self._marks[step].update(moments)


OWN_DELAY = "KIT own delay"
_LOOK_SECONDS = 0.25


async def own_delay(samples: Samples) -> None:
    """Measure for ever how long what is due on this process's loop waits: so much of each latency is the load's own."""
    while True:
        due = time.monotonic() + _LOOK_SECONDS
        await asyncio.sleep(_LOOK_SECONDS)
        samples.add(OWN_DELAY, max(0.0, time.monotonic() - due))
