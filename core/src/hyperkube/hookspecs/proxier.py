"""Proxiers: how a node makes Services reachable.

The proxy keeps the maps of services and endpoints and hands a complete desired state to one proxier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from hyperkube.hookspecs import hookspec
from hyperkube.machinery.dataclass import dataclass


class ServicePortName(NamedTuple):
    """One port of one Service."""

    namespace: str
    name: str
    port: str


class Backend(NamedTuple):
    """One address behind a service port."""

    ip: str
    port: int
    local: bool
    ready: bool = True
    node: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicePort:
    """What a service port needs: its addresses and the backends behind it."""

    name: ServicePortName
    protocol: Literal["TCP", "UDP", "SCTP"]
    cluster_ips: tuple[str, ...]
    port: int
    node_port: int = 0
    external_ips: tuple[str, ...] = ()
    load_balancer_ips: tuple[str, ...] = ()
    affinity_seconds: int = 0
    internal_local: bool = False
    external_local: bool = False
    health_check_node_port: int = 0
    backends: tuple[Backend, ...] = ()


class UnservedPort(NamedTuple):
    """A service port that could not be served on one of its addresses, and why."""

    name: ServicePortName
    reason: str


class Proxier(Protocol):
    """Makes service ports reachable on this node."""

    def sync(self, services: Mapping[ServicePortName, ServicePort]) -> Sequence[UnservedPort]:
        """Converge to exactly these service ports; return those that could not be served.

        Called on one thread, with the complete state each time; must keep connections of unchanged ports.
        """

    def cleanup(self) -> None:
        """Remove all traces from the node."""

    def close(self) -> None:
        """Stop serving and release ports."""


@hookspec(firstresult=True)
def proxier_build() -> Proxier:
    """Build the proxier that ``--proxy-mode`` names.

    Called: once by the proxy.
    Raises: `UsageError` if this node cannot run it (missing rights or programs), in one line that says which.
    Must: serve nothing before the first `sync`.
    """


class ProxierHooks(Protocol):
    """How a host calls the hooks of this family: by keyword, all plugins at once."""

    def proxier_build(self) -> Proxier:
        """Call `proxier_build` of all plugins until one answers."""
