"""The noop network: pods share the node's own address, as with ``hostNetwork``."""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.network import Network, PodNetwork, PodNetworkRequest
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

__all__ = ["Noop"]


class NodeAddress:
    """Hands out the node's address; see `Network`."""

    def __init__(self, address: str) -> None:
        self._network = PodNetwork((address,))

    def setup(self, pod: PodNetworkRequest) -> PodNetwork:
        """Return the node's address."""
        return self._network

    def teardown(self, pod: PodNetworkRequest) -> None:
        """Do nothing: the address stays the node's."""

    def status(self) -> str:
        """Return the empty string."""
        return ""

    def set_pod_cidr(self, cidr: str) -> None:
        """Do nothing: pods have no range."""


class NoopSettings(Record):
    """Settings of the noop network.

    Attributes:
        node_ip: the node's address; empty for 127.0.0.1.
    """

    node_ip: str = ""


class Noop(Plugin):
    """Builds the network that gives every pod the address of ``--node-ip``, 127.0.0.1 without it."""

    @hookimpl
    def network_build(self) -> Network:
        """Build it."""
        return NodeAddress(self.settings(NoopSettings).node_ip or "127.0.0.1")
