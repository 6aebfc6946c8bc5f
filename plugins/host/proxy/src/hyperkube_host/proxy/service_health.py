"""What load balancers are told of each Service with ``healthCheckNodePort``: how many endpoints this node has.

Each IP family has its own: a load balancer that asks over IPv4 is told of the endpoints of IPv4.

Source: kubernetes ``pkg/proxy/healthcheck/service_health.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence

import orjson
from hyperkube_host.proxy.change_tracker import ServiceKey
from hyperkube_lib.serving.component import OpenPort
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.exchange import HttpRequest, Response
from hyperkube_lib.serving.loop import EdgeLoop

from hyperkube.machinery.errors import UsageError

_log = logging.getLogger("hyperkube.proxy")


class _Check:
    """One Service's port and what it tells."""

    def __init__(self, key: ServiceKey, port: int, is_healthy: Callable[[], bool]) -> None:
        self.port = port
        self.endpoints = 0
        self._key = key
        self._is_healthy = is_healthy
        self._listeners: list[Edge] = []

    def open(self, addresses: Sequence[str], loop: EdgeLoop) -> str:
        """Listen; return why that failed, or nothing."""
        for address in addresses:
            edge = Edge(
                OpenPort(self._answer),
                host=address,
                port=self.port,
                loop=loop,
                name="service-health",
                dual_stack=False,
            )
            try:
                edge.start()
            except UsageError as error:
                return str(error)
            self._listeners.append(edge)
        return ""

    def close(self) -> None:
        for edge in self._listeners:
            edge.close(drain_seconds=0.0)

    def _answer(self, _request: HttpRequest) -> Response:
        endpoints, healthy = self.endpoints, self._is_healthy()
        body = {
            "service": {"namespace": self._key.namespace, "name": self._key.name},
            "localEndpoints": endpoints,
            "serviceProxyHealthy": healthy,
        }
        headers = [
            ("Content-Type", "application/json"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Load-Balancing-Endpoint-Weight", str(endpoints)),
        ]
        return Response(status=200 if endpoints and healthy else 503, headers=headers, body=orjson.dumps(body))


class ServiceHealth:
    """The health check node ports that are served in one IP family; used on one thread."""

    def __init__(
        self,
        addresses: Callable[[], Sequence[str]],
        is_healthy: Callable[[], bool],
        failed: Callable[[ServiceKey, int, str], None],
    ) -> None:
        """Prepare; nothing is opened before `sync`.

        Args:
            addresses: tells where node ports are open.
            is_healthy: tells whether the proxy keeps up.
            failed: is told which Service's port cannot be served, and why.
        """
        self._addresses = addresses
        self._is_healthy = is_healthy
        self._failed = failed
        self._loop: EdgeLoop | None = None
        self._checks: dict[ServiceKey, _Check] = {}

    def sync(self, ports: Mapping[ServiceKey, int], endpoints: Mapping[ServiceKey, Collection[str]]) -> None:
        """Serve exactly these ports, with the number of these addresses of endpoints."""
        for key in [key for key, check in self._checks.items() if ports.get(key) != check.port]:
            self._checks.pop(key).close()
        for key, port in ports.items():
            if key not in self._checks:
                self._open(key, port)
            if key in self._checks:
                self._checks[key].endpoints = len(endpoints.get(key, ()))

    def _open(self, key: ServiceKey, port: int) -> None:
        if self._loop is None:
            self._loop = EdgeLoop(name="service-health")
            self._loop.start()
        check = _Check(key, port, self._is_healthy)
        why = check.open(self._addresses(), self._loop)
        if why:
            check.close()
            _log.error("cannot serve the health of service %s/%s: %s", *key, why)
            self._failed(key, port, why)
            return
        self._checks[key] = check

    def close(self) -> None:
        """Close all ports."""
        for check in self._checks.values():
            check.close()
        self._checks.clear()
        if self._loop is not None:
            self._loop.close()
            self._loop = None
