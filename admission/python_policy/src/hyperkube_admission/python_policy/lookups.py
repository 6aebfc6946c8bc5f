"""Answers what policies look up: from informers, which begin with the first question about a kind.

Until an informer has its first list, and for an object that it does not know, the server itself is asked.
"""

from __future__ import annotations

import threading
from typing import Any

from hyperkube.client.client import Client
from hyperkube.client.discovery import ApiResource, discover
from hyperkube.client.informer import InformerFactory
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError, NotFound
from hyperkube.machinery.labels import parse_selector
from hyperkube.machinery.objects import Object, labels_of

_AGAIN_SECONDS = 5.0
"""A kind that is unknown is not looked for more often than this."""


class Lookups:
    """The other side of `hyperkube_admission.python_policy.cluster.ConnectedCluster`; safe to use from many threads."""

    def __init__(self, client: Client, informers: InformerFactory, clock: Clock) -> None:
        self._client = client
        self._informers = informers
        self._clock = clock
        self._lock = threading.Lock()
        self._resources: dict[str, ApiResource] = {}
        self._discovered_at: float | None = None

    def answer(self, question: list[str]) -> Object:
        """Answer one question: ``get``, kind, namespace and name; or ``list``, kind, namespace and labels."""
        try:
            verb, kind, namespace, rest = question
            resource = self._resource(kind)
            if resource is None:
                return {"error": f"the server has no kind {kind!r}"}
            where = namespace if resource.namespaced else ""
            found: Any = self._get(resource, where, rest) if verb == "get" else self._list(resource, where, rest)
        except ValueError as error:  # no question, or a selector that cannot be read
            return {"error": str(error)}
        except (ApiError, OSError) as error:
            return {"error": f"{kind}: {error}"}
        return {"found": found}

    def learn(self) -> bool:
        """Read which kinds there are, so that the first policy need not wait for it; tell whether they are known."""
        with self._lock:
            try:
                if self._discovered_at is None:
                    self._discover()
            except (ApiError, OSError):
                return False
        return True

    def _get(self, resource: ApiResource, namespace: str, name: str) -> Object | None:
        informer = self._informers.informer(resource.gvr)
        found = informer.get(namespace, name)
        if found is not None and informer.has_synced():
            return found
        try:
            return self._client.get(resource.gvr, name, namespace)
        except NotFound:
            return None

    def _list(self, resource: ApiResource, namespace: str, labels: str) -> list[Object]:
        selector = parse_selector(labels)
        informer = self._informers.informer(resource.gvr)
        if not informer.has_synced():
            return [*self._client.list(resource.gvr, namespace, label_selector=labels).items]
        return [obj for obj in informer.list(namespace) if not labels or selector.matches(labels_of(obj))]

    def _resource(self, kind: str) -> ApiResource | None:
        found = self._resources.get(kind)
        if found is not None:
            return found
        with self._lock:
            now = self._clock.monotonic()
            if self._discovered_at is None or now - self._discovered_at >= _AGAIN_SECONDS:
                self._discover()
        return self._resources.get(kind)

    def _discover(self) -> None:
        known: dict[str, ApiResource] = {}
        for row in discover(self._client).resources:
            if "list" not in row.verbs:
                continue
            for word in (row.kind, str(row.group_kind), row.gvr.resource, str(row.gvr.group_resource)):
                known.setdefault(word, row)
        self._resources = known
        self._discovered_at = self._clock.monotonic()
