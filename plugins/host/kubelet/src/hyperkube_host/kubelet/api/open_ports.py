"""The kubelet's two ports without authentication: health for this machine, and the read-only port of old.

Source: kubernetes ``cmd/kubelet/app/server.go`` (the healthz server), ``pkg/kubelet/server/server.go``
(ListenAndServeKubeletReadOnlyServer, InstallAuthNotRequiredHandlers).
"""

from __future__ import annotations

import logging

from hyperkube_host.kubelet.api.handler import KubeletHandler
from hyperkube_lib.serving.component import OpenPort
from hyperkube_lib.serving.exchange import HttpRequest, Response
from hyperkube_lib.serving.health import Check, HealthChecks

OPEN_PATHS = frozenset({"/healthz", "/pods", "/stats", "/stats/summary", "/metrics", "/metrics/resource"})


def health_port(stuck: Check) -> OpenPort:
    """Return what is served on ``--healthz-port``; `stuck` tells why the kubelet does not look after its pods."""
    checks = [("log", lambda: ""), ("syncloop", stuck)]
    return OpenPort(HealthChecks("healthz", logging.getLogger("hyperkube.kubelet"), checks).answer)


def read_only_port(handler: KubeletHandler) -> OpenPort:
    """Return what is served on ``--read-only-port``: pods and usage, as the kubelet's API has them."""

    def answer(request: HttpRequest) -> Response | None:
        path = request.path.rstrip("/")
        return handler.page(path) if request.method == "GET" and path in OPEN_PATHS else None

    return OpenPort(answer)
