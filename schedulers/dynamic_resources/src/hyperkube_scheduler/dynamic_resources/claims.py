"""A pod's claims, and which devices are taken: by what the API says, and by allocations that are on their way there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from hyperkube_scheduler.dynamic_resources.pools import DeviceId

from hyperkube.client.informer import Informer, InformerFactory
from hyperkube.kinds.resources import DEVICE_CLASSES, RESOURCE_CLAIMS, RESOURCE_SLICES
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import Object, is_being_deleted, name_of, namespace_of, uid_of

SYNC_SECONDS = 5.0
CHANGES = frozenset({"resourceclaims", "resourceslices", "deviceclasses"})
MOST_USERS = 256
"""Pods that may share one claim."""


class NoClaim(HyperkubeError):
    """A claim is not there, or not the pod's: the pod waits."""


class CannotAllocate(HyperkubeError):
    """A claim, class or pool is wrong, so that nothing can be allocated anywhere until somebody repairs it."""


class DeviceClaims:
    """Claims, classes and slices from shared caches, asked for with the first pod that has a claim."""

    def __init__(self, informers: InformerFactory, wake: Callable[[str], None]) -> None:
        self._informers = informers
        self._wake = wake
        self._known: dict[str, Informer] = {}
        self._lock = threading.Lock()
        self._assumed: dict[str, Object] = {}

    def of(self, pod: Object) -> list[Object]:
        """Return the pod's claims.

        Raises:
            NoClaim: one does not exist (yet), is being deleted, or was made for another pod.
        """
        found = []
        for name, generated in claim_names(pod):
            claim = self.claim(namespace_of(pod), name)
            if claim is None:
                raise NoClaim(f'resourceclaim.resource.k8s.io "{name}" not found')
            if is_being_deleted(claim):
                raise NoClaim(f'resourceclaim "{name}" is being deleted')
            if generated and not _owned(claim, pod):
                what = f"ResourceClaim {namespace_of(claim)}/{name} was not created for pod"
                raise NoClaim(f"{what} {namespace_of(pod)}/{name_of(pod)} (pod is not owner)")
            found.append(claim)
        return found

    def claim(self, namespace: str, name: str) -> Object | None:
        """Return a claim as the API has it."""
        return self._informer(RESOURCE_CLAIMS.resource).get(namespace, name)

    def device_class(self, name: str) -> Object | None:
        """Return a device class."""
        return self._informer(DEVICE_CLASSES.resource).get("", name)

    def slices(self) -> list[Object]:
        """Return all slices."""
        return list(self._informer(RESOURCE_SLICES.resource).list())

    def taken(self) -> set[DeviceId]:
        """Return the devices that claims have; what administrators only look at is not taken."""
        with self._lock:
            allocations = list(self._assumed.values())
        for claim in self._informer(RESOURCE_CLAIMS.resource).list():
            allocation = (claim.get("status") or {}).get("allocation")
            if allocation:
                allocations.append(allocation)
        return {device for allocation in allocations for device in devices_of(allocation)}

    def assumes(self, claim: Object) -> bool:
        """Tell whether an allocation of the claim is under way."""
        with self._lock:
            return uid_of(claim) in self._assumed

    def assume(self, claim: Object, allocation: Object) -> None:
        """Count an allocation that will be written."""
        with self._lock:
            self._assumed[uid_of(claim)] = allocation

    def forget(self, claim: Object) -> None:
        """Count it no longer: it was not written."""
        with self._lock:
            self._assumed.pop(uid_of(claim), None)
        self._wake("resourceclaims")

    def _informer(self, word: str) -> Informer:
        informer = self._known.get(word)
        if informer is None:
            resource = {each.resource: each for each in (RESOURCE_CLAIMS, DEVICE_CLASSES, RESOURCE_SLICES)}[word]
            informer = self._known[word] = self._informers.informer(resource)
            informer.add_handler(
                on_add=lambda obj: self._news(word, obj),
                on_update=lambda _old, obj: self._news(word, obj),
                on_delete=lambda obj: self._news(word, obj),
            )
            informer.wait_synced(SYNC_SECONDS)
        return informer

    def _news(self, word: str, obj: Object) -> None:
        if word == RESOURCE_CLAIMS.resource and ((obj.get("status") or {}).get("allocation") or is_being_deleted(obj)):
            with self._lock:
                self._assumed.pop(uid_of(obj), None)
        self._wake(word)


def claim_names(pod: Object) -> list[tuple[str, bool]]:
    """Return the names of the pod's claims, and which were generated from a template.

    Raises:
        NoClaim: one was not generated yet.
    """
    made = {
        row["name"]: row.get("resourceClaimName")
        for row in (pod.get("status") or {}).get("resourceClaimStatuses") or ()
    }
    names: list[tuple[str, bool]] = []
    for row in pod.get("spec", {}).get("resourceClaims") or ():
        if row.get("resourceClaimName"):
            names.append((row["resourceClaimName"], False))
        elif row["name"] not in made:
            raise NoClaim(f'pod "{namespace_of(pod)}/{name_of(pod)}": ResourceClaim not created yet')
        elif made[row["name"]]:
            names.append((made[row["name"]], True))
    return names


def devices_of(allocation: Object) -> list[DeviceId]:
    """Return the devices that an allocation takes from others."""
    rows: Sequence[Mapping[str, str]] = (allocation.get("devices") or {}).get("results") or ()
    return [DeviceId(row["driver"], row["pool"], row["device"]) for row in rows if not row.get("adminAccess")]


def reserved_for(claim: Object, pod: Object) -> bool:
    """Tell whether the claim names the pod as a user."""
    users = (claim.get("status") or {}).get("reservedFor") or ()
    return any(user.get("uid") == uid_of(pod) for user in users)


def may_share(claim: Object) -> bool:
    """Tell whether one more pod may use the claim."""
    return len((claim.get("status") or {}).get("reservedFor") or ()) < MOST_USERS


def _owned(claim: Object, pod: Object) -> bool:
    owners = claim["metadata"].get("ownerReferences") or ()
    return any(owner.get("controller") and owner.get("uid") == uid_of(pod) for owner in owners)
