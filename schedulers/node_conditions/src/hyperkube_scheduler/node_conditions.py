"""CheckNodeCondition and CheckNode…Pressure: the predicates of 1.x that read what a node says of itself.

Since 1.12 taints stand for these conditions, so that a pod may tolerate them; the usual sets therefore have no such
filter. A policy file that names them gets them, with the reasons of 1.x. A pod that tolerates the taint of a condition
is let through here too, so that both ways agree about the pods of daemon sets.
Source: kubernetes 1.12 ``pkg/scheduler/algorithm/predicates/predicates.go`` and ``error.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

import numpy as np

from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, NodeTable, PodInfo
from hyperkube.kinds import taints
from hyperkube.kinds.qos import BEST_EFFORT, computed_qos_class
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object

NOT_READY = "node(s) were not ready"
OUT_OF_DISK = "node(s) were out of disk space"
NETWORK = "node(s) had unavailable network"
UNSCHEDULABLE = "node(s) were unschedulable"
MEMORY = "node(s) had memory pressure"
DISK = "node(s) had disk pressure"
PIDS = "node(s) had pid pressure"


@dataclass(frozen=True, slots=True)
class Trouble:
    """What a condition's bad states are, by the taint that stands for each, and what is said of them."""

    reason: str
    bad: Mapping[str, str]
    """Status → key of the taint."""


NODE_CONDITIONS: Mapping[str, Trouble] = {
    "Ready": Trouble(NOT_READY, {"False": taints.NOT_READY, "Unknown": taints.UNREACHABLE}),
    "OutOfDisk": Trouble(OUT_OF_DISK, dict.fromkeys(("True", "Unknown"), "node.kubernetes.io/out-of-disk")),
    "NetworkUnavailable": Trouble(NETWORK, dict.fromkeys(("True", "Unknown"), taints.NETWORK_UNAVAILABLE)),
}


class _Conditions(FilterPlugin):
    """Refuses nodes in some trouble. A change of a condition alone wakes no pod: the taint that follows it does."""

    troubles: ClassVar[Mapping[str, Trouble]]
    events_to_register = frozenset({"node"})

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes without any of the troubles; no eviction helps the others."""
        tolerations = pod.pod.get("spec", {}).get("tolerations") or ()
        refused: dict[str, list[int]] = {}
        for index in range(len(nodes)):
            for reason, taint in self._of(nodes.node(index)):
                if not taints.is_tolerated({"key": taint, "effect": taints.NO_SCHEDULE}, tolerations):
                    refused.setdefault(reason, []).append(index)
        mask = np.ones(len(nodes), dtype=bool)
        reasons = {}
        for reason, columns in refused.items():
            reasons[reason] = np.zeros(len(nodes), dtype=bool)
            reasons[reason][columns] = True
            mask[columns] = False
        return Filtered(mask, reasons, ~mask)

    def _of(self, node: Object) -> Iterable[tuple[str, str]]:
        """Yield a node's troubles: the reason, and the key of the taint."""
        for row in node.get("status", {}).get("conditions") or ():
            trouble = self.troubles.get(row.get("type", ""))
            if trouble is not None and row.get("status") in trouble.bad:
                yield trouble.reason, trouble.bad[row["status"]]


class CheckNodeCondition(_Conditions):
    """Refuses nodes that are not ready, out of disk, without network, or unschedulable."""

    troubles = NODE_CONDITIONS

    def _of(self, node: Object) -> Iterable[tuple[str, str]]:
        yield from super()._of(node)
        if node.get("spec", {}).get("unschedulable"):
            yield UNSCHEDULABLE, taints.UNSCHEDULABLE


class CheckNodeMemoryPressure(_Conditions):
    """Refuses nodes short of memory to pods that ask for nothing."""

    troubles: ClassVar[Mapping[str, Trouble]] = {"MemoryPressure": Trouble(MEMORY, {"True": taints.MEMORY_PRESSURE})}
    skips_by_template = True

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod asks for something."""
        return computed_qos_class(pod.pod) != BEST_EFFORT


class CheckNodeDiskPressure(_Conditions):
    """Refuses nodes short of disk."""

    troubles: ClassVar[Mapping[str, Trouble]] = {"DiskPressure": Trouble(DISK, {"True": taints.DISK_PRESSURE})}


class CheckNodePIDPressure(_Conditions):
    """Refuses nodes short of process ids."""

    troubles: ClassVar[Mapping[str, Trouble]] = {"PIDPressure": Trouble(PIDS, {"True": taints.PID_PRESSURE})}
