"""Pod networks: an address for each pod, and what connects them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Protocol, runtime_checkable

from hyperkube.hookspecs import hookspec
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import HyperkubeError


class NetworkFailed(HyperkubeError):
    """The pod's network could not be set up; it is retried with back-off."""


@dataclass(frozen=True, slots=True)
class PodNetwork:
    """A pod's addresses, first the primary one."""

    ips: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PortMapping:
    """A port of the node that leads to a port of the pod.

    Attributes:
        protocol: ``TCP``, ``UDP`` or ``SCTP``.
        host_ip: the address of the node that it is for; empty for all.
    """

    host_port: int
    container_port: int
    protocol: str = "TCP"
    host_ip: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodDnsConfig:
    """What a pod's resolver file says: name servers, search domains, options."""

    servers: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PodNetworkRequest:
    """Which pod, where, and what its spec asks of the network.

    Attributes:
        sandbox_id: the sandbox, by which a network remembers what it did.
        namespace_path: the sandbox's network namespace; empty where there is none, or none any more.
        port_mappings: the pod's host ports.
        dns: what the pod's resolver file says.
        annotations: the pod's, with its limits of bandwidth (``kubernetes.io/ingress-bandwidth``) among them.
    """

    namespace: str
    name: str
    uid: str
    sandbox_id: str
    namespace_path: str = ""
    port_mappings: tuple[PortMapping, ...] = ()
    dns: PodDnsConfig = field(default_factory=PodDnsConfig)
    annotations: Mapping[str, str] = field(default_factory=dict)


class Network(Protocol):
    """Connects pods; called by one kubelet, from several threads for different pods."""

    def setup(self, pod: PodNetworkRequest) -> PodNetwork:
        """Give the pod its addresses; idempotent per sandbox.

        Raises:
            NetworkFailed: nothing is left half-done.
        """

    def teardown(self, pod: PodNetworkRequest) -> None:
        """Take them back; no error if they are gone already.

        The namespace may be gone, and of the request all but the sandbox's id may be missing: a pod that was deleted
        while no kubelet ran is known by its sandbox alone.

        Raises:
            NetworkFailed: something of the pod may be left; it is tried again.
        """

    def status(self) -> str:
        """Return why the network is not ready, or the empty string."""

    def set_pod_cidr(self, cidr: str) -> None:
        """Learn the node's pod ranges, separated by commas; may be called again when they change."""


@runtime_checkable
class ConnectsNamespaces(Protocol):
    """A network that connects network namespaces: the runtime has to give each sandbox one of its own."""

    needs_namespaces: bool
    """Whether it is so for this network."""


@runtime_checkable
class MakesNetworkNamespaces(Protocol):
    """A runtime that gives sandboxes network namespaces only where the network needs them."""

    def make_network_namespaces(self) -> None:
        """Give each sandbox to come a network namespace, but for those on the node's network; called once, at first.

        Raises:
            UsageError: it may not here, in one line.
        """


@runtime_checkable
class CallsNetwork(Protocol):
    """A runtime that connects its pods itself, through the network plugin if one is named."""

    def use_network(self, name: str, network: Network) -> None:
        """Let the network that plugin `name` built connect the sandboxes to come; called once, at first."""


@runtime_checkable
class ForwardsHostPorts(Protocol):
    """A network that forwards ports of the node to pods; with the others an event says that it is not done."""

    forwards_host_ports: bool
    """Whether it is so for this network."""


@runtime_checkable
class PreparesNode(Protocol):
    """A network that sets the node up for any runtime, also for one that connects its pods itself."""

    prepares_node: bool
    """Whether it is of use beside a runtime that connects its pods itself."""


@runtime_checkable
class CollectsGarbage(Protocol):
    """A network that finds what pods left behind whose teardown never came."""

    def collect_garbage(self, sandbox_ids: Callable[[], frozenset[str]]) -> None:
        """Release what it holds for sandboxes that are gone; called soon after the kubelet's start.

        Must: look at what it holds first and call `sandbox_ids` then, since pods may be starting meanwhile: a sandbox
            is there before its network is.
        """


@hookspec(firstresult=True)
def network_build() -> Network:
    """Build the network that ``--network-plugin`` names.

    Called: once by the kubelet, before any pod starts.
    Must: reuse no address while its pod lives, also across a restart of the kubelet.
    """


class NetworkHooks(Protocol):
    """How a host calls the hooks of this family: by keyword, all plugins at once."""

    def network_build(self) -> Network:
        """Call `network_build` of all plugins until one answers."""
