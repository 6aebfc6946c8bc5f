"""A pod's claims, the volumes they are bound to, and the classes of those that are not.

The informers are asked for with the first pod that has a claim: most clusters' schedulers never need them.
"""

from __future__ import annotations

from collections.abc import Callable

from hyperkube.client.informer import Informer, InformerFactory
from hyperkube.kinds.resources import (
    CSI_DRIVERS,
    CSI_NODES,
    CSI_STORAGE_CAPACITIES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
    VOLUME_ATTACHMENTS,
)
from hyperkube.kinds.volumes import claim_names, class_name, not_made_for
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, annotations_of, namespace_of

SYNC_SECONDS = 5.0
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
CHANGES = frozenset(
    {
        "csidrivers", "csinodes", "csistoragecapacities", "persistentvolumeclaims", "persistentvolumes",
        "storageclasses", "volumeattachments",
    }
)  # fmt: skip
"""What the plugins that use this tell the scheduler of."""


def not_found(kind: str, name: str) -> str:
    """Return upstream's text for an object that a shared cache does not have; `kind` in its singular."""
    return f'{kind} "{name}" not found'


class Claims:
    """Looks claims, volumes, classes and node drivers up in shared caches."""

    def __init__(self, informers: InformerFactory, wake: Callable[[str], None] = lambda _change: None) -> None:
        self._informers = informers
        self._wake = wake
        self._known: dict[GroupVersionResource, Informer] = {}

    def claim(self, namespace: str, name: str) -> Object | None:
        """Return a claim."""
        return self._informer(PERSISTENT_VOLUME_CLAIMS).get(namespace, name)

    def unusable(self, pod: Object) -> str:
        """Return why the volumes of a pod that is to be placed cannot be counted, or the empty string.

        A claim of the pod is missing, or was made for something else.
        """
        for name, ephemeral in claim_names(pod):
            claim = self.claim(namespace_of(pod), name)
            if claim is None:
                return f"looking up PVC {namespace_of(pod)}/{name}: {not_found('persistentvolumeclaim', name)}"
            why = not_made_for(claim, pod) if ephemeral else ""
            if why:
                return why
        return ""

    def claims_of(self, pod: Object) -> list[Object]:
        """Return those of the pod's claims that exist."""
        found = (self.claim(namespace_of(pod), name) for name, _ in claim_names(pod))
        return [claim for claim in found if claim is not None]

    def volume(self, name: str) -> Object | None:
        """Return a volume."""
        return self._informer(PERSISTENT_VOLUMES).get("", name)

    def volumes(self) -> list[Object]:
        """Return all volumes."""
        return list(self._informer(PERSISTENT_VOLUMES).list())

    def bound_volumes(self, pod: Object) -> list[Object]:
        """Return the volumes that the pod's claims are bound to."""
        names = [claim["spec"].get("volumeName") for claim in self.claims_of(pod)]
        return [volume for name in names if name and (volume := self.volume(name)) is not None]

    def storage_class(self, claim: Object) -> Object | None:
        """Return the class of a claim, None if it has none or that does not exist."""
        name = class_name(claim)
        return self._informer(STORAGE_CLASSES).get("", name) if name else None

    def csi_node(self, name: str) -> Object | None:
        """Return what drivers a node has."""
        return self._informer(CSI_NODES).get("", name)

    def csi_driver(self, name: str) -> Object | None:
        """Return what a driver says about itself."""
        return self._informer(CSI_DRIVERS).get("", name)

    def attachments(self) -> list[Object]:
        """Return which volumes are attached to which nodes, or should be."""
        return list(self._informer(VOLUME_ATTACHMENTS).list())

    def capacities(self) -> list[Object]:
        """Return how much storage drivers say they can make, by class and topology."""
        return list(self._informer(CSI_STORAGE_CAPACITIES).list())

    def _informer(self, resource: GroupVersionResource) -> Informer:
        informer = self._known.get(resource)
        if informer is None:
            informer = self._known[resource] = self._informers.informer(resource)
            word = resource.resource
            informer.add_handler(
                on_add=lambda _obj: self._wake(word),
                on_update=lambda _old, _new: self._wake(word),
                on_delete=lambda _obj: self._wake(word),
            )
            informer.wait_synced(SYNC_SECONDS)
        return informer


def is_bound(claim: Object) -> bool:
    """Tell whether a claim is fully bound: it names its volume and the binder has said so."""
    return bool(claim["spec"].get("volumeName")) and BIND_COMPLETED in annotations_of(claim)
