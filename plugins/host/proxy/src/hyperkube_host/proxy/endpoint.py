"""What a proxy serves about itself on ``--metrics-bind-address``: metrics, mode, configuration, pages for people.

Source: kubernetes ``cmd/kube-proxy/app/server.go`` (serveMetrics).
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_host.proxy.configuration import to_object
from hyperkube_host.proxy.options import ProxyOptions
from hyperkube_host.proxy.server import Proxy
from hyperkube_lib.component_base.feature_gates import locked_gates
from hyperkube_lib.serving.component import ComponentHandler
from hyperkube_lib.serving.component_metrics import Collector, FeatureGates, Release, registry_of
from hyperkube_lib.serving.endpoints import ServerEndpoints
from hyperkube_lib.serving.exchange import HttpRequest, Response
from hyperkube_lib.serving.zpages import Zpages

MODE_PATH = "/proxyMode"
CONFIGURATION = "kubeproxy.config.k8s.io"


def proxy_endpoints(proxy: Proxy, options: ProxyOptions, collectors: Sequence[Collector] = ()) -> ServerEndpoints:
    """Return metrics and configuration of a proxy, as kube-proxy serves them.

    Args:
        proxy: whose they are.
        options: its options.
        collectors: of what else is told at ``/metrics``.
    """
    return ServerEndpoints(
        configz={CONFIGURATION: to_object(options.values)},
        metrics=lambda: registry_of(Release(), FeatureGates(options.gates, locked_gates), proxy.metrics, *collectors),
        paths=lambda: [MODE_PATH],
        profiling=options.profiling,
    )


def proxy_handler(proxy: Proxy, endpoints: ServerEndpoints, zpages: Zpages | None = None) -> ComponentHandler:
    """Return a handler of a proxy's endpoints, with its mode among them."""

    def mode(_request: HttpRequest) -> Response:
        text = [("Content-Type", "text/plain; charset=utf-8"), ("X-Content-Type-Options", "nosniff")]
        return Response(headers=text, body=proxy.mode.encode())

    return ComponentHandler(endpoints, zpages, {MODE_PATH: mode})
