"""The health of a node's proxy: ``/healthz`` for load balancers, ``/livez`` for liveness probes.

A proxy is unhealthy when a change has waited for longer than two sync periods. A node that is about to be removed,
because it is deleted or because the autoscaler has tainted it, should get no new connections; only ``/healthz`` says
so.
Source: kubernetes ``pkg/proxy/healthcheck/proxy_health.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from datetime import datetime

import orjson
from hyperkube_lib.serving.exchange import HttpRequest, Response

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object

HEALTH_TIMEOUT_SECONDS = 60.0
"""Twice Kubernetes' sync period."""
TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"
"""Key of the autoscaler's taint."""


class ProxyHealth:
    """Knows since when a change waits to be synced; thread-safe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._pending_since: float | None = None
        self._updated: datetime | None = None
        self._eligible = True

    def queued(self) -> None:
        """Note a change that is to be served."""
        with self._lock:
            if self._pending_since is None:
                self._pending_since = self._clock.monotonic()

    def updated(self) -> None:
        """Note that all changes are served."""
        with self._lock:
            self._pending_since = None
            self._updated = self._clock.now()

    def see_node(self, node: Object) -> None:
        """Note whether the node stays."""
        taints: Iterable[Object] = node.get("spec", {}).get("taints") or ()
        is_leaving = "deletionTimestamp" in node["metadata"] or any(
            taint.get("key") == TO_BE_DELETED for taint in taints
        )
        with self._lock:
            self._eligible = not is_leaving

    @property
    def eligible(self) -> bool:
        """Whether the node should get new connections; true until something else is known."""
        return self._eligible

    def alive(self) -> bool:
        """Tell whether no change waits for too long."""
        with self._lock:
            return self._pending_since is None or self._clock.monotonic() - self._pending_since < HEALTH_TIMEOUT_SECONDS

    def answer(self, request: HttpRequest) -> Response | None:
        """Answer ``/healthz`` and ``/livez``: 200, or 503 with when the last change was served."""
        path = request.path
        if path not in {"/healthz", "/livez"}:
            return None
        now, fine = self._clock.now(), self.alive()
        body: Object = {}
        if path == "/healthz":
            fine = fine and self.eligible
            body = {"nodeEligible": self.eligible}
        last = now if fine else self._updated
        times = {"lastUpdated": _format(last), "currentTime": _format(now)}
        headers = [("Content-Type", "application/json"), ("X-Content-Type-Options", "nosniff")]
        return Response(status=200 if fine else 503, headers=headers, body=orjson.dumps({**times, **body}))


def _format(moment: datetime | None) -> str:
    return "0001-01-01 00:00:00 +0000 UTC" if moment is None else f"{moment:%Y-%m-%d %H:%M:%S.%f} +0000 UTC"
