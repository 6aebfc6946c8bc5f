"""Proxiers: how a node makes Services reachable.

The proxy keeps service ports and endpoints of each IP family and hands them, all and what changed, to one proxier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from hyperkube.hookspecs import hookspec
from hyperkube.machinery.dataclass import dataclass

IPFamily = Literal["IPv4", "IPv6"]


class ServicePortName(NamedTuple):
    """One port of one Service."""

    namespace: str
    name: str
    port: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}:{self.port}" if self.port else f"{self.namespace}/{self.name}"


class Endpoint(NamedTuple):
    """One address behind a service port, with the conditions of its EndpointSlice; `local`: on this node."""

    ip: str
    port: int
    local: bool = False
    ready: bool = True
    serving: bool = True
    terminating: bool = False
    zone_hints: tuple[str, ...] = ()
    node_hints: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"[{self.ip}]:{self.port}" if ":" in self.ip else f"{self.ip}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicePort:
    """A service port in one IP family: its addresses, its policies and all endpoints behind it, sorted.

    Attributes:
        load_balancer_ips: ingress addresses whose traffic arrives as it was sent (``ipMode: VIP``).
        source_ranges: the ranges that may use those; empty for all.
        affinity_seconds: 0 for none.
        internal_local, external_local: the traffic policy is ``Local``.
    """

    name: ServicePortName
    protocol: Literal["TCP", "UDP", "SCTP"]
    cluster_ip: str
    port: int
    node_port: int = 0
    external_ips: tuple[str, ...] = ()
    load_balancer_ips: tuple[str, ...] = ()
    source_ranges: tuple[str, ...] = ()
    affinity_seconds: int = 0
    internal_local: bool = False
    external_local: bool = False
    health_check_node_port: int = 0
    endpoints: tuple[Endpoint, ...] = ()


class ProxyNode(NamedTuple):
    """What a proxier needs to know of its node; each empty while it is unknown."""

    name: str = ""
    zone: str = ""
    ips: tuple[str, ...] = ()
    pod_cidrs: tuple[str, ...] = ()


class ProxyState(NamedTuple):
    """All that is to be served in one IP family.

    Attributes:
        services: every service port; the proxy changes it between syncs, so it must not be kept.
        changed: the ports that came, went or differ since the last sync that succeeded; None if all may.
        service_cidrs: the ranges of cluster IPs.
    """

    family: IPFamily
    services: Mapping[ServicePortName, ServicePort]
    changed: frozenset[ServicePortName] | None = None
    node: ProxyNode = ProxyNode()
    service_cidrs: tuple[str, ...] = ()


class UnservedPort(NamedTuple):
    """A service port that could not be served on one of its addresses, and why."""

    name: ServicePortName
    reason: str


class Proxier(Protocol):
    """Makes service ports reachable on this node."""

    def sync(self, state: ProxyState) -> Sequence[UnservedPort]:
        """Converge one IP family to exactly this state; return the ports that could not be served.

        Called on one thread, with the complete state each time; must keep connections of unchanged ports. After an
        exception what was served before is still served, and the next call says that all may have changed.
        """

    def cleanup(self) -> None:
        """Remove all traces from the node, also those of a proxier that was killed."""

    def close(self) -> None:
        """Stop serving if that needs this process, and release ports."""


@hookspec(firstresult=True)
def proxier_build() -> Proxier:
    """Build the proxier that ``--proxy-mode`` names.

    Called: once by the proxy; of other proxiers too, to have them remove what they left on the node.
    Raises: `UsageError` if this node cannot run it (missing rights or programs), in one line that says which.
    Must: serve nothing before the first `sync`.
    """


class ProxierHooks(Protocol):
    """How a host calls the hooks of this family: by keyword, all plugins at once."""

    def proxier_build(self) -> Proxier:
        """Call `proxier_build` of all plugins until one answers."""
