"""The ranges of addresses of the node's pods, told to the plugin that gives them out.

Source: kubernetes ``pkg/kubelet/kubelet_network.go`` (updatePodCIDR).
"""

from __future__ import annotations

import logging

from hyperkube.hookspecs.network import Network
from hyperkube.hookspecs.runtime import Runtime, RuntimeFailed, TellsRuntimeConfig
from hyperkube.machinery.objects import Object

_log = logging.getLogger("hyperkube.kubelet")


class PodCidr:
    """Tells the network plugin and the runtime of the node's pod ranges whenever these change."""

    def __init__(self, network: Network | None, runtime: Runtime, given: str) -> None:
        """Take `given` for the ranges that the network plugin knows already: those of ``--pod-cidr``."""
        self._network = network
        self._runtime = runtime
        self._told = given

    def update(self, node: Object) -> None:
        """Tell of the ranges of the Node object; one that the runtime does not take is told again the next time."""
        spec = node.get("spec") or {}
        cidr = ",".join(spec.get("podCIDRs") or [spec.get("podCIDR") or ""])
        if not cidr or cidr == self._told:
            return
        try:
            if isinstance(self._runtime, TellsRuntimeConfig):
                self._runtime.update_runtime_config(cidr)
        except RuntimeFailed as error:
            _log.warning("failed to update pod CIDR: %s", error)
            return
        if self._network is not None:
            self._network.set_pod_cidr(cidr)
        self._told = cidr
