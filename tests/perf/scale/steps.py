"""What a pod's start is made of, step by step, and how much of all latencies is the load's own delay.

Each step ends where the next begins, so that the steps of a pod add up to its start; their percentiles do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Protocol

from scale import hollow_node, observers, pod_status
from scale.samples import OWN_DELAY, Samples, percentile

STEPS = {
    observers.CREATED: "",
    observers.BOUND: "created, scheduled, bound, and seen so by a client",
    hollow_node.SEEN: "seen by its node",
    hollow_node.STARTED: "token, and the container's start",
    pod_status.WRITTEN: "status read and patched, others of the node before it",
    observers.RUNNING: "seen as running by a client",
}
"""Moment → what lies between the one before and it. A node may see a pod, and a client its status, a little before."""


class Part(Protocol):
    """A part of a run, between two moments."""

    name: str
    begin: float
    end: float


def told(samples: Samples, begin: float, end: float) -> dict[str, Any]:
    """Return for each step the median and the 99th of a hundred, in seconds, of the pods that came to run in a time."""
    ran = [uid for uid, moment in samples.marks(observers.RUNNING).items() if begin <= moment < end]
    found: dict[str, Any] = {}
    for before, after in pairwise(STEPS):
        first, then = samples.marks(before), samples.marks(after)
        values = [then[uid] - first[uid] for uid in ran if uid in first and uid in then]
        if values:
            figures = {"p50": percentile(values, 0.5), "p99": percentile(values, 0.99)}
            found[STEPS[after]] = {"count": len(values), **figures}
    return found


def table(samples: Samples, phases: Sequence[Part]) -> Iterator[str]:
    """Yield the steps of each phase as a table in Markdown."""
    yield "| of a pod's start, seconds | " + " | ".join(f"{phase.name} p50 / p99" for phase in phases) + " |"
    yield "|---|" + "---|" * len(phases)
    found = [told(samples, phase.begin, phase.end) for phase in phases]
    for step in list(STEPS.values())[1:]:
        cells = [f"{each[step]['p50']:.3f} / {each[step]['p99']:.3f}" if step in each else "-" for each in found]
        yield f"| {step} | " + " | ".join(cells) + " |"
    delays = [samples.of(OWN_DELAY, phase.begin, phase.end) for phase in phases]
    cells = [f"{percentile(each, 0.5):.3f} / {percentile(each, 0.99):.3f}" if each else "-" for each in delays]
    yield "| the load's own delay, once at each read | " + " | ".join(cells) + " |"
    yield ""
