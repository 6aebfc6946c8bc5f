"""What is to be done about too little of something: pure decisions over what was measured.

One round looks at the measurements, remembers since when each threshold has been met, says which conditions the node
has, and which thresholds now require that something is reclaimed.

Source: kubernetes ``pkg/kubelet/eviction/{eviction_manager,helpers}.go`` (synchronize).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hyperkube_host.kubelet.thresholds import (
    ALLOCATABLE_MEMORY,
    CONDITION_OF,
    MEMORY_AVAILABLE,
    RESOURCE_OF,
    Threshold,
)


class Observation(NamedTuple):
    """How much of something is left, how much there is in all, and when that was measured (0: not told)."""

    available: int
    capacity: int
    time: float = 0.0


Observations = Mapping[str, Observation]
"""By signal; what cannot be measured is left out."""


class Memory(NamedTuple):
    """What one round tells the next.

    Attributes:
        first_met: threshold → since when it has been met.
        met: the thresholds that required something in the round before.
        conditions: condition → when it last held.
        observations: of the round before.
    """

    first_met: Mapping[Threshold, float] = {}
    met: tuple[Threshold, ...] = ()
    conditions: Mapping[str, float] = {}
    observations: Observations = {}  # noqa: RUF012  a tuple is never changed


class Round(NamedTuple):
    """The outcome of a round.

    Attributes:
        memory: for the next round.
        conditions: those of the node.
        due: the thresholds that require something now, the most important first.
    """

    memory: Memory
    conditions: frozenset[str]
    due: tuple[Threshold, ...]


def thresholds_met(
    thresholds: Iterable[Threshold], observations: Observations, *, with_reclaim: bool = False
) -> list[Threshold]:
    """Return the thresholds under which there is too little; one that cannot be measured is not met."""
    return [
        one
        for one in thresholds
        if (found := observations.get(one.signal)) is not None
        and one.is_met(found.available, found.capacity, with_reclaim=with_reclaim)
    ]


def decide(
    thresholds: Iterable[Threshold],
    observations: Observations,
    memory: Memory,
    *,
    transition_seconds: float,
    now: float,
) -> Round:
    """Return what a round of measurements means.

    Args:
        thresholds: all of them.
        observations: what was measured now.
        memory: of the round before.
        transition_seconds: how long a condition stays after it last held, so that it does not flap.
        now: on any clock that only goes forward.
    """
    met = thresholds_met(thresholds, observations)
    # What required something before does so until there is its minimum reclaim more.
    met += [one for one in thresholds_met(memory.met, observations, with_reclaim=True) if one not in met]
    first_met = {one: memory.first_met.get(one, now) for one in met}
    held = {**memory.conditions, **{CONDITION_OF[one.signal]: now for one in met}}
    conditions = frozenset(kind for kind, last in held.items() if now - last < transition_seconds)
    required = tuple(one for one, since in first_met.items() if now - since >= one.grace_seconds)
    fresh = (one for one in required if _is_fresh(observations[one.signal], memory.observations.get(one.signal)))
    return Round(
        Memory(first_met, required, held, observations),
        conditions,
        tuple(sorted(fresh, key=lambda one: one.signal not in {MEMORY_AVAILABLE, ALLOCATABLE_MEMORY})),
    )


def _is_fresh(now: Observation, before: Observation | None) -> bool:
    """Tell whether something was measured since the round before: what was done then may not show yet."""
    return before is None or not now.time or now.time > before.time


def threshold_amounts(
    resource: str, thresholds: Iterable[Threshold], observations: Observations
) -> tuple[int, int] | None:
    """Return how much of a resource there should be and how much there is, by the first threshold of it."""
    for one in thresholds:
        found = observations.get(one.signal)
        if found is not None and RESOURCE_OF[one.signal] == resource:
            return one.value.of(found.capacity), found.available
    return None
