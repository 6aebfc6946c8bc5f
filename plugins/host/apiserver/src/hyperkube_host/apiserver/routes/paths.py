"""Everything that is no resource: discovery, OpenAPI, version, health, metrics, and the list of paths at the root.

Kubernetes routes these paths in two ways, which clients can tell apart. Its path recorder mux takes a path as it is
written, with any method; its web services (``/api``, ``/apis/GROUP`` of built-in groups, ``/version``) take a trailing
slash too, answer GET alone, and refuse everything else at or below their root with a Status.

Source: kubernetes apiserver ``pkg/server/mux/pathrecorder.go``, ``pkg/server/handler.go`` (the director).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hyperkube_host.apiserver.health.health import Health, text
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.routes.discovery import Discovery
from hyperkube_host.apiserver.routes.logs import ROOT, MachineLogs
from hyperkube_host.apiserver.serializer import negotiation
from hyperkube_host.apiserver.serializer.encode import NO_CACHE, ok, wants_pretty, write
from hyperkube_host.apiserver.serializer.path_errors import not_allowed, not_found
from hyperkube_lib.serving.exchange import Answer, Response

from hyperkube.machinery import release
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube_host.apiserver.routes.swagger import SwaggerPages

VERSION: Object = {
    "major": str(release.MAJOR),
    "minor": str(release.MINOR),
    "emulationMajor": str(release.MAJOR),
    "emulationMinor": str(release.MINOR),
    "minCompatibilityMajor": str(release.MAJOR),
    "minCompatibilityMinor": str(release.MINOR - 1),
    "gitVersion": release.GIT_VERSION,
    "gitCommit": "hyperkube",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "none",
    "compiler": "cpython",
    "platform": "linux/amd64",
}

Page = Callable[[ApiRequest], Answer]


class Paths:
    """Answers requests for paths that are no resource.

    Args:
        pages: further paths, taken as they are written, and what answers them.
        services: further web services: their root paths and what answers GET.
        unlisted: the same, for paths that the index does not show.
        logs: answers ``/logs`` and all below it.
        lists_logs: whether the index shows it: Kubernetes has it only when told to.
        swagger: answers the pages about the API of the 1.x line.
    """

    def __init__(
        self,
        discovery: Discovery,
        health: Health,
        openapi: Any,
        pages: Mapping[str, Page],
        services: Mapping[str, Page] | None = None,
        unlisted: Mapping[str, Page] | None = None,
        logs: MachineLogs | None = None,
        *,
        lists_logs: bool = True,
        swagger: SwaggerPages | None = None,
    ) -> None:
        self._swagger = swagger
        self._logs = logs
        self._lists_logs = lists_logs
        self._unlisted = dict(unlisted or {})
        self._discovery = discovery
        self._health = health
        self._openapi = openapi
        self._pages = dict(pages)
        self._services = {"/version": self._version, **(services or {})}

    def offer(self, path: str, page: Page) -> None:
        """Answer a further path: what another part of the same process has to show."""
        self._pages[path] = page

    def answer(self, request: ApiRequest) -> Answer:
        """Return the answer, a plain 404 for what is not there."""
        path = request.path
        page = self._pages.get(path) or self._unlisted.get(path)
        if page is not None:
            return page(request)
        if path in {"", "/", "/index.html"}:
            return self._index(request)
        root = next((root for root in self._services if path == root or path.startswith(f"{root}/")), "")
        if root:
            return self._service(root, request)
        found: Answer | None = self._health.answer(request) or self._discovery.answer(request)
        if found is None and path.startswith("/openapi/"):
            found = self._openapi.answer(request)
        if found is None and self._swagger is not None:
            found = self._swagger.answer(request)
        if found is None and self._logs is not None:
            found = self._logs.answer(request)
        return found if found is not None else self.missing(request)

    def missing(self, _request: ApiRequest) -> Response:
        """Return the answer for a path at which nothing is."""
        return text("404 page not found\n", 404)

    def _service(self, root: str, request: ApiRequest) -> Answer:
        if request.path.rstrip("/") != root:
            raise not_found()
        if request.method != "GET":
            raise not_allowed()
        return self._services[root](request)

    def _version(self, request: ApiRequest) -> Answer:
        negotiation.check_accepted(request.headers.get("accept", ""), (negotiation.JSON,))
        return ok(write(VERSION, negotiation.JSON, pretty=True))

    def listed(self) -> list[str]:
        """Return the paths that the index shows."""
        found = {*self._pages, *self._services, *self._discovery.paths(), *self._health.paths(), *self._openapi.paths()}
        if self._logs is not None and self._lists_logs:
            found.add(ROOT)
        if self._swagger is not None:
            found.update(self._swagger.paths())
        return sorted(found)

    def _index(self, request: ApiRequest) -> Answer:
        body = {"paths": self.listed()}
        return Response(
            headers=[("Content-Type", negotiation.JSON), NO_CACHE],
            body=write(body, negotiation.JSON, pretty=wants_pretty(request)),
        )
