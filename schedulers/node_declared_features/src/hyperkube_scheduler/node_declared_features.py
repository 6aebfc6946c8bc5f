"""NodeDeclaredFeatures: a pod that needs what a node's kubelet must be able to do goes where the kubelet says it is.

A node lists in ``status.declaredFeatures`` what it can do; what a pod needs follows from its spec.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, NodeTable, PodInfo, Scope
from hyperkube.kinds.pods import containers
from hyperkube.machinery.objects import Object

REASON = "node(s) didn't match Pod's required features"
GATE = "NodeDeclaredFeatures"


def _restarts_all(pod: Object) -> bool:
    rules = (rule for each in containers(pod) for rule in each.get("restartPolicyRules") or ())
    return any(rule.get("action") == "RestartAllContainers" for rule in rules)


def _own_users_on_the_host_network(pod: Object) -> bool:
    spec = pod.get("spec", {})
    return bool(spec.get("hostNetwork")) and spec.get("hostUsers") is False


FEATURES: dict[str, Callable[[Object], bool]] = {
    "RestartAllContainersOnContainerExits": _restarts_all,
    "UserNamespacesHostNetworkSupport": _own_users_on_the_host_network,
}
"""Feature → whether a pod needs it to run; kubernetes component-helpers ``nodedeclaredfeatures/features``.

Features that only a change of a running pod needs (``GuaranteedQoSPodCPUResize``) are no matter of scheduling.
"""


class NodeDeclaredFeatures(FilterPlugin):
    """Keeps the nodes that declare what the pod needs, unless the gate ``NodeDeclaredFeatures`` is set to false.

    Source: kubernetes ``pkg/scheduler/framework/plugins/nodedeclaredfeatures/nodedeclaredfeatures.go``.
    """

    scope = Scope.CLUSTER
    events_to_register = frozenset({"node"})
    skips_by_template = True

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._enabled = context is None or context.gates.get(GATE, True)

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod needs nothing."""
        return not self._enabled or not needed(pod.pod)

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes that declare all of it."""
        wanted = needed(pod.pod)
        mask = np.array([wanted <= _declared(nodes.node(index)) for index in range(len(nodes))], dtype=bool)
        return Filtered(mask, {REASON: ~mask} if not mask.all() else {}, ~mask)


def needed(pod: Object) -> frozenset[str]:
    """Return the features that a pod needs to run."""
    return frozenset(name for name, needs in FEATURES.items() if needs(pod))


def _declared(node: Object) -> frozenset[str]:
    return frozenset((node.get("status") or {}).get("declaredFeatures") or ())
