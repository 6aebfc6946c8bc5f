"""NodeUnschedulable: a cordoned node takes no new pods, but for those that tolerate it."""

from __future__ import annotations

from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, NodeTable, PodInfo, Scope
from hyperkube.kinds.taints import is_tolerated

REASON = "node(s) were unschedulable"
TAINT = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


class NodeUnschedulable(FilterPlugin):
    """Looks at ``spec.unschedulable``. Source: ``plugins/nodeunschedulable/node_unschedulable.go``."""

    scope = Scope.NODE
    events_to_register = frozenset({"node"})

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod tolerates cordoned nodes."""
        return is_tolerated(TAINT, pod.pod.get("spec", {}).get("tolerations") or ())

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes that are not cordoned."""
        refused = nodes.unschedulable
        return Filtered(~refused, {REASON: refused}, refused)
