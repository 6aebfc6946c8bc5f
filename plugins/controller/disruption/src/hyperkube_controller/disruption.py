"""disruption: how many of its pods a PodDisruptionBudget lets go just now.

The eviction API charges ``status.disruptionsAllowed``; this controller fills it again.
Source: kubernetes ``pkg/controller/disruption/disruption.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from hyperkube.client.actions import Action, Again, Update, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.informer import Informer
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.conditions import with_condition
from hyperkube.kinds.pods import is_ready, is_terminal
from hyperkube.kinds.resources import (
    DEPLOYMENTS,
    POD_DISRUPTION_BUDGETS,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
)
from hyperkube.machinery.intstr import is_percent, scaled
from hyperkube.machinery.labels import from_label_selector
from hyperkube.machinery.objects import (
    Object,
    controller_of,
    is_being_deleted,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    split_key,
    uid_of,
)
from hyperkube.machinery.times import parse_time
from hyperkube.plugin import Plugin

DELETION_SECONDS = 120
_SCALES = {
    "ReplicaSet": REPLICA_SETS,
    "ReplicationController": REPLICATION_CONTROLLERS,
    "StatefulSet": STATEFUL_SETS,
    "Deployment": DEPLOYMENTS,
}


@dataclass(frozen=True, slots=True)
class Observed:
    """A budget, the pods that it selects, how many of them their controllers want, and whether all have one."""

    budget: Object
    pods: Sequence[Object]
    wanted: int
    all_controlled: bool
    now: datetime


def needed(observed: Observed) -> tuple[int, int]:
    """Return (expected pods, healthy pods that must stay)."""
    spec = observed.budget.get("spec") or {}
    if spec.get("maxUnavailable") is not None:
        spare = scaled(spec["maxUnavailable"], observed.wanted, round_up=True)
        return observed.wanted, max(0, observed.wanted - spare)
    least = spec.get("minAvailable")
    if least is None:
        return len(observed.pods), 0
    if is_percent(least):
        return observed.wanted, scaled(least, observed.wanted, round_up=True)
    return len(observed.pods), int(least)


def decide(observed: Observed) -> list[Action]:
    """Return the status that is due, and when an announced disruption will have been waited for long enough."""
    budget, now = observed.budget, observed.now
    status = budget.get("status") or {}
    spec = budget.get("spec") or {}
    by_name = {name_of(pod): pod for pod in observed.pods}
    announced = {
        name: moment
        for name, moment in (status.get("disruptedPods") or {}).items()
        if name in by_name
        and not is_being_deleted(by_name[name])
        and parse_time(moment) + timedelta(seconds=DELETION_SECONDS) > now
    }
    counts_controllers = spec.get("maxUnavailable") is not None or is_percent(spec.get("minAvailable", 0))
    conditions = status.get("conditions") or []
    generation = metadata(budget).get("generation")
    if counts_controllers and not observed.all_controlled:
        said: Object = {
            "status": "False",
            "reason": "SyncFailed",
            "message": "found no controller ref for a selected pod",
        }
        said |= {"type": "DisruptionAllowed", "observedGeneration": generation}
        failed = {**status, "disruptionsAllowed": 0, "conditions": with_condition(conditions, said, now)}
        return [] if failed == status else [Update(POD_DISRUPTION_BUDGETS, {**budget, "status": failed}, "status")]
    healthy = sum(
        is_ready(pod) and not is_being_deleted(pod) and name_of(pod) not in announced for pod in observed.pods
    )
    expected, must_stay = needed(observed)
    allowed = max(0, healthy - must_stay) if expected else 0
    reason = "SufficientPods" if allowed else "InsufficientPods"
    said = {"type": "DisruptionAllowed", "status": "True" if allowed else "False", "reason": reason, "message": ""}
    said["observedGeneration"] = generation
    told = {
        "observedGeneration": generation,
        "disruptionsAllowed": allowed,
        "currentHealthy": healthy,
        "desiredHealthy": must_stay,
        "expectedPods": expected,
        "conditions": with_condition(conditions, said, now),
    } | ({"disruptedPods": announced} if announced else {})
    actions: list[Action] = []
    if told != status:
        actions.append(Update(POD_DISRUPTION_BUDGETS, {**budget, "status": told}, "status"))
    ends = [parse_time(moment) + timedelta(seconds=DELETION_SECONDS) for moment in announced.values()]
    return actions + [Again((end - now).total_seconds()) for end in ends]


class Disruption(Plugin):
    """Keeps the status of disruption budgets."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        clock = self.context.clock
        self._recorder = EventRecorder(self.client, clock, "controllermanager")
        self._budgets = self.informers.informer(POD_DISRUPTION_BUDGETS)
        self._pods = self.informers.informer(PODS)
        self._owners: dict[str, Informer] = {
            kind: self.informers.informer(resource) for kind, resource in _SCALES.items()
        }
        self._loop = ReconcileLoop(self.context.name, self._sync, clock=clock, logger=self.context.logger)
        self._loop.watch(self._budgets)
        self._pods.add_handler(self._pod_seen, self._pod_changed, self._pod_seen)
        for informer in self._owners.values():
            informer.add_handler(on_update=self._owner_changed)
        return self._loop

    def _pod_seen(self, pod: Object) -> None:
        for budget in self._budgets.list(namespace_of(pod)):
            if from_label_selector((budget.get("spec") or {}).get("selector")).matches(labels_of(pod)):
                self._loop.enqueue(budget)

    def _pod_changed(self, old: Object, new: Object) -> None:
        if labels_of(old) != labels_of(new):
            self._pod_seen(old)
        self._pod_seen(new)

    def _owner_changed(self, old: Object, new: Object) -> None:
        if (old.get("spec") or {}).get("replicas") != (new.get("spec") or {}).get("replicas"):
            for budget in self._budgets.list(namespace_of(new)):
                self._loop.enqueue(budget)

    def _sync(self, key: str) -> float | None:
        budget = self._budgets.get(*split_key(key))
        if budget is None or is_being_deleted(budget):
            return None
        selector = from_label_selector((budget.get("spec") or {}).get("selector"))
        listed = self._pods.list(namespace_of(budget))
        pods = [pod for pod in listed if selector.matches(labels_of(pod)) and not is_terminal(pod)]
        owners = {}
        all_controlled = True
        for pod in pods:
            owner = self._scale_of(pod)
            all_controlled = all_controlled and owner is not None
            if owner is not None:
                owners[uid_of(owner)] = int((owner.get("spec") or {}).get("replicas", 1))
        observed = Observed(budget, pods, sum(owners.values()), all_controlled, self.context.clock.now())
        return perform(self.client, self._recorder, decide(observed))

    def _scale_of(self, obj: Object) -> Object | None:
        """Return the topmost scalable controller of an object: a deployment rather than its replica set."""
        reference = controller_of(obj)
        informer = self._owners.get((reference or {}).get("kind", ""))
        if reference is None or informer is None:
            return None
        owner = informer.get(namespace_of(obj), reference["name"])
        if owner is None or uid_of(owner) != reference.get("uid"):
            return None
        return self._scale_of(owner) or owner
