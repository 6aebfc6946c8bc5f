"""NodePorts: two pods cannot have one port of a node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, NodeTable, PodInfo, Scope
from hyperkube.kinds.pods import host_ports, is_sidecar
from hyperkube.machinery.objects import Object

REASON = "node(s) didn't have free ports for the requested pod ports"
ANY = "0.0.0.0"

HostPort = tuple[str, str, int]


class NodePorts(FilterPlugin):
    """Compares host ports. Source: kubernetes ``pkg/scheduler/framework/plugins/nodeports/node_ports.go``."""

    scope = Scope.NODE_AND_PODS
    wakes_on = frozenset({"node", "pod gone"})

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod asks for no host port."""
        return next(lasting(pod.pod), None) is None

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes where none of the pod's host ports is taken."""
        wanted = list(lasting(pod.pod))
        refused = np.zeros(len(nodes), dtype=bool)
        for index in range(len(nodes)):
            taken = [port for other in nodes.pods(index) for port in lasting(other)]
            refused[index] = bool(taken) and conflicts(wanted, taken)
        return Filtered(~refused, {REASON: refused})


def lasting(pod: Object) -> Iterator[HostPort]:
    """Yield (address, protocol, port) of every port that a pod takes while it runs: not what only its start needs."""
    spec = pod.get("spec") or {}
    sidecars = [row for row in spec.get("initContainers") or () if is_sidecar(row)]
    return host_ports({"spec": {"initContainers": sidecars, "containers": spec.get("containers")}})


def conflicts(wanted: Iterable[HostPort], taken: Iterable[HostPort]) -> bool:
    """Tell whether two sets of (address, protocol, port) collide; the address 0.0.0.0 collides with every other."""
    held = list(taken)
    return any(
        port == other_port and protocol == other_protocol and (address in {other, ANY} or other == ANY)
        for address, protocol, port in wanted
        for other, other_protocol, other_port in held
    )
