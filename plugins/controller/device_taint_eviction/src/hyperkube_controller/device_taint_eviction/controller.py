"""Which pods go, and when: taints stand in the slices of devices and in DeviceTaintRules.

Works where the feature gate DRADeviceTaints is on, with rules where DRADeviceTaintRules is, too. Source: kubernetes
``pkg/controller/devicetainteviction/device_taint_eviction.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from hyperkube_controller.device_taint_eviction.metrics import EvictionMetrics
from hyperkube_controller.device_taint_eviction.rules import (
    NO_EFFECT,
    NO_EXECUTE,
    RULES_GATE,
    STATUS_SECONDS,
    RuleCounts,
    seconds_left,
    selects_any,
)
from hyperkube_controller.device_taint_eviction.rules import (
    with_condition as with_rule_condition,
)
from hyperkube_lib.scheduling.device_taints import selects, taint_of

from hyperkube.client.actions import Delete, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.conditions import with_condition
from hyperkube.kinds.pods import disruption_target, spec_of, status_of
from hyperkube.kinds.resources import DEVICE_TAINT_RULES, PODS, RESOURCE_CLAIMS, RESOURCE_SLICES
from hyperkube.kinds.taints import is_tolerated
from hyperkube.machinery.dataclass import dataclass
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
from hyperkube.machinery.record import Record
from hyperkube.machinery.times import parse_time
from hyperkube.plugin import Plugin

GATE = "DRADeviceTaints"
_BY_POOL, _SLICES = "device-taint-eviction/pool", "device-taint-eviction/slices"
_RULE = "rule:"


@dataclass(frozen=True, slots=True)
class Eviction:
    """From when on a pod may not stay, and the uids of the rules that say so."""

    when: datetime
    rules: frozenset[str]


def claim_names(pod: Object) -> Iterator[tuple[str, bool]]:
    """Yield the claims that a pod lists or has for extended resources, and whether each was generated for it."""
    made = {row["name"]: row.get("resourceClaimName") for row in status_of(pod).get("resourceClaimStatuses") or ()}
    for entry in spec_of(pod).get("resourceClaims") or ():
        generated = not entry.get("resourceClaimName")
        name = made.get(entry["name"]) if generated else entry["resourceClaimName"]
        if name:
            yield str(name), generated
    if extended := extended_claim_of(pod):
        yield extended, True


def extended_claim_of(pod: Object) -> str:
    """Return the claim that was made for the pod's extended resources, empty without one."""
    return str((status_of(pod).get("extendedResourceClaimStatus") or {}).get("resourceClaimName") or "")


def has_claims(pod: Object) -> bool:
    """Tell whether the pod may have devices: hardly any has."""
    return bool(spec_of(pod).get("resourceClaims") or extended_claim_of(pod))


def results_of(claim: Object) -> list[Object]:
    """Return the devices that a claim has."""
    allocation = (claim.get("status") or {}).get("allocation") or {}
    found: list[Object] = (allocation.get("devices") or {}).get("results") or []
    return found


def driving(device: Object) -> list[Object]:
    """Return the taints of a device that drive pods away."""
    return [taint for taint in device.get("taints") or () if taint.get("effect") == NO_EXECUTE]


def due(taint: Object, tolerations: Sequence[Object]) -> datetime | None:
    """Return from when on a taint drives those away who tolerate what is told; None for never."""
    if not taint.get("timeAdded"):
        return None
    since = parse_time(str(taint["timeAdded"]))
    fitting = [one for one in tolerations if one.get("effect") == NO_EXECUTE and is_tolerated(taint, [one])]
    if any(one.get("tolerationSeconds") is None for one in fitting):
        return None
    seconds = min((max(0, int(one["tolerationSeconds"])) for one in fitting), default=0)
    return since + timedelta(seconds=seconds)


def _pools_of_claim(claim: Object) -> set[str]:
    return {f"{row['driver']}/{row['pool']}" for row in results_of(claim)}


def _pool_of_slice(each: Object) -> list[str]:
    return [f"{each['spec']['driver']}/{each['spec']['pool']['name']}"]


class Settings(Record):
    """How many pods are looked at at once."""

    concurrent_device_taint_eviction_syncs: int = 10


