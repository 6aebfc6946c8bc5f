"""Whether the network that ``--network-plugin`` names and the runtime of the node fit together."""

from __future__ import annotations

import logging

from hyperkube.hookspecs.network import CallsNetwork, ConnectsNamespaces, MakesNetworkNamespaces, Network, PreparesNode
from hyperkube.hookspecs.runtime import HasNetworkNamespaces, Runtime, TakesAddresses
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.field import quote

_log = logging.getLogger("hyperkube.kubelet")


def use_network(name: str, network: Network, runtime_name: str, runtime: Runtime) -> None:
    """Give the network to a runtime that calls it, or tell one that its sandboxes need network namespaces.

    Raises:
        UsageError: the runtime has none, or may not make them here.
    """
    if isinstance(runtime, CallsNetwork):
        runtime.use_network(name, network)
        return
    if not isinstance(runtime, TakesAddresses):
        if not (isinstance(network, PreparesNode) and network.prepares_node):
            text = "--network-plugin=%s has no effect: the runtime %s connects its pods itself"
            _log.warning(text, name, quote(runtime_name))
        return
    if not (isinstance(network, ConnectsNamespaces) and network.needs_namespaces):
        return
    if isinstance(runtime, MakesNetworkNamespaces):
        runtime.make_network_namespaces()
    elif not isinstance(runtime, HasNetworkNamespaces):
        text = f"network plugin {quote(name)} needs network namespaces, which runtime {quote(runtime_name)} has not"
        raise UsageError(text)
