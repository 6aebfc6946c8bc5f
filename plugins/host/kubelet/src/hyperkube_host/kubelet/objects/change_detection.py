"""How the kubelet learns that a Secret or a ConfigMap of its pods has changed: by a watch, after a while, or each time.

``configMapAndSecretChangeDetectionStrategy`` names one of the three. An object is followed from when the first pod that
names it comes until the last one goes. Sources: kubernetes ``pkg/kubelet/util/manager/watch_based_manager.go``,
``cache_based_manager.go``, ``pkg/kubelet/kubelet.go`` (NewMainKubelet), ``pkg/kubelet/util/manager/manager.go``.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Protocol

from hyperkube.client.client import Client
from hyperkube.client.reflector import Informer
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import NotFound, Timeout, UsageError
from hyperkube.machinery.field import quote
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, metadata

WATCH, CACHE, GET = "Watch", "Cache", "Get"
STRATEGIES = (WATCH, CACHE, GET)
DEFAULT_TTL_SECONDS = 60.0
TTL_ANNOTATION = "node.alpha.kubernetes.io/ttl"
"""The seconds for which the controller ``ttl`` lets a node keep objects: more in larger clusters."""
MOST_WATCHES = 200
"""Watches of a resource over a network, where each is a connection and a thread: about 90 KiB."""
SYNC_SECONDS = 1.0
"""How long a reader waits for the first answer of a watch."""


class ObjectStore(Protocol):
    """The objects of one resource that pods of this node refer to; thread-safe."""

    def get(self, namespace: str, name: str) -> Object:
        """Return an object; it is shared, never change it.

        Raises:
            NotFound: there is none.
        """

    def follow(self, namespace: str, name: str) -> None:
        """A pod refers to an object, now or again."""

    def forget(self, namespace: str, name: str) -> None:
        """The last pod that referred to an object is gone."""

    def close(self) -> None:
        """Follow nothing any more."""


def check_strategy(strategy: str) -> str:
    """Return a strategy.

    Raises:
        UsageError: there is none of this name.
    """
    if strategy not in STRATEGIES:
        known = ", ".join(STRATEGIES)
        raise UsageError(f"unknown configmap and secret manager mode: {quote(strategy)} (one of {known})")
    return strategy


def object_store(
    strategy: str, client: Client, clock: Clock, resource: GroupVersionResource, node: Callable[[], Object]
) -> ObjectStore:
    """Return the store of a resource; `node` returns the Node object, whose annotation tells how long to keep."""
    if strategy == GET:
        return SimpleStore(client, resource)
    if strategy == CACHE:
        return CachedStore(client, clock, resource, lambda: ttl_of(node()))
    beyond = CachedStore(client, clock, resource, lambda: ttl_of(node()))
    is_remote = getattr(client, "is_remote", True)
    return WatchedStore(client, clock, resource, beyond, MOST_WATCHES if is_remote else sys.maxsize)


def ttl_of(node: Object) -> float:
    """Return for how many seconds the node may keep objects."""
    found = str((metadata(node).get("annotations") or {}).get(TTL_ANNOTATION, "")) if node else ""
    return float(found) if found.isdecimal() else DEFAULT_TTL_SECONDS


class SimpleStore:
    """Asks the API server each time."""

    def __init__(self, client: Client, resource: GroupVersionResource) -> None:
        self._client = client
        self._resource = resource

    def get(self, namespace: str, name: str) -> Object:
        """Return an object as it is now."""
        return self._client.get(self._resource, name, namespace)

    def follow(self, namespace: str, name: str) -> None:
        """Nothing is kept."""

    def forget(self, namespace: str, name: str) -> None:
        """Nothing is kept."""

    def close(self) -> None:
        """Nothing is kept."""


class CachedStore:
    """Asks the API server again when what it has is too old, or when a pod comes that may know of something newer."""

    def __init__(self, client: Client, clock: Clock, resource: GroupVersionResource, ttl: Callable[[], float]) -> None:
        self._client = client
        self._clock = clock
        self._resource = resource
        self._ttl = ttl
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, str], tuple[float, Object]] = {}

    def get(self, namespace: str, name: str) -> Object:
        """Return an object that is not older than the node's time to live."""
        key, now = (namespace, name), self._clock.monotonic()
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None and now - kept[0] < self._ttl():
            return kept[1]
        # Without the lock: no reader waits for another one's answer.
        found = self._client.get(self._resource, name, namespace)
        with self._lock:
            self._kept[key] = (now, found)
        return found

    def follow(self, namespace: str, name: str) -> None:
        """Read it again for the pod that came: its author may have changed the object just before."""
        self.forget(namespace, name)

    def forget(self, namespace: str, name: str) -> None:
        """Drop it."""
        with self._lock:
            self._kept.pop((namespace, name), None)

    def close(self) -> None:
        """Drop everything."""
        with self._lock:
            self._kept.clear()


