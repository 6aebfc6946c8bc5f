"""The bridge network: pods of a node on a bridge, with addresses of its pod ranges, and ways to those of other nodes.

It serves runtimes that leave networks to the kubelet, and those of CRI: for these it writes the configuration of CNI
that they wait for. With credentials that may list nodes it keeps the routes: nodes on one link reach each other's pods
directly, the others through VXLAN.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperkube_network.bridge.settings import BridgeSettings

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.network import Network
from hyperkube.plugin import Plugin

if TYPE_CHECKING:
    from hyperkube_network.bridge.node_routes import NodeRoutes

__all__ = ["Bridge", "BridgeSettings"]


class Bridge(Plugin):
    """Builds the bridge network, and keeps the node's routes while the kubelet runs."""

    _routes: NodeRoutes | None = None

    @hookimpl
    def network_build(self) -> Network:
        """Build it; it gives addresses once the node's pod ranges are known.

        Raises:
            UsageError: the credentials for the routes cannot be used.
        """
        from hyperkube_network.bridge.bridge_network import ClusterBridge

        settings = self.settings(BridgeSettings)
        if settings.bridge_kubeconfig:
            self._routes = self._node_routes(settings)
        else:
            self.context.logger.warning("no routes to the pods of other nodes: --bridge-kubeconfig is not given")
        return ClusterBridge(settings, self.context.clock, self.context.logger).network

    def _node_routes(self, settings: BridgeSettings) -> NodeRoutes:
        import platform

        from hyperkube_network.bridge.node_routes import NodeRoutes

        from hyperkube.client.kubeconfig import client_from_kubeconfig

        client = client_from_kubeconfig(Path(settings.bridge_kubeconfig), clock=self.context.clock)
        name = settings.hostname_override or platform.node().lower()
        return NodeRoutes(client, self.context.clock, name, self.context.logger)

    def start(self) -> None:
        """Begin to watch the nodes."""
        if self._routes is not None:
            self._routes.start()

    def close(self) -> None:
        """Stop watching; bridge and routes stay, as the pods do."""
        if self._routes is not None:
            self._routes.close()
