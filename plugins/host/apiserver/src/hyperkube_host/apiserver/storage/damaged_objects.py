"""Tells of objects that the store has lost: in the log, by an Event about each, and by a metric.

Such an object costs itself alone: others are served, lists go on without it. It can be deleted with
``ignoreStoreReadErrorWithClusterBreakingPotential``, and made again.
Source of the metric: kubernetes apiserver ``pkg/storage/etcd3/metrics`` (decode_error_total).
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hyperkube_host.apiserver.resources.registry import Registry
from hyperkube_host.apiserver.resources.served import ServedResource

from hyperkube.client.client import Client
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import StorageReadError
from hyperkube.machinery.groups import GroupResource
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube.client.events import EventRecorder

REASON = "StorageReadError"
_HELP = "delete it with the option ignoreStoreReadErrorWithClusterBreakingPotential and make it again"

logger = logging.getLogger("hyperkube.storage")


class DamagedObjects:
    """Keeps account of what the store has lost.

    Args:
        registry: returns the served resources; called with the first damaged object.
        client: the server's own, for Events.
        clock: for their times.
    """

    def __init__(self, registry: Callable[[], Registry], client: Client, clock: Clock) -> None:
        self._registry = registry
        self._client = client
        self._clock = clock
        self._events: EventRecorder | None = None
        self._lock = threading.Lock()
        self._known: set[tuple[str, str]] = set()
        self._errors: Counter[GroupResource] = Counter()

    def report(self, key: str, error: StorageReadError) -> None:
        """Tell of a damaged object, once until it is damaged otherwise; never blocks."""
        with self._lock:
            if (key, error.message) in self._known:
                return
            self._known.add((key, error.message))
        logger.error("%s; %s", error.message, _HELP)
        served = self._served(key)
        if served is None:
            return
        with self._lock:
            self._errors[served.group_resource] += 1
            events = self._events = self._events or self._recorder()
        events.event(_reference(served, key), "Warning", REASON, f"{error.message}; {_HELP}")

    def metrics(self) -> Sequence[str]:
        """Return how many have been met, in Prometheus' text format; nothing while there are none."""
        with self._lock:
            errors = sorted(self._errors.items(), key=str)
        name = "apiserver_storage_decode_error_total"
        head = [f"# HELP {name} Stored objects that could not be read, by resource.", f"# TYPE {name} counter"]
        rows = [f'{name}{{group="{of.group}",resource="{of.resource}"}} {count}' for of, count in errors]
        return [*head, *rows] if rows else []

    def _recorder(self) -> EventRecorder:
        from hyperkube.client.events import EventRecorder  # a start without damage does without

        return EventRecorder(self._client, self._clock, "kube-apiserver")

    def _served(self, key: str) -> ServedResource | None:
        """Return the resource that a key belongs to, in its storage version where that is served."""
        registry = self._registry()
        resource = registry.stored_at(key)
        found = [served for served in registry.resources() if served.group_resource == resource and served.storage]
        return next((served for served in found if served.is_stored), found[0] if found else None)


def _reference(served: ServedResource, key: str) -> Object:
    """Return a reference to the object under a key."""
    namespace, _, name = key.removeprefix(served.stored().prefix).rpartition("/")
    about = {"kind": served.kind.kind, "apiVersion": served.kind.api_version, "name": name}
    return {**about, "namespace": namespace} if namespace else about
