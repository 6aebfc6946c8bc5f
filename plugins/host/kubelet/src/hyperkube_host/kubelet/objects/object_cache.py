"""ConfigMaps, Secrets and other objects that pods refer to, read when needed and kept for a moment.

A pod's many references to one object cost one read.
Source: kubernetes ``pkg/kubelet/util/manager/cache_based_manager.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from hyperkube.client.client import Client
from hyperkube.client.informer import Informer
from hyperkube.kinds.resources import CONFIG_MAPS, SECRETS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.groups import GroupResource, GroupVersionResource
from hyperkube.machinery.objects import Object

TTL_SECONDS = 1.0


class ObjectCache:
    """Reads objects for pods; without an API server every object is not found."""

    def __init__(self, client: Client | None, clock: Clock, services: Informer | None) -> None:
        self._client = client
        self._clock = clock
        self._services = services
        self._lock = threading.Lock()
        self._cached: dict[tuple[str, str, str], tuple[float, Object]] = {}

    def get(self, resource: GroupVersionResource, namespace: str, name: str) -> Object:
        """Return an object; at most a second old.

        Raises:
            NotFound: there is none.
        """
        key = (resource.resource, namespace, name)
        now = self._clock.monotonic()
        with self._lock:
            cached = self._cached.get(key)
            if cached is not None and now - cached[0] < TTL_SECONDS:
                return cached[1]
            self._cached = {k: entry for k, entry in self._cached.items() if now - entry[0] < TTL_SECONDS}
        if self._client is None:
            raise NotFound.about(resource.group_resource, name)
        # The read is made without the lock: two threads may both read an object, but none waits for another's.
        found = self._client.get(resource, name, namespace)
        with self._lock:
            self._cached[key] = (now, found)
        return found

    def config_map(self, namespace: str, name: str) -> Object:
        """Return a ConfigMap, or raise NotFound."""
        return self._named_as_kind(CONFIG_MAPS, "configmap", namespace, name)

    def secret(self, namespace: str, name: str) -> Object:
        """Return a Secret, or raise NotFound."""
        return self._named_as_kind(SECRETS, "secret", namespace, name)

    def _named_as_kind(self, resource: GroupVersionResource, kind: str, namespace: str, name: str) -> Object:
        """Return an object; where there is none, the kubelet's own texts name it by its kind."""
        try:
            return self.get(resource, namespace, name)
        except NotFound as error:
            raise NotFound.about(GroupResource("", kind), name) from error

    def on_services(self, changed: Callable[[], None]) -> None:
        """Call after each change of any service."""
        if self._services is not None:
            self._services.add_handler(
                lambda _service: changed(), lambda _old, _new: changed(), lambda _service: changed()
            )

    def services(self) -> list[Object]:
        """Return all services; treat them as shared."""
        return self._services.list() if self._services is not None else []
