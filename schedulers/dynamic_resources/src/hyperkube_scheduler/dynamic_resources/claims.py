"""A pod's claims, and what is known of claims, classes and slices: by what the API says, and by what is under way."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from hyperkube_lib.scheduling.device_classes import SYNC_SECONDS, DeviceClasses
from hyperkube_lib.scheduling.device_taints import with_rules
from hyperkube_scheduler.dynamic_resources.extended import owner_index
from hyperkube_scheduler.dynamic_resources.reasons import NoClaim
from hyperkube_scheduler.dynamic_resources.slices import Slices
from hyperkube_scheduler.dynamic_resources.usage import Usage

from hyperkube.client.informer import Informer, InformerFactory
from hyperkube.kinds.resources import DEVICE_TAINT_RULES, RESOURCE_CLAIMS, RESOURCE_SLICES
from hyperkube.machinery.objects import Object, controller_of, is_being_deleted, key_of, name_of, namespace_of, uid_of

if TYPE_CHECKING:
    from collections.abc import Iterator

CLAIMS, SLICES, CLASSES = "resourceclaims", "resourceslices", "deviceclasses"
CHANGES = frozenset({CLAIMS, SLICES, CLASSES})
MOST_USERS = 256
"""Pods that may share one claim."""
WAITING_PODS = 100_000
"""Pods of which it is remembered what claims they wait for; those that waited longest are forgotten first."""
_OWNERS = "extended resources of pod"


class DeviceClaims:
    """Claims, classes and slices from shared caches, asked for with the first pod that needs them.

    Attributes:
        usage: what claims have, those included whose allocation is being written.
        slices: all slices.
        classes: all device classes.
    """

    def __init__(
        self, informers: InformerFactory, wake: Callable[[str], None], *, partitions: bool = True, rules: bool = False
    ) -> None:
        """Take what to call with the kind of a change that may help pods; with `rules` DeviceTaintRules count."""
        self._asks_rules = rules
        self._rules: Informer | None = None
        self.usage = Usage()
        self.slices = Slices(partitions=partitions)
        self.classes = DeviceClasses(informers, lambda: wake(CLASSES))
        self._informers = informers
        self._wake = wake
        self._lock = threading.RLock()
        self._claims: Informer | None = None
        self._has_slices = False
        self._assumed: dict[str, Object] = {}
        self._written: dict[str, int] = {}
        self._waiting: OrderedDict[str, tuple[str, ...]] = OrderedDict()
        self._awaited: dict[str, set[str]] = {}
        self._watching: set[threading.Event] = set()

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
            if generated and (controller_of(claim) or {}).get("uid") != uid_of(pod):
                what = f"ResourceClaim {namespace_of(claim)}/{name} was not created for pod"
                raise NoClaim(f"{what} {namespace_of(pod)}/{name_of(pod)} (pod is not owner)")
            found.append(claim)
        return found

    def claim(self, namespace: str, name: str) -> Object | None:
        """Return a claim as the API has it."""
        return self._claim_informer().get(namespace, name)

    def special_of(self, pod: Object) -> Object | None:
        """Return the claim that is stored for a pod's extended resources."""
        found = self._claim_informer().by_index(_OWNERS, uid_of(pod))
        return found[0] if found else None

    def know_devices(self) -> None:
        """Have all slices in `slices`, and all claims in `usage`."""
        self._claim_informer()
        with self._lock:
            if self._has_slices:
                return
            self._has_slices = True
            informer = self._informers.informer(RESOURCE_SLICES)
        if self._asks_rules:
            self._rules = self._informers.informer(DEVICE_TAINT_RULES)
            self._rules.wait_synced(SYNC_SECONDS)
            changed = partial(self._rules_changed, informer)
            self._rules.add_handler(changed, lambda _old, new: changed(new), changed)
        informer.add_handler(self._slice_seen, lambda _old, new: self._slice_seen(new), self.slices.remove)
        informer.wait_synced(SYNC_SECONDS)

    def assumes(self, claim: Object) -> bool:
        """Tell whether an allocation of the claim is under way."""
        with self._lock:
            return uid_of(claim) in self._assumed

    def assume(self, claim: Object, allocation: Object) -> None:
        """Count an allocation that will be written."""
        with self._lock:
            self._assumed[uid_of(claim)] = allocation
            self.usage.put(uid_of(claim), allocation)

    def written(self, claim: Object) -> None:
        """Count it until the claim is seen as it was stored, or as it became after that."""
        with self._lock:
            if uid_of(claim) in self._assumed:
                self._written[uid_of(claim)] = version_of(claim)

    def forget(self, claim: Object, *, quietly: bool = False) -> None:
        """Count it no longer: it was not written, or `quietly`: it counts by another name."""
        with self._lock:
            if self._assumed.pop(uid_of(claim), None) is None:
                return
            stored = self.claim(namespace_of(claim), name_of(claim))
            same = stored is not None and uid_of(stored) == uid_of(claim)
            self.usage.put(uid_of(claim), _allocation(stored) if same else None)
        if not quietly:
            self._wake(CLAIMS)

    def expect(self, pod: Object) -> None:
        """Remember which claims a pod needs, before they are looked at: news of them may help it."""
        keys = tuple(f"{namespace_of(pod)}/{name}" for name in known_names(pod))
        with self._lock:
            self.placed(pod)
            if keys:
                self._waiting[key_of(pod)] = keys
                for key in keys:
                    self._awaited.setdefault(key, set()).add(key_of(pod))
            if len(self._waiting) > WAITING_PODS:
                self._forget_waiting(next(iter(self._waiting)))

    def placed(self, pod: Object) -> None:
        """Forget what a pod needs: it got it."""
        with self._lock:
            self._forget_waiting(key_of(pod))

    @contextmanager
    def news(self) -> Iterator[threading.Event]:
        """Give an event that is set whenever a claim changes."""
        event = threading.Event()
        with self._lock:
            self._watching.add(event)
        try:
            yield event
        finally:
            with self._lock:
                self._watching.discard(event)

    def _claim_informer(self) -> Informer:
        with self._lock:
            if self._claims is not None:
                return self._claims
            informer = self._informers.informer(RESOURCE_CLAIMS)
            informer.add_index(_OWNERS, owner_index)
            self._claims = informer
        informer.add_handler(lambda new: self._claim_seen(None, new), self._claim_seen, self._claim_gone)
        informer.wait_synced(SYNC_SECONDS)
        return informer

    def _claim_seen(self, old: Object | None, new: Object) -> None:
        """Take note; wake pods if devices came free, or if one of them needs the claim and its status changed."""
        allocation = _allocation(new)
        with self._lock:
            written = self._written.get(uid_of(new))
            if allocation is not None or is_being_deleted(new) or (written and version_of(new) >= written):
                self._assumed.pop(uid_of(new), None)
                self._written.pop(uid_of(new), None)
            if uid_of(new) not in self._assumed:
                self.usage.put(uid_of(new), allocation)
            freed = old is not None and _allocation(old) is not None and allocation is None
            changed = old is None or (old.get("status") or {}) != (new.get("status") or {})
            changed = changed or is_being_deleted(old or new) != is_being_deleted(new)
            helps = freed or (changed and key_of(new) in self._awaited)
            for event in self._watching:
                event.set()
        if helps:
            self._wake(CLAIMS)

    def _claim_gone(self, claim: Object) -> None:
        with self._lock:
            self._assumed.pop(uid_of(claim), None)
            self._written.pop(uid_of(claim), None)
            helps = _allocation(claim) is not None or any(owner_index(claim))
            self.usage.put(uid_of(claim), None)
            for event in self._watching:
                event.set()
        if helps:
            self._wake(CLAIMS)

    def _slice_seen(self, each: Object) -> None:
        rules = self._rules.list() if self._rules is not None else ()
        self.slices.put(with_rules(each, rules))
        self._wake(SLICES)

    def _rules_changed(self, slices: Informer, _rule: Object) -> None:
        """Read all slices anew: rules change seldom, and the old and the new one may select any device."""
        for each in slices.list():
            self._slice_seen(each)

    def _forget_waiting(self, pod: str) -> None:
        for key in self._waiting.pop(pod, ()):
            pods = self._awaited.get(key)
            if pods is not None:
                pods.discard(pod)
                if not pods:
                    del self._awaited[key]


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


def known_names(pod: Object) -> Sequence[str]:
    """Return the names of those claims of a pod that are known by now."""
    rows = pod.get("spec", {}).get("resourceClaims") or ()
    made = (pod.get("status") or {}).get("resourceClaimStatuses") or ()
    return [str(row["resourceClaimName"]) for row in (*rows, *made) if row.get("resourceClaimName")]


def reserved_for(claim: Object, pod: Object) -> bool:
    """Tell whether the claim names the pod as a user."""
    users = (claim.get("status") or {}).get("reservedFor") or ()
    return any(user.get("uid") == uid_of(pod) for user in users)


def may_share(claim: Object) -> bool:
    """Tell whether one more pod may use the claim."""
    return len((claim.get("status") or {}).get("reservedFor") or ()) < MOST_USERS


def version_of(claim: Object) -> int:
    """Return which version of a claim this is; later ones are greater."""
    return int(claim["metadata"].get("resourceVersion") or 0)


def _allocation(claim: Object | None) -> Object | None:
    found: Object | None = ((claim or {}).get("status") or {}).get("allocation") or None
    return found
