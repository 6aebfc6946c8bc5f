"""NodePorts: two pods cannot have one port of a node."""

from __future__ import annotations

import numpy as np

from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, NodeTable, PodInfo, Scope
from hyperkube.kinds.pods import host_ports, host_ports_conflict

REASON = "node(s) didn't have free ports for the requested pod ports"


class NodePorts(FilterPlugin):
    """Compares host ports. Source: kubernetes ``pkg/scheduler/framework/plugins/nodeports/node_ports.go``."""

    scope = Scope.NODE_AND_PODS
    events_to_register = frozenset({"node", "pod gone"})

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod asks for no host port."""
        return next(host_ports(pod.pod), None) is None

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes where none of the pod's host ports is taken."""
        wanted = list(host_ports(pod.pod))
        refused = np.zeros(len(nodes), dtype=bool)
        for index in range(len(nodes)):
            taken = [port for other in nodes.pods(index) for port in host_ports(other)]
            refused[index] = host_ports_conflict(wanted, taken)
        return Filtered(~refused, {REASON: refused})
