"""Which endpoints of a service port the traffic of this node goes to.

Source of the rules: kubernetes ``pkg/proxy/topology.go`` and ``pkg/proxy/serviceport.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from hyperkube.hookspecs.proxier import Endpoint, ProxyNode, ServicePort


class Categorized(NamedTuple):
    """The endpoints of one service port, as the traffic policies want them.

    Attributes:
        cluster: those of traffic policy ``Cluster``; empty if the port never uses it.
        local: those of traffic policy ``Local``; empty if the port never uses it.
        reachable: all of both, each once.
        any_endpoints: whether there are usable endpoints anywhere, even if none can be reached from here.
    """

    cluster: tuple[Endpoint, ...]
    local: tuple[Endpoint, ...]
    reachable: tuple[Endpoint, ...]
    any_endpoints: bool

    def has_endpoints(self, *, local_only: bool) -> bool:
        """Tell whether traffic of a policy reaches an endpoint from here."""
        return self.any_endpoints and bool(not local_only or self.local)


def externally_accessible(port: ServicePort) -> bool:
    """Tell whether a port has addresses beside its cluster IP."""
    return bool(port.node_port or port.external_ips or port.load_balancer_ips)


def uses_cluster_endpoints(port: ServicePort) -> bool:
    """Tell whether some traffic goes to endpoints of all nodes.

    With the external policy ``Local`` that is what pods and the node itself send to external addresses.
    """
    return not port.internal_local or externally_accessible(port)


def uses_local_endpoints(port: ServicePort) -> bool:
    """Tell whether some traffic goes to endpoints of this node only."""
    return port.internal_local or (port.external_local and externally_accessible(port))


def categorize_endpoints(port: ServicePort, node: ProxyNode) -> Categorized:
    """Return the endpoints of a port by traffic policy.

    Usable are those that are ready; where there are none, for each policy by itself, those that still serve while
    they terminate. Hints narrow the policy ``Cluster`` only.
    """
    cluster: tuple[Endpoint, ...] = ()
    local: tuple[Endpoint, ...] = ()
    is_narrowed = False
    if uses_cluster_endpoints(port):
        preferred = _by_hints(port.endpoints, node)
        is_narrowed = preferred is not None
        ready = filter(preferred or _is_ready, port.endpoints)
        cluster = tuple(ready) or _terminating(port.endpoints)
    if not uses_local_endpoints(port):
        return Categorized(cluster, (), cluster, bool(cluster))
    here = [endpoint for endpoint in port.endpoints if endpoint.local]
    local_ready = tuple(filter(_is_ready, here))
    local = local_ready or _terminating(here)
    any_endpoints = any(_is_ready(endpoint) or _is_terminating(endpoint) for endpoint in port.endpoints)
    if not uses_cluster_endpoints(port):
        return Categorized((), local, local, any_endpoints)
    if not is_narrowed and (local_ready or not local):
        # Every ready endpoint is in `cluster`, those of this node among them.
        return Categorized(cluster, local, cluster, any_endpoints)
    return Categorized(cluster, local, tuple(dict.fromkeys(cluster + local)), any_endpoints)


def _is_ready(endpoint: Endpoint) -> bool:
    return endpoint.ready


def _is_terminating(endpoint: Endpoint) -> bool:
    return endpoint.serving and endpoint.terminating


def _terminating(endpoints: Iterable[Endpoint]) -> tuple[Endpoint, ...]:
    return tuple(filter(_is_terminating, endpoints))


def _by_hints(endpoints: Iterable[Endpoint], node: ProxyNode) -> Callable[[Endpoint], bool] | None:
    """Return what chooses the ready endpoints hinted for this node, else for its zone; None if hints do not count.

    They count when every ready endpoint has one, and at least one is for us.
    """
    ready = [endpoint for endpoint in endpoints if endpoint.ready]
    if not ready:
        return None
    if all(endpoint.node_hints for endpoint in ready) and any(node.name in endpoint.node_hints for endpoint in ready):
        return lambda endpoint: endpoint.ready and node.name in endpoint.node_hints
    if all(endpoint.zone_hints for endpoint in ready) and any(node.zone in endpoint.zone_hints for endpoint in ready):
        return lambda endpoint: endpoint.ready and node.zone in endpoint.zone_hints
    return None
