"""ConfigMaps, Secrets and other objects that pods refer to.

Secrets and ConfigMaps are followed as `change_detection` says, from when a pod that names them comes until the last one
goes. Everything else is read when needed and kept for a moment: a pod's many references to one object cost one read.
Source: kubernetes ``pkg/kubelet/util/manager/cache_based_manager.go`` (RegisterPod, UnregisterPod).
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping

from hyperkube_host.kubelet.objects.change_detection import GET, ObjectStore, object_store
from hyperkube_lib.pod_references import pod_references

from hyperkube.client.client import Client
from hyperkube.client.informer import Informer
from hyperkube.kinds.resources import CONFIG_MAPS, SECRETS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.groups import GroupResource, GroupVersionResource
from hyperkube.machinery.objects import Object, namespace_of, uid_of

TTL_SECONDS = 1.0
_Key = tuple[str, str, str]
"""Resource, namespace and name."""
_FOLLOWED = (CONFIG_MAPS, SECRETS)


class ObjectCache:
    """Reads objects for pods; without an API server every object is not found."""

    def __init__(
        self,
        client: Client | None,
        clock: Clock,
        services: Informer | None,
        strategy: str = GET,
        node: Callable[[], Object] = dict,
    ) -> None:
        """Follow Secrets and ConfigMaps by `strategy`; `node` returns the Node object."""
        self._client = client
        self._clock = clock
        self._services = services
        self._lock = threading.Lock()
        self._cached: dict[_Key, tuple[float, Object]] = {}
        self._stores: Mapping[str, ObjectStore] = (
            {one.resource: object_store(strategy, client, clock, one, node) for one in _FOLLOWED} if client else {}
        )
        self._pods: dict[str, tuple[Object, frozenset[_Key]]] = {}
        self._users: Counter[_Key] = Counter()

    def register(self, pod: Object) -> None:
        """Follow what a pod refers to; again for each version of the pod, as often as one likes."""
        if not self._stores:
            return
        uid = str(uid_of(pod))
        with self._lock:
            known = self._pods.get(uid)
            if known is not None and known[0] is pod:
                return
            before = known[1] if known is not None else frozenset()
            wanted = self._references(pod)
            self._pods[uid] = (pod, wanted)
            self._users.update(wanted - before)
            gone = self._let_go(before - wanted)
        self._tell(wanted - before, gone)

    def unregister(self, uid: str) -> None:
        """Forget what only a pod that is gone referred to."""
        with self._lock:
            _, before = self._pods.pop(uid, (None, frozenset()))
            gone = self._let_go(before)
        self._tell((), gone)

    def close(self) -> None:
        """Follow nothing any more."""
        for store in self._stores.values():
            store.close()

    def _references(self, pod: Object) -> frozenset[_Key]:
        namespace = namespace_of(pod)
        return frozenset(
            (found.kind, namespace, found.name)
            for found in pod_references(pod)
            if found.kind in self._stores and found.name
        )

    def _let_go(self, keys: frozenset[_Key]) -> list[_Key]:
        """Count the users of objects down; return the objects that have none any more."""
        self._users.subtract(keys)
        gone = [key for key in keys if self._users[key] <= 0]
        for key in gone:
            del self._users[key]
        return gone

    def _tell(self, come: frozenset[_Key] | tuple[()], gone: list[_Key]) -> None:
        for resource, namespace, name in come:
            self._stores[resource].follow(namespace, name)
        for key in gone:
            resource, namespace, name = key
            self._stores[resource].forget(namespace, name)
            with self._lock:
                is_used_again = key in self._users
            if is_used_again:  # a pod came between the count and the call: its `follow` may have been undone just now
                self._stores[resource].follow(namespace, name)

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
        store = self._stores.get(resource.resource)
        try:
            if store is None:
                raise NotFound.about(resource.group_resource, name)
            return store.get(namespace, name)
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
