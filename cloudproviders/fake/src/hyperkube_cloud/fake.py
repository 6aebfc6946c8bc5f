"""fake: a cloud that exists in memory only, for trying out what clouds do and for testing what talks to them.

Every node that reported addresses has a running machine, a balancer's address is made from its Service's uid and so is
the same after a restart, and routes last as long as the process.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import Cloud, InstanceMetadata, InstanceNotFound, Route
from hyperkube.machinery.objects import Object, name_of, uid_of
from hyperkube.plugin import Plugin

PROVIDER = "fake"
GONE_LABEL = "fake.cloud/gone"
"""A node with this label has lost its machine."""
OFF_LABEL = "fake.cloud/off"
"""The machine of a node with this label is shut down."""
BALANCER_NETWORK = "198.18"
"""Where balancers live: a range that is set aside for trials (RFC 2544)."""


class FakeLoadBalancers:
    """Balancers that forward nothing; implements `hyperkube.hookspecs.cloud.LoadBalancers`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: set[str] = set()

    def get(self, cluster: str, service: Object) -> Object | None:
        """Return the balancer's status if it was made here, or the Service says that it has it."""
        status = _status(service)
        claimed: Object = (service.get("status") or {}).get("loadBalancer") or {}
        with self._lock:
            return status if uid_of(service) in self._known or claimed == status else None

    def ensure(self, cluster: str, service: Object, nodes: Sequence[Object]) -> Object:
        """Return the status of the Service's balancer."""
        with self._lock:
            self._known.add(uid_of(service))
        return _status(service)

    def ensure_deleted(self, cluster: str, service: Object) -> None:
        """Forget the balancer."""
        with self._lock:
            self._known.discard(uid_of(service))


def _status(service: Object) -> Object:
    digest = hashlib.sha256(uid_of(service).encode()).digest()
    return {"ingress": [{"ip": f"{BALANCER_NETWORK}.{digest[0]}.{1 + digest[1] % 254}"}]}


class FakeInstances:
    """A machine behind each node; implements `hyperkube.hookspecs.cloud.Instances`."""

    def exists(self, node: Object) -> bool:
        """Tell whether the node has reported from a machine, or was given one here, and has not lost it."""
        known = (node.get("status") or {}).get("addresses") or (node.get("spec") or {}).get("providerID")
        return bool(known) and GONE_LABEL not in _labels(node)

    def is_shut_down(self, node: Object) -> bool:
        """Tell whether the machine is off."""
        return self.exists(node) and OFF_LABEL in _labels(node)

    def metadata(self, node: Object) -> InstanceMetadata:
        """Describe the machine.

        Raises:
            InstanceNotFound: there is none.
        """
        if not self.exists(node):
            raise InstanceNotFound(f"node {name_of(node)!r} has no machine")
        addresses = tuple((node.get("status") or {}).get("addresses") or ())
        return InstanceMetadata(
            provider_id=f"{PROVIDER}://{name_of(node)}",
            instance_type="fake.small",
            addresses=addresses or ({"type": "Hostname", "address": name_of(node)},),
            zone="fake-zone",
            region="fake-region",
        )


def _labels(node: Object) -> dict[str, str]:
    labels: dict[str, str] = node["metadata"].get("labels") or {}
    return labels


class FakeRoutes:
    """Routes that lead nowhere; implements `hyperkube.hookspecs.cloud.Routes`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._routes: dict[tuple[str, str], Route] = {}

    def list(self, cluster: str) -> Sequence[Route]:
        """Return the cluster's routes."""
        with self._lock:
            return [route for (owner, _), route in self._routes.items() if owner == cluster]

    def create(self, cluster: str, route: Route) -> None:
        """Remember a route."""
        with self._lock:
            self._routes[cluster, route.name] = route

    def delete(self, cluster: str, route: Route) -> None:
        """Forget a route."""
        with self._lock:
            self._routes.pop((cluster, route.name), None)


class Fake(Plugin):
    """Offers all capabilities."""

    @hookimpl
    def cloud_provider(self) -> Cloud:
        """Return the provider; it needs no configuration."""
        return Cloud(name=PROVIDER, load_balancers=FakeLoadBalancers(), instances=FakeInstances(), routes=FakeRoutes())
