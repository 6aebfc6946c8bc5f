"""Who has to go so that a whole pod group can be placed, anywhere in the cluster.

All pods of lower priority are taken away; if the group fits then, they are put back one by one, the important ones
first, as long as no fewer of its pods find a node. A group that may only be disrupted as a whole goes or stays as one.

Source: kubernetes ``pkg/scheduler/framework/preemption/podgrouppreemption.go`` (1.36).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hyperkube.hookspecs.pod_groups import GroupKey, PodGroupDryRun, group_of
from hyperkube.hookspecs.scheduling import NodeTable
from hyperkube.kinds.pods import priority_of
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object

NO_VICTIMS = "No preemption victims found for incoming preemptor"
NOT_ENOUGH = "the pod group does not fit even when all pods of lower priority are gone"

Lookup = Callable[[GroupKey], "Object | None"]
"""From namespace and name to a PodGroup."""
Violating = Callable[[Sequence[Object]], Sequence[Object]]
"""From pods, the important ones first, to those whose disruption a budget does not allow."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Pods that go or stay together: one pod, or a group with ``disruptionMode: PodGroup``.

    Attributes:
        pods: each with the column of its node.
        priority: the group's where there is one, else the pod's.
        whole_group: whether it is a group.
    """

    pods: tuple[tuple[int, Object], ...]
    priority: int
    whole_group: bool = False

    def importance(self) -> tuple[int, bool, int, str]:
        """Return a key by which more important units come first."""
        started = min(str((pod.get("status") or {}).get("startTime") or "9999") for _, pod in self.pods)
        return -self.priority, not self.whole_group, -len(self.pods), started


def units_below(priority: int, nodes: NodeTable, lookup: Lookup) -> list[Unit]:
    """Return the units of placed pods with a lower priority, the most important first."""
    found: list[Unit] = []
    groups: dict[GroupKey, list[tuple[int, Object]]] = {}
    for index in range(len(nodes)):
        for pod in nodes.pods(index):
            key = group_of(pod)
            spec = (lookup(key) or {}).get("spec") or {} if key is not None else {}
            if key is not None and spec.get("disruptionMode") == "PodGroup":
                groups.setdefault(key, []).append((index, pod))
            else:
                own = spec or pod.get("spec", {})
                found.append(Unit(((index, pod),), priority_of({"spec": own})))
    for key, pods in groups.items():
        spec = (lookup(key) or {}).get("spec") or {}
        found.append(Unit(tuple(pods), int(spec.get("priority") or 0), whole_group=True))
    return sorted((unit for unit in found if unit.priority < priority), key=Unit.importance)


def choose(units: Sequence[Unit], dry_run: PodGroupDryRun, violating: Violating) -> list[Unit] | str:
    """Return the units to evict, the most important first, or why none are; the dry run is left without them."""
    if not units:
        return NO_VICTIMS
    for unit in units:
        _move(unit, dry_run.remove)
    placed = dry_run.place()
    if placed is None:
        return NOT_ENOUGH
    most = len(placed)
    at_stake = {id(pod) for pod in violating([pod for unit in units for _, pod in unit.pods])}
    ordered = sorted(units, key=lambda unit: not any(id(pod) in at_stake for _, pod in unit.pods))
    victims: list[Unit] = []
    for unit in ordered:
        _move(unit, dry_run.put_back)
        placed = dry_run.place()
        count = len(placed) if placed is not None else 0
        most = max(most, count)
        if placed is None or count < most:
            _move(unit, dry_run.remove)
            victims.append(unit)
    dry_run.place()
    return sorted(victims, key=Unit.importance)


def _move(unit: Unit, act: Callable[[int, Object], None]) -> None:
    for index, pod in unit.pods:
        act(index, pod)
