"""Informers: one list and one watch per resource and process, kept as a cache that many readers share.

What a cache holds is read-only: copy an object with `copy_object` before changing it. An `InformerFactory` hands the
same informer to all who ask for the same view. With `detect_mutations` every object's digest is kept, and
`InformerFactory.check_mutations` tells which one was changed.

The informer itself is in `hyperkube.client.reflector`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from copy import copy
from random import Random

from hyperkube.client.client import Client
from hyperkube.client.interning import Interner
from hyperkube.client.object_cache import CacheMutated, ObjectCache
from hyperkube.client.reflector import Informer, Projection, without_managed_fields
from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.field import quote
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.names import path_segment_name
from hyperkube.machinery.objects import Object

__all__ = [
    "CacheMaker",
    "CacheMutated",
    "Informer",
    "InformerFactory",
    "Projection",
    "cached_or_live",
    "without_managed_fields",
]

CacheMaker = Callable[..., ObjectCache]
"""Makes the cache of an informer, with the arguments of `ObjectCache`."""
_Key = tuple[GroupVersionResource, str, str, str, Projection]


def cached_or_live(informer: Informer, client: Client, name: str, namespace: str = "") -> Object:
    """Return an object from the shared cache, or from the server when the cache does not have it (yet); read-only.

    Raises:
        NotFound: the server does not have it either.
        ApiError: no object can have such a name; the text is that of client-go's ``Request.Name``.
    """
    found = informer.get(namespace, name)
    if found is not None:
        return found
    if not name:
        raise ApiError("resource name may not be empty")
    if faults := path_segment_name(name):
        raise ApiError(f"invalid resource name {quote(name)}: [{' '.join(faults)}]")
    return client.get(informer.resource, name, namespace)


class _Shared:
    """What a factory and its scopes have in common."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.informers: dict[_Key, Informer] = {}
        self.interner = Interner()
        self.started = False


class InformerFactory:
    """Makes each informer once; `start` starts all of them, also those that are asked for later."""

    def __init__(
        self,
        client: Client,
        clock: Clock | None = None,
        *,
        random: Random | None = None,
        detect_mutations: bool = False,
        projections: Mapping[GroupVersionResource, Projection] | None = None,
        cache_of: Callable[[GroupVersionResource], CacheMaker] = lambda _: ObjectCache,
        pause_of: Callable[[GroupVersionResource], float] = lambda _: 0.0,
    ) -> None:
        """Make no informer yet; `projections` are used for informers that are asked for without one.

        What `cache_of` returns for a resource makes its cache, unless mutations are to be detected. For `pause_of`
        seconds after events came, an informer on shared threads leaves its watch alone, so that others gather there.
        """
        self._client = client
        self._clock = clock or SystemClock()
        self._random = random or Random()  # noqa: S311  spreads load, guards nothing; two kilobytes, so one for all
        self._detect_mutations = detect_mutations
        self._projections = projections or {}
        self._cache_of, self._pause_of = cache_of, pause_of
        self._shared = _Shared()
        self._asked: list[Informer] = []
        self._asked_lists: tuple[list[Informer], ...] = (self._asked,)

    def scoped(self) -> InformerFactory:
        """Return a factory with the same informers that knows by itself which ones were asked for through it.

        What is asked for through a scope counts as asked for through the factory that made the scope, too.
        """
        scope: InformerFactory = copy(self)
        scope._asked = []
        scope._asked_lists = (scope._asked, *self._asked_lists)
        return scope

    def informer(
        self,
        resource: GroupVersionResource,
        namespace: str = "",
        field_selector: str = "",
        label_selector: str = "",
        project: Projection | None = None,
    ) -> Informer:
        """Return the shared informer of a view; `project` may shrink each object before it is kept.

        The same function object must be given for the same projection; without one, only managed fields go, or what
        the factory was told.
        """
        projection = project or self._projections.get(resource, without_managed_fields)
        key = (resource, namespace, field_selector, label_selector, projection)
        with self._shared.lock:
            informer = self._shared.informers.get(key)
            if informer is None:
                make = ObjectCache if self._detect_mutations else self._cache_of(resource)
                informer = self._shared.informers[key] = Informer(
                    self._client,
                    self._clock,
                    resource,
                    namespace=namespace,
                    field_selector=field_selector,
                    label_selector=label_selector,
                    project=projection,
                    random=self._random,
                    cache=make(self._shared.interner, detect_mutations=self._detect_mutations),
                    pause=self._pause_of(resource),
                )
            for asked in self._asked_lists:
                if informer not in asked:
                    asked.append(informer)
            started = self._shared.started
        if started:
            informer.start()
        return informer

    def find(self, resource: GroupVersionResource) -> Informer | None:
        """Return an informer that already watches every object of the resource, whatever its projection."""
        with self._shared.lock:
            for (known, namespace, fields, labels, _), informer in self._shared.informers.items():
                if known == resource and not (namespace or fields or labels):
                    return informer
        return None

    def discard(self, informer: Informer) -> None:
        """Stop an informer that is not needed any more, and forget it."""
        with self._shared.lock:
            self._shared.informers = {key: one for key, one in self._shared.informers.items() if one is not informer}
            for asked in self._asked_lists:
                if informer in asked:
                    asked.remove(informer)
        informer.stop()

    @property
    def asked(self) -> tuple[Informer, ...]:
        """The informers that were asked for through this factory so far."""
        return tuple(self._asked)

    def all(self) -> list[Informer]:
        """Return every informer of the factory, of all scopes."""
        with self._shared.lock:
            return [*self._shared.informers.values()]

    def start(self) -> None:
        """Start all informers; those asked for later start at once."""
        with self._shared.lock:
            self._shared.started = True
        for informer in self.all():
            informer.start()

    def has_synced(self) -> bool:
        """Tell whether all informers that were asked for through this factory have their first list."""
        return all(informer.has_synced() for informer in self.asked)

    def wait_synced(self, timeout: float | None = None) -> bool:
        """Wait until `has_synced`, at most `timeout` seconds; tell whether it holds."""
        deadline = None if timeout is None else self._clock.monotonic() + timeout
        for informer in self.asked:
            left = None if deadline is None else max(0.0, deadline - self._clock.monotonic())
            if not informer.wait_synced(left):
                return False
        return True

    def refresh(self) -> None:
        """List every informer now on this thread: tests use it in place of `start`, without any thread."""
        for informer in self.all():
            informer.refresh()

    def check_mutations(self) -> None:
        """Raise `CacheMutated` when a cached object was changed and the detector is on."""
        for informer in self.all():
            informer.check_mutations()

    def stop(self) -> None:
        """Stop all informers; call it on the factory that made them, once, at the end."""
        for informer in self.all():
            informer.stop()
