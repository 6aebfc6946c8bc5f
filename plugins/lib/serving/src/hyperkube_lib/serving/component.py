"""The handler of a server that is not the API server: what all have, and pages of its own beside them.

Source of the paths: kubernetes ``cmd/kube-scheduler/app/server.go`` and ``cmd/kube-controller-manager/app``,
component-base ``metrics/prometheus/slis``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from hyperkube_lib.serving.endpoints import ServerEndpoints
from hyperkube_lib.serving.exchange import Answer, HttpRequest, Response
from hyperkube_lib.serving.health import service_level_indicators
from hyperkube_lib.serving.wire import plain
from hyperkube_lib.serving.zpages import Zpages

SLIS_PATH = "/metrics/slis"

Page = Callable[[HttpRequest], Response]


class ComponentHandler:
    """A server's endpoints, what its health checks said, its pages for people, and its own; a `Handler`."""

    def __init__(
        self, endpoints: ServerEndpoints, zpages: Zpages | None = None, pages: Mapping[str, Page] = MappingProxyType({})
    ) -> None:
        """Take what is served; `pages` has what other components do not have, by path."""
        self._endpoints = endpoints
        self._zpages = zpages
        self._pages = {SLIS_PATH: self._indicators, **pages}

    def handle(self, request: HttpRequest) -> Answer:
        """Answer from the pages, else from the endpoints."""
        page = self._pages.get(request.path)
        if page is not None:
            return page(request)
        found = self._zpages.answer(request) if self._zpages is not None else None
        return found or self._endpoints.handle(request)

    def hot(self, request: HttpRequest) -> Response | None:
        """Nothing is answered on the loop."""
        return self._endpoints.hot(request)

    def is_long_running(self, request: HttpRequest) -> bool:
        """Only profiles take their time."""
        return self._endpoints.is_long_running(request)

    def _indicators(self, _request: HttpRequest) -> Response:
        checks = (self._endpoints.healthz, self._endpoints.livez, self._endpoints.readyz)
        return metrics_text(service_level_indicators(checks))


def metrics_text(body: bytes) -> Response:
    """Answer in Prometheus' text format."""
    return Response(headers=[("Content-Type", "text/plain; version=0.0.4; charset=utf-8")], body=body)


class OpenPort:
    """A port without authentication, with a few pages; a `Handler`."""

    def __init__(self, answer: Callable[[HttpRequest], Response | None]) -> None:
        """Take what answers; None from it means that there is no such page."""
        self._answer = answer

    def handle(self, request: HttpRequest) -> Answer:
        """Answer what there is."""
        return self._answer(request) or plain(404, "404 page not found")

    def hot(self, request: HttpRequest) -> Response | None:
        """Nothing is answered on the loop."""
        del request
        return None

    def is_long_running(self, request: HttpRequest) -> bool:
        """Nothing is."""
        del request
        return False
