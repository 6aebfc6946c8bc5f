"""Device classes by name, and by the extended resource that they stand for.

A class may name an extended resource (``spec.extendedResourceName``), and every class has one by its own name; a pod
that requests it gets devices of the class. Source: kubernetes dynamic-resource-allocation
``deviceclass/extendedresourcecache``, ``pkg/scheduler/util/utils.go`` (IsDRAExtendedResourceName).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from hyperkube.client.informer import Informer, InformerFactory
from hyperkube.kinds.resource_lists import is_extended
from hyperkube.kinds.resources import DEVICE_CLASSES
from hyperkube.machinery.objects import Object, name_of

IMPLICIT_PREFIX = "deviceclass.resource.kubernetes.io/"
"""Before a class's name: the extended resource that every class stands for."""
SYNC_SECONDS = 5.0
_INDEX = "extended resource"


def may_stand_for_class(resource: str) -> bool:
    """Tell whether a device class may back a resource of that name."""
    return resource.startswith(IMPLICIT_PREFIX) or is_extended(resource)


class DeviceClasses:
    """The cluster's device classes, listed with the first question.

    Attributes:
        version: grows with every change.
    """

    def __init__(self, informers: InformerFactory, changed: Callable[[], None]) -> None:
        """Take what to call after a change."""
        self.version = 0
        self._informers = informers
        self._changed = changed
        self._lock = threading.Lock()
        self._known: Informer | None = None

    def get(self, name: str) -> Object | None:
        """Return a class by its name."""
        return self._informer().get("", name)

    def standing_for(self, resource: str) -> Object | None:
        """Return the class that backs an extended resource; of several the newest, then the first by name."""
        found = self._informer().by_index(_INDEX, resource)
        if len(found) > 1:
            found.sort(key=name_of)
            found.sort(key=lambda each: str(each["metadata"].get("creationTimestamp") or ""), reverse=True)
        return found[0] if found else None

    def _informer(self) -> Informer:
        with self._lock:
            informer = self._known
            if informer is None:
                informer = self._informers.informer(DEVICE_CLASSES)
                informer.add_index(_INDEX, _resources)
                informer.add_handler(self._news, lambda _old, new: self._news(new), self._news)
                informer.wait_synced(SYNC_SECONDS)
                self._known = informer
            return informer

    def _news(self, _obj: Object) -> None:
        self.version += 1
        self._changed()


def _resources(device_class: Object) -> Iterator[str]:
    yield IMPLICIT_PREFIX + name_of(device_class)
    explicit = (device_class.get("spec") or {}).get("extendedResourceName")
    if explicit:
        yield str(explicit)