class WatchedStore:
    """Watches each object by itself: a node may not list those that its pods do not name.

    A node with thousands of them would pay hundreds of megabytes: what comes beyond `most` is read again after a while
    instead, as all are by the strategy Cache. What never changes (`immutable`) is not watched.
    """

    def __init__(
        self, client: Client, clock: Clock, resource: GroupVersionResource, beyond: CachedStore, most: int
    ) -> None:
        self._client = client
        self._clock = clock
        self._resource = resource
        self._lock = threading.Lock()
        self._watched: dict[tuple[str, str], Informer] = {}
        self._immutable: dict[tuple[str, str], Object] = {}
        self._beyond = beyond
        self._most = most
        self._unwatched: set[tuple[str, str]] = set()
        self._closed = False

    def get(self, namespace: str, name: str) -> Object:
        """Return an object as the watch last told; one that no pod is known to refer to is read.

        Raises:
            Timeout: the watch has not begun in time.
        """
        key = (namespace, name)
        with self._lock:
            watched, settled = self._watched.get(key), self._immutable.get(key)
            is_unwatched = key in self._unwatched
        if settled is not None:
            return settled
        if is_unwatched:
            read = self._beyond.get(namespace, name)
            return self._settle(key, read) if read.get("immutable") else read
        if watched is None:
            return self._client.get(self._resource, name, namespace)
        if not watched.wait_synced(SYNC_SECONDS):
            kind = self._resource.resource.removesuffix("s")
            raise Timeout(f"failed to sync {kind} cache: timed out waiting for the condition")
        found = watched.get(namespace, name)
        if found is None:
            raise NotFound.about(self._resource.group_resource, name)
        return self._settle(key, found) if found.get("immutable") else found

    def _settle(self, key: tuple[str, str], found: Object) -> Object:
        """Watch no more what never changes; if it is deleted and made anew, the next pod that comes begins again."""
        with self._lock:
            watched = self._watched.pop(key, None)
            if watched is not None or key in self._unwatched:
                self._unwatched.discard(key)
                self._immutable[key] = found
        if watched is not None:
            watched.stop()
        return found

    def follow(self, namespace: str, name: str) -> None:
        """Begin to watch an object."""
        key = (namespace, name)
        with self._lock:
            self._immutable.pop(key, None)
            if key in self._watched or self._closed:
                return
            watched = self._watch(key) if len(self._watched) < self._most else None
            if watched is None:
                self._unwatched.add(key)
        if watched is not None:
            watched.start()
        else:
            self._beyond.follow(namespace, name)

    def _watch(self, key: tuple[str, str]) -> Informer:
        namespace, name = key
        self._unwatched.discard(key)
        self._watched[key] = watched = Informer(
            self._client, self._clock, self._resource, namespace=namespace, field_selector=f"metadata.name={name}"
        )
        return watched

    def forget(self, namespace: str, name: str) -> None:
        """End its watch."""
        with self._lock:
            self._immutable.pop((namespace, name), None)
            watched = self._watched.pop((namespace, name), None)
            self._unwatched.discard((namespace, name))
        self._beyond.forget(namespace, name)
        if watched is not None:
            watched.stop()

    def close(self) -> None:
        """End all watches."""
        with self._lock:
            self._closed = True
            watched = list(self._watched.values())
            self._watched.clear()
            self._unwatched.clear()
        self._beyond.close()
        for one in watched:
            one.stop()
