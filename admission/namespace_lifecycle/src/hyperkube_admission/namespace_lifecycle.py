"""NamespaceLifecycle: nothing is created where nothing can live.

A namespace that does not exist, or is being emptied, takes no new objects: otherwise its end would never come. The
namespaces that the cluster itself needs cannot be deleted.
Source: kubernetes apiserver ``pkg/admission/plugin/namespace/lifecycle``.
"""

from __future__ import annotations

import threading

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.kinds.resources import NAMESPACES
from hyperkube.machinery.errors import Forbidden
from hyperkube.machinery.groups import GroupResource
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin, PluginContext

IMMORTAL = frozenset({"default", "kube-system", "kube-public"})
_NAMESPACE = GroupResource("", "namespaces")
_REVIEWS = frozenset({GroupResource("authorization.k8s.io", "localsubjectaccessreviews")})
_DISTRUST_SECONDS = 30.0
"""For so long after a deletion the cache is not believed when it says that the namespace is active."""
_DISTRUST_MANY = 100


def _is_terminating(namespace: Object) -> bool:
    return (namespace.get("status") or {}).get("phase") == "Terminating"


class NamespaceLifecycle(Plugin):
    """Refuses writes into namespaces that are missing, creates in those that end, and the end of some."""

    may_block = False

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._namespaces = self.informers.informer(NAMESPACES)
        self._lock = threading.Lock()
        self._deleted: dict[str, float] = {}

    def is_idle(self, request: AdmissionRequest) -> bool:
        """Tell whether the namespace of a write is there, and neither ends nor did so a moment ago."""
        if request.operation not in {"CREATE", "UPDATE"} or not request.namespace:
            return False
        if request.namespace in self._deleted:
            return False
        namespace = self._namespaces.get("", request.namespace)
        return namespace is not None and not _is_terminating(namespace)

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Look at the namespace before anything else is done with the object."""
        resource = request.resource.group_resource
        if resource == _NAMESPACE:
            if request.operation == "DELETE":
                self._deleting(request.name)
            return
        if not request.namespace or request.operation in {"DELETE", "CONNECT"} or resource in _REVIEWS:
            return
        namespace = self._find(request.namespace)
        if request.operation == "CREATE" and _is_terminating(namespace):
            raise _terminating(request.namespace)

    def _deleting(self, name: str) -> None:
        if name in IMMORTAL:
            raise Forbidden("this namespace may not be deleted")
        now = self.context.clock.monotonic()
        with self._lock:
            if len(self._deleted) >= _DISTRUST_MANY:
                self._deleted = {known: since for known, since in self._deleted.items() if self._counts(since, now)}
            self._deleted[name] = now

    def _counts(self, since: float, now: float) -> bool:
        return now - since < _DISTRUST_SECONDS

    def _find(self, name: str) -> Object:
        """Return the namespace, from the server when the cache does not have it or may be behind.

        Raises:
            NotFound: there is none.
        """
        namespace = self._namespaces.get("", name)
        since = self._deleted.get(name)
        doubtful = since is not None and self._counts(since, self.context.clock.monotonic())
        if namespace is None or (doubtful and not _is_terminating(namespace)):
            return self.client.get(NAMESPACES, name)
        return namespace


def _terminating(name: str) -> Forbidden:
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {name} is being terminated",
        "field": "metadata.namespace",
    }
    text = f"unable to create new content in namespace {name} because it is being terminated"
    return Forbidden(text, details={"causes": [cause]})
