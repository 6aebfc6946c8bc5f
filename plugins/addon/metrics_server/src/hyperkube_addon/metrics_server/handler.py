"""Answers the requests of metrics.k8s.io.

Who asks is told by the API server's front proxy, and whether they may is asked of the API server.

Sources: metrics-server ``pkg/api/{node,pod,install}.go``, ``pkg/server/config.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import orjson
from hyperkube_addon.metrics_server.objects import (
    GROUP,
    GROUP_DISCOVERY,
    GROUP_VERSION,
    RESOURCES,
    VERSION,
    list_of,
    node_metrics,
    pod_metrics,
    table_of,
)
from hyperkube_addon.metrics_server.storage import MetricsStorage
from hyperkube_lib.serving.delegated_authentication import DelegatedAuthentication
from hyperkube_lib.serving.delegated_authorization import AccessUnknown, DelegatedAuthorization
from hyperkube_lib.serving.exchange import HttpRequest, Response
from hyperkube_lib.serving.wire import refusal

from hyperkube.client.client import Client
from hyperkube.kinds.resources import NODES, PODS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError, Forbidden, InternalError, MethodNotAllowed, NotFound
from hyperkube.machinery.groups import GroupResource
from hyperkube.machinery.objects import Object, name_of, namespace_of

_HEALTH = frozenset({"/healthz", "/livez", "/readyz"})
_BASE = ("apis", GROUP, VERSION)
_TABLE = "as=Table"
_NODE_METRICS, _POD_METRICS = GroupResource(GROUP, "nodemetrics"), GroupResource(GROUP, "podmetrics")


class Target(NamedTuple):
    """What a request is about; an empty name means all."""

    resource: str
    namespace: str
    name: str


def target_of(path: str) -> Target | None:
    """Return what a path of the group names, None when it is no path of a resource."""
    parts = [part for part in path.split("/") if part]
    match parts[3:] if tuple(parts[:3]) == _BASE else []:
        case ["nodes"]:
            return Target("nodes", "", "")
        case ["nodes", name]:
            return Target("nodes", "", name)
        case ["pods"]:
            return Target("pods", "", "")
        case ["namespaces", namespace, "pods"]:
            return Target("pods", namespace, "")
        case ["namespaces", namespace, "pods", name]:
            return Target("pods", namespace, name)
    return None


class MetricsHandler:
    """Serves the group's discovery and objects; see `hyperkube_lib.serving.exchange.Handler`."""

    def __init__(
        self,
        storage: MetricsStorage,
        client: Client,
        clock: Clock,
        authentication: DelegatedAuthentication,
        authorization: DelegatedAuthorization,
    ) -> None:
        self._storage = storage
        self._client = client
        self._clock = clock
        self._authentication = authentication
        self._authorization = authorization
        self._pages: Mapping[str, Callable[[], Object]] = {
            "/apis": lambda: {"kind": "APIGroupList", "apiVersion": "v1", "groups": [GROUP_DISCOVERY]},
            f"/apis/{GROUP}": lambda: GROUP_DISCOVERY,
            f"/apis/{GROUP_VERSION}": lambda: RESOURCES,
        }

    def hot(self, request: HttpRequest) -> Response | None:
        """Leave everything to `handle`."""
        return None

    def is_long_running(self, request: HttpRequest) -> bool:
        """Tell that nothing stays open."""
        return False

    def handle(self, request: HttpRequest) -> Response:
        """Answer one request."""
        path = request.path.rstrip("/")
        if path in _HEALTH:
            return self._health(path)
        try:
            self._check(request, target_of(path))
            return _json(self._body(request, path))
        except ApiError as error:
            return refusal(error)

    def _health(self, path: str) -> Response:
        ready = path != "/readyz" or self._storage.is_ready
        text = b"ok" if ready else b"[-]metric-storage-ready failed: no metrics to serve\n"
        return Response(status=200 if ready else 500, headers=[("Content-Type", "text/plain")], body=text)

    def _check(self, request: HttpRequest, target: Target | None) -> None:
        """Let those in whom the API server allows it.

        Raises:
            Unauthorized: the request proves nothing.
            Forbidden: its user may not.
            InternalError: the API server could not be asked.
        """
        user = self._authentication.authenticate(request)
        if "system:masters" in user.groups:
            return
        try:
            if target is None:
                wanted = {"path": request.path, "verb": request.method.lower()}
                if self._authorization.allows(user, path=wanted):
                    return
                raise Forbidden(f'forbidden: User "{user.name}" cannot get path "{request.path}"')
            wanted = {
                "verb": "get" if target.name else "list",
                "group": GROUP,
                "version": VERSION,
                "resource": target.resource,
                "namespace": target.namespace,
                "name": target.name,
            }
            if self._authorization.allows(user, resource=wanted):
                return
        except AccessUnknown as error:
            raise InternalError.because(error) from error
        where = f' in the namespace "{target.namespace}"' if target.namespace else " at the cluster scope"
        why = f'User "{user.name}" cannot {wanted["verb"]} resource "{target.resource}" in API group "{GROUP}"{where}'
        raise Forbidden.about(GroupResource(GROUP, target.resource), target.name, why)

    def _body(self, request: HttpRequest, path: str) -> Object:
        if request.method not in {"GET", "HEAD"}:
            raise MethodNotAllowed("the server does not allow this method on the requested resource")
        if path in self._pages:
            return self._pages[path]()
        target = target_of(path)
        if target is None:
            raise NotFound("the server could not find the requested resource")
        query = {name: values[0] for name, values in request.query().items()}
        if query.get("watch") in {"1", "true"}:
            raise MethodNotAllowed("watch is not supported on resources of kind metrics")
        items = [*(self._nodes(target, query) if target.resource == "nodes" else self._pods(target, query))]
        if target.name and not items:
            if target.resource == "nodes":
                raise NotFound.about(_NODE_METRICS, target.name)
            raise NotFound.about(_POD_METRICS, f"{target.namespace}/{target.name}")
        if _TABLE in request.headers.get("accept", ""):
            return table_of(items)
        if target.name:
            return items[0]
        return list_of("NodeMetrics" if target.resource == "nodes" else "PodMetrics", items)

    def _nodes(self, target: Target, query: Mapping[str, str]) -> Iterator[Object]:
        now = self._clock.now()
        for node in self._selected(target, query):
            usage = self._storage.node_usage(name_of(node))
            if usage is not None:
                yield node_metrics(node, usage, now)

    def _pods(self, target: Target, query: Mapping[str, str]) -> Iterator[Object]:
        now = self._clock.now()
        for pod in self._selected(target, query):
            usages = self._storage.pod_usage(namespace_of(pod), name_of(pod))
            if usages:
                yield pod_metrics(pod, usages, now)

    def _selected(self, target: Target, query: Mapping[str, str]) -> Sequence[Object]:
        """Return the objects asked about, by name; they are read when asked, so that none are kept here."""
        resource = NODES if target.resource == "nodes" else PODS
        if target.name:
            try:
                return [self._client.get(resource, target.name, target.namespace)]
            except NotFound:
                return []
        found = self._client.list(
            resource,
            target.namespace,
            label_selector=query.get("labelSelector", ""),
            field_selector=query.get("fieldSelector", ""),
        )
        return sorted(found.items, key=lambda item: (namespace_of(item), name_of(item)))


def _json(body: Object) -> Response:
    return Response(headers=[("Content-Type", "application/json")], body=orjson.dumps(body))
