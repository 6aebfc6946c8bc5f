"""device-taint-eviction: deletes pods whose devices have a NoExecute taint that their claims do not tolerate.

Works where the feature gate DRADeviceTaints is on. Source: kubernetes
``pkg/controller/devicetainteviction/device_taint_eviction.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from hyperkube.client.actions import Delete, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.conditions import with_condition
from hyperkube.kinds.pods import disruption_target, spec_of, status_of
from hyperkube.kinds.resources import PODS, RESOURCE_CLAIMS, RESOURCE_SLICES
from hyperkube.kinds.taints import is_tolerated
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.objects import (
    Object,
    controller_of,
    is_being_deleted,
    key_of,
    name_of,
    namespace_of,
    split_key,
    uid_of,
)
from hyperkube.machinery.times import parse_time
from hyperkube.plugin import Plugin

GATE = "DRADeviceTaints"
WORKERS = 8
_BY_POOL, _SLICES = "device-taint-eviction/pool", "device-taint-eviction/slices"
_NO_EXECUTE = "NoExecute"


def claim_names(pod: Object) -> Iterator[tuple[str, bool]]:
    """Yield the claims that a pod lists, and whether each was generated for it."""
    made = {row["name"]: row.get("resourceClaimName") for row in status_of(pod).get("resourceClaimStatuses") or ()}
    for entry in spec_of(pod).get("resourceClaims") or ():
        generated = not entry.get("resourceClaimName")
        name = made.get(entry["name"]) if generated else entry["resourceClaimName"]
        if name:
            yield str(name), generated


def results_of(claim: Object) -> list[Object]:
    """Return the devices that a claim has."""
    allocation = (claim.get("status") or {}).get("allocation") or {}
    found: list[Object] = (allocation.get("devices") or {}).get("results") or []
    return found


def driving(device: Object) -> list[Object]:
    """Return the taints of a device that drive pods away."""
    return [taint for taint in device.get("taints") or () if taint.get("effect") == _NO_EXECUTE]


def due(taint: Object, tolerations: Sequence[Object]) -> datetime | None:
    """Return from when on a taint drives those away who tolerate what is told; None for never."""
    if not taint.get("timeAdded"):
        return None
    since = parse_time(str(taint["timeAdded"]))
    fitting = [one for one in tolerations if one.get("effect") == _NO_EXECUTE and is_tolerated(taint, [one])]
    if any(one.get("tolerationSeconds") is None for one in fitting):
        return None
    seconds = min((max(0, int(one["tolerationSeconds"])) for one in fitting), default=0)
    return since + timedelta(seconds=seconds)


def _pools_of_claim(claim: Object) -> set[str]:
    return {f"{row['driver']}/{row['pool']}" for row in results_of(claim)}


def _pool_of_slice(each: Object) -> list[str]:
    return [f"{each['spec']['driver']}/{each['spec']['pool']['name']}"]


class DeviceTaintEviction(Plugin):
    """Looks at the pods that use a pool of devices when a taint there comes or goes."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop: its keys are of pods; it has nothing to do with the gate off."""
        context = self.context
        self._loop = ReconcileLoop(
            context.name, self._sync, clock=context.clock, logger=context.logger, workers=WORKERS
        )
        if not context.gates.get(GATE, True):
            return self._loop
        self._recorder = EventRecorder(self.client, context.clock, "device-taint-eviction")
        self._marked: dict[str, str] = {}
        self._tainted: set[str] = set()
        self._pods = self.informers.informer(PODS)
        self._claims = self.informers.informer(RESOURCE_CLAIMS)
        self._slices = self.informers.informer(RESOURCE_SLICES)
        self._claims.add_index(_BY_POOL, _pools_of_claim)
        self._slices.add_index(_SLICES, _pool_of_slice)
        self._pods.add_handler(self._loop.enqueue, self._pod_changed, self._loop.enqueue)
        self._claims.add_handler(self._enqueue_users, self._claim_changed, self._enqueue_users)
        self._slices.add_handler(self._slice_seen, lambda _old, new: self._slice_seen(new), self._slice_seen)
        return self._loop

    def _pod_changed(self, old: Object, new: Object) -> None:
        claims = [status_of(pod).get("resourceClaimStatuses") for pod in (old, new)]
        if spec_of(old).get("nodeName") != spec_of(new).get("nodeName") or claims[0] != claims[1]:
            self._loop.enqueue(new)

    def _claim_changed(self, old: Object, new: Object) -> None:
        if old.get("status") != new.get("status"):
            self._enqueue_users(old)
            self._enqueue_users(new)

    def _enqueue_users(self, claim: Object) -> None:
        for user in (claim.get("status") or {}).get("reservedFor") or ():
            if user.get("resource") == "pods" and not user.get("apiGroup"):
                self._loop.queue.add(f"{namespace_of(claim)}/{user['name']}")

    def _slice_seen(self, each: Object) -> None:
        """Look at those who use the pool if it has taints, or had some before."""
        (pool,) = _pool_of_slice(each)
        before = pool in self._tainted
        if any(driving(device) for device in self._devices(pool)):
            self._tainted.add(pool)
        else:
            self._tainted.discard(pool)
        if before or pool in self._tainted:
            for claim in self._claims.by_index(_BY_POOL, pool):
                self._enqueue_users(claim)

    def _devices(self, pool: str) -> Iterator[Object]:
        """Yield the devices of a pool's newest generation."""
        slices = self._slices.by_index(_SLICES, pool)
        newest = max((int(one["spec"]["pool"].get("generation") or 0) for one in slices), default=0)
        for one in slices:
            if int(one["spec"]["pool"].get("generation") or 0) == newest:
                yield from one["spec"].get("devices") or ()

    def _sync(self, key: str) -> float | None:
        pod = self._pods.get(*split_key(key))
        if pod is None or is_being_deleted(pod):
            self._marked.pop(key, None)
            return None
        when = self._due(pod)
        if when is None:
            if self._marked.pop(key, None) == uid_of(pod):
                self._recorder.event(pod, "Normal", "DeviceTaintManagerEviction", "Cancelling deletion")
            return None
        self._marked[key] = uid_of(pod)
        left = (when - self.context.clock.now()).total_seconds()
        if left > 0:
            return left
        self._evict(pod)
        self._marked.pop(key, None)
        return None

    def _due(self, pod: Object) -> datetime | None:
        """Return from when on a pod may not stay; None for never."""
        if not spec_of(pod).get("nodeName"):
            return None
        found: list[datetime] = []
        for name, generated in claim_names(pod):
            claim = self._claims.get(namespace_of(pod), name)
            if claim is None or (generated and (controller_of(claim) or {}).get("uid") != uid_of(pod)):
                continue
            users = (claim.get("status") or {}).get("reservedFor") or ()
            if any(user.get("uid") == uid_of(pod) for user in users):
                found += self._due_of_claim(claim)
        return min(found, default=None)

    def _due_of_claim(self, claim: Object) -> Iterator[datetime]:
        for row in results_of(claim):
            for device in self._devices(f"{row['driver']}/{row['pool']}"):
                if device["name"] == row["device"]:
                    for taint in driving(device):
                        when = due(taint, row.get("tolerations") or ())
                        if when is not None:
                            yield when

    def _evict(self, pod: Object) -> None:
        """Say why in the pod's status and delete it, unless it is another one by now or goes already."""
        try:
            current = self.client.get(PODS, name_of(pod), namespace_of(pod))
            if uid_of(current) != uid_of(pod) or is_being_deleted(current):
                return
            self._recorder.event(current, "Normal", "DeviceTaintManagerEviction", "Marking for deletion")
            text = "Device Taint manager: deleting due to NoExecute taint"
            target = disruption_target("DeletionByDeviceTaintManager", text)
            conditions = with_condition(status_of(current).get("conditions") or (), target, self.context.clock.now())
            patch = {"metadata": {"uid": uid_of(pod)}, "status": {"conditions": conditions}}
            self.client.patch(PODS, name_of(pod), patch, namespace_of(pod), subresource="status")
        except NotFound:
            return
        perform(self.client, None, [Delete.of(PODS, current)])
        self.context.logger.info("evicted pod %s by deleting it: a device of it is tainted", key_of(pod))
