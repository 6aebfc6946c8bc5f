"""What is to be served in one IP family, kept up to date Service by Service.

Source: kubernetes ``pkg/proxy/servicechangetracker.go`` and ``endpointschangetracker.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from hyperkube_host.proxy.service_ports import service_ports

from hyperkube.hookspecs.proxier import IPFamily, ServicePort, ServicePortName
from hyperkube.machinery.objects import Object


class ServiceKey(NamedTuple):
    """Namespace and name of a Service."""

    namespace: str
    name: str


class ChangeTracker:
    """The service ports of one family; used on the thread that syncs only.

    Changes are collected until a sync has succeeded: one that fails loses none of them.

    Attributes:
        services: what is to be served; of two that want one address, the one that came first is first.
        health_check_node_ports: the port of each Service that tells load balancers whether it has endpoints here.
    """

    def __init__(self, family: IPFamily, node: str) -> None:
        self._family = family
        self._node = node
        self._names: dict[ServiceKey, tuple[ServicePortName, ...]] = {}
        self._changed: set[ServicePortName] = set()
        self.services: dict[ServicePortName, ServicePort] = {}
        self.health_check_node_ports: dict[ServiceKey, int] = {}

    @property
    def changed(self) -> frozenset[ServicePortName]:
        """The ports that came, went or differ since `applied`."""
        return frozenset(self._changed)

    def update(
        self,
        keys: Iterable[ServiceKey],
        service_of: Callable[[str, str], Object | None],
        slices_of: Callable[[ServiceKey], Sequence[Object]],
    ) -> None:
        """Look at some Services and their EndpointSlices again.

        Args:
            keys: which ones.
            service_of: finds a Service by namespace and name.
            slices_of: finds a Service's EndpointSlices.
        """
        for key in keys:
            service = service_of(*key)
            ports = service_ports(service, slices_of(key), self._family, self._node) if service else []
            self._put(key, {port.name: port for port in ports})

    def _put(self, key: ServiceKey, ports: Mapping[ServicePortName, ServicePort]) -> None:
        for name in self._names.get(key, ()):
            if name not in ports:
                del self.services[name]
                self._changed.add(name)
        for name, port in ports.items():
            if self.services.get(name) != port:
                self.services[name] = port
                self._changed.add(name)
        self._names.pop(key, None)
        self.health_check_node_ports.pop(key, None)
        for name, port in ports.items():
            self._names[key] = (*self._names.get(key, ()), name)
            if port.health_check_node_port:
                self.health_check_node_ports[key] = port.health_check_node_port

    def applied(self) -> None:
        """Forget the changes: they are served."""
        self._changed.clear()

    def local_ready_endpoints(self, keys: Iterable[ServiceKey]) -> dict[ServiceKey, set[str]]:
        """Return, of some Services, the addresses of this node's ready endpoints."""
        return {
            key: {
                endpoint.ip
                for name in self._names.get(key, ())
                for endpoint in self.services[name].endpoints
                if endpoint.local and endpoint.ready
            }
            for key in keys
        }
