"""The kubelet's ports without authentication: health for this machine, the read-only port, and cAdvisor's.

Source: kubernetes ``cmd/kubelet/app/server.go`` (the healthz server), ``pkg/kubelet/server/server.go``
(ListenAndServeKubeletReadOnlyServer, InstallAuthNotRequiredHandlers); up to 1.11 ``pkg/kubelet/cadvisor``.
"""

from __future__ import annotations

import logging

from hyperkube_host.kubelet.server.handler import KubeletHandler
from hyperkube_lib.serving.component import OpenPort
from hyperkube_lib.serving.exchange import HttpRequest, Response
from hyperkube_lib.serving.health import Check, HealthChecks

OPEN_PATHS = frozenset({"/healthz", "/pods", "/stats", "/stats/summary", "/metrics", "/metrics/resource"})
_CADVISOR_PAGES = {"/healthz": "/healthz", "/metrics": "/metrics/cadvisor"}


def health_port(sync_loop: Check) -> OpenPort:
    """Return what is served on ``--healthz-port``; `sync_loop` returns why the pods are not synced, or nothing."""
    checks = [("log", lambda: ""), ("syncloop", sync_loop)]
    return OpenPort(HealthChecks("healthz", logging.getLogger("hyperkube.kubelet"), checks).answer)


def read_only_port(handler: KubeletHandler) -> OpenPort:
    """Return what is served on ``--read-only-port``: pods and usage, as the kubelet's API has them."""

    def answer(request: HttpRequest) -> Response | None:
        path = request.path.rstrip("/")
        return handler.page(path) if request.method == "GET" and path in OPEN_PATHS else None

    return OpenPort(answer)


def cadvisor_port(handler: KubeletHandler) -> OpenPort:
    """Return what is served on ``--cadvisor-port``: the containers' metrics, at the path that cAdvisor has them at."""

    def answer(request: HttpRequest) -> Response | None:
        page = _CADVISOR_PAGES.get(request.path.rstrip("/"))
        return handler.page(page) if request.method == "GET" and page is not None else None

    return OpenPort(answer)
