"""How long pods have to end while the node shuts down, by their priority.

Source: kubernetes ``pkg/kubelet/nodeshutdown/nodeshutdown_manager.go`` (migrateConfig, groupByPriority),
``pkg/kubelet/apis/config/validation/validation.go``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from hyperkube.kinds.pods import spec_of
from hyperkube.machinery.durations import format_duration
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object
from hyperkube.plugin.flags import FlagValues

SYSTEM_CRITICAL_PRIORITY = 2_000_000_000
GATE = "GracefulNodeShutdown"
PRIORITY_GATE = "GracefulNodeShutdownBasedOnPodPriority"


class GracePeriod(NamedTuple):
    """The least priority of the pods that it is for, and the whole seconds that they have."""

    priority: int
    seconds: int


class PodGroup(NamedTuple):
    """Pods that end together."""

    period: GracePeriod
    pods: list[Object]


def read_grace_periods(values: FlagValues) -> tuple[GracePeriod, ...]:
    """Return the grace periods that the values of flags make, lowest priority first; none for no graceful shutdown.

    Raises:
        UsageError: values that contradict one another or the feature gates.
    """
    total, critical = values["shutdown-grace-period"], values["shutdown-grace-period-critical-pods"]
    by_priority, gates = values["shutdown-grace-period-by-pod-priority"], values["feature-gates"]
    problem = _problem(total, critical, by_priority, gates)
    if problem:
        raise UsageError(f"invalid configuration: {problem}")
    if by_priority:
        return tuple(sorted(_by_priority(by_priority)))
    if total < 1:
        return ()
    return (GracePeriod(0, int(total - critical)), GracePeriod(SYSTEM_CRITICAL_PRIORITY, int(critical)))


def _problem(total: float, critical: float, by_priority: Mapping[str, str], gates: Mapping[str, bool]) -> str:
    """Return what is wrong, in the words of Kubernetes; empty if nothing is."""
    if (total or critical) and not gates.get(GATE, True):
        return f"specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature gate {GATE}"
    if by_priority and not (gates.get(GATE, True) and gates.get(PRIORITY_GATE, True)):
        return f"Specifying shutdownGracePeriodByPodPriority requires feature gate {PRIORITY_GATE}"
    if critical > total:
        shown = f"{format_duration(critical)} must be <= shutdownGracePeriod {format_duration(total)}"
        return f"shutdownGracePeriodCriticalPods {shown}"
    for name, seconds in (("shutdownGracePeriod", total), ("shutdownGracePeriodCriticalPods", critical)):
        if seconds < 0 or 0 < seconds < 1:
            return f"{name} {format_duration(seconds)} must be either zero or otherwise >= 1 sec"
    if by_priority and total:
        return "Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time"
    return ""


def _by_priority(table: Mapping[str, str]) -> Iterable[GracePeriod]:
    for priority, seconds in table.items():
        try:
            yield GracePeriod(int(priority), int(seconds))
        except ValueError as error:
            entry = f"{priority}={seconds}"
            raise UsageError(
                f"--shutdown-grace-period-by-pod-priority: {entry!r} is not PRIORITY=SECONDS in whole numbers"
            ) from error


def group_by_priority(periods: Sequence[GracePeriod], pods: Iterable[Object]) -> list[PodGroup]:
    """Return the groups with pods in them, the one that ends first first.

    A pod belongs to the highest priority that is not above its own, one below all of them to the lowest.
    """
    groups = [PodGroup(period, []) for period in periods]
    bounds = [period.priority for period in periods]
    for pod in pods:
        index = bisect_right(bounds, int(spec_of(pod).get("priority") or 0)) - 1
        groups[max(index, 0)].pods.append(pod)
    return [group for group in groups if group.pods]