class DeviceTaintEviction(Plugin):
    """Looks at the pods that use a pool of devices when a taint there comes or goes."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop: its keys are of pods; it has nothing to do with the gate off."""
        context = self.context
        workers = self.settings(Settings).concurrent_device_taint_eviction_syncs
        self._loop = ReconcileLoop(
            context.name, self._sync, clock=context.clock, logger=context.logger, workers=workers
        )
        if not context.gates.get(GATE, True):
            return self._loop
        self._recorder = EventRecorder(self.client, context.clock, "device-taint-eviction")
        self._marked: dict[str, str] = {}
        self._tainted: set[str] = set()
        self._metrics = EvictionMetrics()
        self._metrics.register(context)
        self._pods = self.informers.informer(PODS)
        self._claims = self.informers.informer(RESOURCE_CLAIMS)
        self._slices = self.informers.informer(RESOURCE_SLICES)
        self._claims.add_index(_BY_POOL, _pools_of_claim)
        self._slices.add_index(_SLICES, _pool_of_slice)
        self._pods.add_handler(self._pod_seen, self._pod_changed, self._pod_seen)
        self._claims.add_handler(self._enqueue_users, self._claim_changed, self._enqueue_users)
        self._slices.add_handler(self._slice_seen, lambda _old, new: self._slice_seen(new), self._slice_seen)
        self._rules = self.informers.informer(DEVICE_TAINT_RULES) if context.gates.get(RULES_GATE) else None
        self._evicted: dict[str, int] = {}
        if self._rules is not None:
            self._rules.add_handler(self._rule_seen, self._rule_changed, self._rule_gone)
        return self._loop

    def _rule_seen(self, rule: Object) -> None:
        """Tell the state of a new rule before pods go."""
        self._loop.queue.add(_RULE + name_of(rule))
        for claim in self._claims.list():
            if selects_any(rule, results_of(claim)):
                self._enqueue_users(claim)

    def _rule_changed(self, old: Object, new: Object) -> None:
        if old.get("spec") != new.get("spec") or uid_of(old) != uid_of(new):
            self._rule_gone(old)
            self._rule_seen(new)

    def _rule_gone(self, rule: Object) -> None:
        current = self._rules.get("", name_of(rule)) if self._rules is not None else None
        if current is None or uid_of(current) != uid_of(rule):
            self._evicted.pop(uid_of(rule), None)
        for claim in self._claims.list():
            if selects_any(rule, results_of(claim)):
                self._enqueue_users(claim)

    def _pod_seen(self, pod: Object) -> None:
        if has_claims(pod):
            self._loop.enqueue(pod)

    def _pod_changed(self, old: Object, new: Object) -> None:
        if not (has_claims(old) or has_claims(new)):
            return
        claims = [(status_of(pod).get("resourceClaimStatuses"), extended_claim_of(pod)) for pod in (old, new)]
        if spec_of(old).get("nodeName") != spec_of(new).get("nodeName") or claims[0] != claims[1]:
            self._loop.enqueue(new)

    def _claim_changed(self, old: Object, new: Object) -> None:
        if old.get("status") != new.get("status") or controller_of(old) != controller_of(new):
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
        if key.startswith(_RULE):
            return self._sync_rule(key.removeprefix(_RULE))
        pod = self._pods.get(*split_key(key))
        if pod is None or is_being_deleted(pod):
            self._marked.pop(key, None)
            return None
        eviction = self._eviction(pod, self._evicting())
        if eviction is None:
            if self._marked.pop(key, None) == uid_of(pod):
                self._recorder.event(pod, "Normal", "DeviceTaintManagerEviction", "Cancelling deletion")
            return None
        self._marked[key] = uid_of(pod)
        left = (eviction.when - self.context.clock.now()).total_seconds()
        if left > 0:
            return left
        if self._evict(pod):
            self._metrics.deleted((self.context.clock.now() - eviction.when).total_seconds())
            self._count(eviction.rules)
        self._marked.pop(key, None)
        return None

    def _count(self, uids: frozenset[str]) -> None:
        """Count an eviction for the rules behind it; their status says so a while later, when caches know of it."""
        for rule in self._rules.list() if self._rules is not None else ():
            if uid_of(rule) in uids:
                self._evicted[uid_of(rule)] = self._evicted.get(uid_of(rule), 0) + 1
                self._loop.queue.add_after(_RULE + name_of(rule), STATUS_SECONDS)

    def _evicting(self) -> list[Object]:
        """Return the rules that drive pods away."""
        rules = self._rules.list() if self._rules is not None else ()
        return [rule for rule in rules if taint_of(rule).get("effect") == NO_EXECUTE]

    def _sync_rule(self, name: str) -> float | None:
        """Say in a rule's status how far the evictions are; return the seconds after which to look again, or None."""
        rule = self._rules.get("", name) if self._rules is not None else None
        if rule is None:
            return None
        now = self.context.clock.now()
        left = seconds_left(rule, now)
        if left > 0:
            return left
        conditions = with_rule_condition(rule, self._counts(rule), now)
        if conditions is not None:
            patch = {"metadata": {"uid": uid_of(rule)}, "status": {"conditions": conditions}}
            self.client.patch(DEVICE_TAINT_RULES, name, patch, subresource="status")
        return None

    def _counts(self, rule: Object) -> RuleCounts:
        effect, evicted = taint_of(rule).get("effect"), self._evicted.get(uid_of(rule), 0)
        if effect not in {NO_EXECUTE, NO_EFFECT}:
            return RuleCounts(evicted=evicted)
        rules = self._evicting()
        if effect == NO_EFFECT:  # what would be
            taint = {**taint_of(rule), "effect": NO_EXECUTE}
            rules = [*rules, {**rule, "spec": {**rule["spec"], "taint": taint}}]
        places: list[str] = []
        for pod in self._pods.each():
            eviction = None if is_being_deleted(pod) else self._eviction(pod, rules)
            if eviction is not None and uid_of(rule) in eviction.rules:
                places.append(namespace_of(pod))
        pools = {pool for each in self._slices.list() for pool in _pool_of_slice(each)}
        devices = [(*pool.split("/", 1), device["name"]) for pool in pools for device in self._devices(pool)]
        results = [row for claim in self._claims.list() for row in results_of(claim)]
        return RuleCounts(
            published=sum(selects(rule, *device) for device in devices),
            allocated=sum(selects_any(rule, [row]) for row in results),
            pods=len(places),
            namespaces=len(set(places)),
            evicted=evicted,
        )

    def _eviction(self, pod: Object, rules: Sequence[Object]) -> Eviction | None:
        """Return from when on a pod may not stay, None for never."""
        if not spec_of(pod).get("nodeName"):
            return None
        found: list[tuple[datetime, str]] = []
        for name, generated in claim_names(pod):
            claim = self._claims.get(namespace_of(pod), name)
            if claim is None or (generated and (controller_of(claim) or {}).get("uid") != uid_of(pod)):
                continue
            users = (claim.get("status") or {}).get("reservedFor") or ()
            if any(user.get("uid") == uid_of(pod) for user in users):
                found += self._due_of_claim(claim, rules)
        if not found:
            return None
        return Eviction(min(when for when, _ in found), frozenset(rule for _, rule in found if rule))

    def _due_of_claim(self, claim: Object, rules: Sequence[Object]) -> Iterator[tuple[datetime, str]]:
        """Yield from when on each taint of a claim's devices counts, and the uid of the rule it is from, if any."""
        for row in results_of(claim):
            place = (row["driver"], row["pool"], row["device"])
            devices = self._devices(f"{row['driver']}/{row['pool']}")
            taints = [(taint, "") for each in devices if each["name"] == row["device"] for taint in driving(each)]
            taints += [(taint_of(rule), uid_of(rule)) for rule in rules if selects(rule, *place)]
            for taint, rule in taints:
                when = due(taint, row.get("tolerations") or ())
                if when is not None:
                    yield when, rule

    def _evict(self, pod: Object) -> bool:
        """Say why in the pod's status and delete it, unless it is another one by now; tell whether it was there."""
        try:
            current = self.client.get(PODS, name_of(pod), namespace_of(pod))
            if uid_of(current) != uid_of(pod):
                return False
            if is_being_deleted(current):
                return True
            self._recorder.event(current, "Normal", "DeviceTaintManagerEviction", "Marking for deletion")
            text = "Device Taint manager: deleting due to NoExecute taint"
            target = disruption_target("DeletionByDeviceTaintManager", text)
            conditions = with_condition(status_of(current).get("conditions") or (), target, self.context.clock.now())
            patch = {"metadata": {"uid": uid_of(pod)}, "status": {"conditions": conditions}}
            self.client.patch(PODS, name_of(pod), patch, namespace_of(pod), subresource="status")
        except NotFound:
            return False
        perform(self.client, None, [Delete.of(PODS, current)])
        self.context.logger.info("evicted pod %s by deleting it: a device of it is tainted", key_of(pod))
        return True
