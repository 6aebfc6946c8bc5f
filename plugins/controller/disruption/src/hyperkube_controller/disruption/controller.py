"""The loops: one for budgets, one for pods whose announced disruption did not come.

The eviction API charges ``status.disruptionsAllowed``; this controller fills it again.
Source: kubernetes ``pkg/controller/disruption/disruption.go``.
"""

from __future__ import annotations

from datetime import datetime

from hyperkube_controller.disruption.scales import NoScale, Scales

from hyperkube.client.actions import perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.informer import Informer
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import (
    DEPLOYMENTS,
    POD_DISRUPTION_BUDGETS,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
)
from hyperkube.machinery.errors import ApiError, Conflict
from hyperkube.machinery.labels import Selector, SelectorError, from_label_selector
from hyperkube.machinery.objects import Object, key_of, labels_of, name_of, namespace_of, split_key
from hyperkube.plugin import Plugin

_OWNERS = {
    ("apps", "ReplicaSet"): REPLICA_SETS,
    ("apps", "StatefulSet"): STATEFUL_SETS,
    ("apps", "Deployment"): DEPLOYMENTS,
    ("", "ReplicationController"): REPLICATION_CONTROLLERS,
}
_STALE = "pod:"
"""In front of the keys of pods in the queue, which they share with budgets: one loop, no thread more."""


class Disruption(Plugin):
    """Keeps the status of disruption budgets, and takes back disruptions of pods that did not come."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        clock = self.context.clock
        self._recorder = EventRecorder(self.client, clock, "controllermanager")
        self._budgets = self.informers.informer(POD_DISRUPTION_BUDGETS)
        self._pods = self.informers.informer(PODS)
        owners: dict[tuple[str, str], Informer] = {
            kind: self.informers.informer(resource) for kind, resource in _OWNERS.items()
        }
        self._scales = Scales(self.client, owners)
        self._loop = ReconcileLoop(self.context.name, self._sync, clock=clock, logger=self.context.logger)
        self._loop.watch(self._budgets)
        self._pods.add_handler(self._pod_seen, self._pod_changed, self._pod_seen)
        for informer in owners.values():
            informer.add_handler(on_update=self._owner_changed)
        return self._loop

    def _pod_seen(self, pod: Object) -> None:
        from hyperkube_controller.disruption.decision import stale_disruption

        if stale_disruption(pod, self.context.clock.now()) is not None:
            self._loop.queue.add(_STALE + key_of(pod))
        chosen = [budget for budget in self._budgets.list(namespace_of(pod)) if _selects(budget, pod)]
        if len(chosen) > 1:
            # Eviction refuses the pod; each budget counts it all the same.
            about = f'Pod "{namespace_of(pod)}"/"{name_of(pod)}" matches multiple PodDisruptionBudgets.'
            text = f'{about}  Chose "{name_of(chosen[0])}" arbitrarily.'
            self._recorder.event(pod, "Warning", "MultiplePodDisruptionBudgets", text)
        for budget in chosen:
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
        from hyperkube_controller.disruption.decision import fail_safe

        if key.startswith(_STALE):
            return self._sync_stale(key.removeprefix(_STALE))
        budget = self._budgets.get(*split_key(key))
        if budget is None:
            return None
        now = self.context.clock.now()
        try:
            return self._try_sync(budget, now)
        except Conflict:
            raise  # the budget was charged meanwhile: what was computed is no longer true
        except (ApiError, NoScale, SelectorError) as error:
            # Nothing may go as long as it is not known how many may.
            return perform(self.client, self._recorder, fail_safe(budget, str(error), now))

    def _try_sync(self, budget: Object, now: datetime) -> float | None:
        """Bring the status up to date.

        Raises:
            SelectorError: the budget's selector is none.
            NoScale: how many pods there should be is not known.
            ApiError: the status was refused.
        """
        from hyperkube_controller.disruption.decision import Observed, Scale, counts_controllers, decide

        try:
            selector = _selector_of(budget)
        except SelectorError as error:
            self._recorder.event(budget, "Warning", "NoPods", f"Failed to get pods: {error}")
            raise
        pods = [pod for pod in self._pods.list(namespace_of(budget)) if selector.matches(labels_of(pod))]
        try:
            scale = self._scales.expected(pods) if counts_controllers(budget) else Scale()
        except NoScale as error:
            text = f"Failed to calculate the number of expected pods: {error}"
            self._recorder.event(budget, "Warning", "CalculateExpectedPodCountFailed", text)
            raise
        return perform(self.client, self._recorder, decide(Observed(budget, pods, scale, now)))

    def _sync_stale(self, key: str) -> float | None:
        from hyperkube_controller.disruption.decision import stale_disruption, without_disruption

        pod = self._pods.get(*split_key(key))
        now = self.context.clock.now()
        left = stale_disruption(pod, now) if pod is not None else None
        if pod is None or left is None:
            return None
        if left > 0:
            return left
        self.client.update(PODS, without_disruption(pod, now), namespace_of(pod), subresource="status")
        return None


def _selector_of(budget: Object) -> Selector:
    return from_label_selector((budget.get("spec") or {}).get("selector"))


def _selects(budget: Object, pod: Object) -> bool:
    """Tell whether the budget selects the pod; one whose selector is none selects nothing."""
    try:
        return _selector_of(budget).matches(labels_of(pod))
    except SelectorError:
        return False
