"""The health of a node's proxy: ``/healthz`` for load balancers, ``/livez`` for liveness probes.

A proxy is unhealthy when a change of an IP family has waited for longer than two sync periods. A node that is about to
be removed, because it is deleted or because the autoscaler has tainted it, should get no new connections; only
``/healthz`` says so.
Source: kubernetes ``pkg/proxy/healthcheck/proxy_health.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import orjson
from hyperkube_host.proxy.node_manager import is_leaving
from hyperkube_lib.serving.exchange import HttpRequest, Response

from hyperkube.hookspecs.proxier import IPFamily
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object

TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"
"""Key of the autoscaler's taint."""


def _uncounted(_path: str, _code: int) -> None:
    """Count nothing."""


class ProxyHealth:
    """Knows, by IP family, since when a change waits to be synced; thread-safe."""

    def __init__(
        self,
        clock: Clock,
        families: Sequence[IPFamily],
        timeout: float,
        count: Callable[[str, int], None] = _uncounted,
    ) -> None:
        """Begin healthy.

        Args:
            clock: the cluster's time.
            families: those that are synced.
            timeout: seconds that a change may wait.
            count: is told path and status of each answer.
        """
        self._clock = clock
        self._timeout = timeout
        self._count = count
        self._lock = threading.Lock()
        self._pending_since: dict[IPFamily, float] = {}
        self._updated: dict[IPFamily, datetime] = dict.fromkeys(families, clock.now())
        self._eligible = True

    def queued(self) -> None:
        """Note a change that is to be served."""
        with self._lock:
            now = self._clock.monotonic()
            for family in self._updated:
                self._pending_since.setdefault(family, now)

    def updated(self, family: IPFamily) -> None:
        """Note that all changes of a family are served."""
        with self._lock:
            self._pending_since.pop(family, None)
            self._updated[family] = self._clock.now()

    def see_node(self, node: Object) -> None:
        """Note whether the node stays."""
        self._eligible = not is_leaving(node, TO_BE_DELETED)

    def node_deleted(self, _node: Object) -> None:
        """Note that the node is gone."""
        self._eligible = False

    @property
    def eligible(self) -> bool:
        """Whether the node should get new connections; true until something else is known."""
        return self._eligible

    def alive(self) -> bool:
        """Tell whether no change waits for too long."""
        with self._lock:
            return all(map(self._is_healthy, self._updated))

    def _is_healthy(self, family: IPFamily) -> bool:
        since = self._pending_since.get(family)
        return since is None or self._clock.monotonic() - since < self._timeout

    def answer(self, request: HttpRequest) -> Response | None:
        """Answer ``/healthz`` and ``/livez``: 200, or 503 with when changes were last served."""
        path = request.path
        if path not in {"/healthz", "/livez"}:
            return None
        now = self._clock.now()
        with self._lock:
            status = {
                family: {"lastUpdated": _format(updated), "healthy": self._is_healthy(family)}
                for family, updated in self._updated.items()
            }
            latest = max(self._updated.values())
        healthy = all(each["healthy"] for each in status.values())
        fine = healthy and (path == "/livez" or self.eligible)
        body: dict[str, Any] = {"lastUpdated": _format(now if fine else latest), "currentTime": _format(now)}
        if path == "/healthz":
            body["nodeEligible"] = self.eligible
        body |= {"healthy": healthy, "status": status}
        code = 200 if fine else 503
        self._count(path[1:], code)
        headers = [("Content-Type", "application/json"), ("X-Content-Type-Options", "nosniff")]
        return Response(status=code, headers=headers, body=orjson.dumps(body))


def _format(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"
