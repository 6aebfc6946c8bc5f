"""NodeName: a pod that names its node can run there and nowhere else."""

from __future__ import annotations

import numpy as np

from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, NodeTable, PodInfo, Scope

REASON = "node(s) didn't match the requested node name"


class NodeNameFilter(FilterPlugin):
    """Compares ``spec.nodeName``. Source: kubernetes ``plugins/nodename/node_name.go``."""

    scope = Scope.NODE
    events_to_register = frozenset({"node"})

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod names no node."""
        return not pod.pod.get("spec", {}).get("nodeName")

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the named node."""
        wanted = pod.pod["spec"]["nodeName"]
        mask = np.array([name == wanted for name in nodes.names], dtype=bool)
        return Filtered(mask, {REASON: ~mask}, ~mask)
