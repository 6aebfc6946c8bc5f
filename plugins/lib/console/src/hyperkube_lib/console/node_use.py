"""What of each node is requested and used: the figures of the heat map; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from hyperkube.kinds.conditions import is_true
from hyperkube.kinds.pods import is_terminal, pod_requests
from hyperkube.machinery import quantity
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, name_of

RESOURCES = ("cpu", "memory", "pods")
STEPS = 10
"""Shades of the heat map."""


@dataclass(frozen=True, slots=True)
class Share:
    """One resource of one node: how much there is, is requested, and is used (None where nothing measures)."""

    allocatable: float
    requested: float
    used: float | None

    def step(self, amount: float | None) -> int:
        """Return the shade of an amount, 0 to `STEPS`; beyond what there is, the last."""
        if amount is None or self.allocatable <= 0:
            return 0
        return min(STEPS, max(1 if amount > 0 else 0, round(STEPS * amount / self.allocatable)))

    def percent(self, amount: float | None) -> str:
        """Return an amount as per cent of what there is."""
        if amount is None:
            return "-"
        return f"{100 * amount / self.allocatable:.0f}%" if self.allocatable else "-"


@dataclass(frozen=True, slots=True)
class NodeUse:
    """One tile."""

    name: str
    is_ready: bool
    is_schedulable: bool
    shares: Mapping[str, Share]


def node_uses(nodes: Iterable[Object], pods: Iterable[Object], metrics: Iterable[Object]) -> list[NodeUse]:
    """Return all tiles by name; `metrics` are NodeMetrics."""
    requested: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for pod in pods:
        node = (pod.get("spec") or {}).get("nodeName")
        if not node or is_terminal(pod):
            continue
        total = requested[node]
        total["pods"] += 1
        for name, amount in pod_requests(pod).items():
            if name in RESOURCES:
                total[name] += float(amount.milli_value()) / 1000
    used = {name_of(row): row.get("usage") or {} for row in metrics}
    rows = [_tile(node, requested[name_of(node)], used.get(name_of(node))) for node in nodes]
    return sorted(rows, key=lambda row: row.name)


def _tile(node: Object, requested: Mapping[str, float], used: Mapping[str, str] | None) -> NodeUse:
    status = node.get("status") or {}
    allocatable = status.get("allocatable") or {}
    shares = {
        name: Share(
            _number(allocatable.get(name, "0")),
            requested.get(name, 0.0),
            requested.get(name, 0.0) if name == "pods" else _used(used, name),
        )
        for name in RESOURCES
    }
    is_schedulable = not (node.get("spec") or {}).get("unschedulable")
    return NodeUse(name_of(node), is_true(status, "Ready"), is_schedulable, shares)


def _used(used: Mapping[str, str] | None, name: str) -> float | None:
    return _number(used[name]) if used is not None and name in used else None


def _number(text: str) -> float:
    return float(quantity.parse(text).milli_value()) / 1000
