"""The loop around the decisions: carries out steps, in order or in slow-start batches.

Sources: kubernetes ``pkg/controller/statefulset/stateful_set.go``, ``stateful_set_control.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hyperkube_controller.statefulset.metrics import StatefulSetMetrics
from hyperkube_controller.statefulset.pod_control import StatefulPodControl
from hyperkube_controller.statefulset.pods import ordinal_of, ordinals, revision_of
from hyperkube_controller.statefulset.rolling_update import max_unavailable
from hyperkube_controller.statefulset.status import status_of
from hyperkube_lib.controller_refs import ControllerRefManager, candidates, watch_orphans
from hyperkube_lib.pod_control import Failure, slow_start_batch
from hyperkube_lib.revisions import STATEFUL_SET_REVISIONS, sync_update_revision, truncate_history

from hyperkube.client.actions import perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.expectations import Written
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds import workloads
from hyperkube.kinds.resources import CONTROLLER_REVISIONS, PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS
from hyperkube.kinds.workloads import label_selector_of
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, name_of, namespace_of, split_key
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

if TYPE_CHECKING:
    from hyperkube_controller.statefulset.decision import Decision, Step
    from hyperkube_controller.statefulset.observed import Observed

MAX_UNAVAILABLE = "MaxUnavailableStatefulSet"


class Settings(Record):
    """How many stateful sets are synced at once."""

    concurrent_statefulset_syncs: int = 5


class Statefulset(Plugin):
    """Keeps the pods of stateful sets."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        clock = self.context.clock
        self._recorder = EventRecorder(self.client, clock, "statefulset-controller")
        self._written = Written()
        self._metrics = StatefulSetMetrics()
        self._metrics.register(self.context)
        self._sets = self.informers.informer(STATEFUL_SETS)
        self._pods = self.informers.informer(PODS)
        self._claims = self.informers.informer(PERSISTENT_VOLUME_CLAIMS)
        self._revisions = self.informers.informer(CONTROLLER_REVISIONS)
        self._pod_control = StatefulPodControl(self.client, self._recorder, self._claims)
        for informer in (self._pods, self._revisions):
            informer.add_index("controller", workloads.controller_index)
        self._loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=clock,
            logger=self.context.logger,
            workers=self.settings(Settings).concurrent_statefulset_syncs,
        )
        self._loop.watch(self._sets)
        self._loop.watch_owned(self._pods, "StatefulSet")
        self._loop.watch_owned(self._revisions, "StatefulSet")
        watch_orphans(self._loop, self._pods, self._sets, label_selector_of)
        return self._loop

    def _sync(self, key: str) -> float | None:
        from hyperkube_controller.statefulset.decision import decide
        from hyperkube_controller.statefulset.observed import Observed

        stateful_set = self._sets.get(*split_key(key))
        if stateful_set is None:
            self._written.forget(key)
            self._metrics.gone(*split_key(key))
            return None
        if self._written.is_stale(key, stateful_set):
            return None
        selector = label_selector_of(stateful_set)
        manager = ControllerRefManager(self.client, stateful_set, STATEFUL_SETS, "StatefulSet", selector)
        revisions = manager.claim(CONTROLLER_REVISIONS, candidates(self._revisions, stateful_set))
        pods = manager.claim(PODS, candidates(self._pods, stateful_set), lambda pod: ordinal_of(stateful_set, pod) >= 0)
        update, collisions = sync_update_revision(self.client, stateful_set, STATEFUL_SET_REVISIONS, revisions)
        running = (stateful_set.get("status") or {}).get("currentRevision", "")
        current = next((revision for revision in revisions if name_of(revision) == running), update)
        namespace = namespace_of(stateful_set)
        observed = Observed(
            stateful_set,
            pods,
            current,
            update,
            lambda name: self._claims.get(namespace, name),
            self.context.clock.now(),
            self.context.gates.get(MAX_UNAVAILABLE, False),
        )
        decision = decide(observed)
        if decision.unavailable is not None:
            most = max_unavailable(stateful_set, len(ordinals(stateful_set)))
            self._metrics.measured(stateful_set, most=most, unavailable=decision.unavailable)
        failures, replaced = self._act(observed, decision)
        status = status_of(observed, collisions, replaced)
        failures = [*failures, *self._record(key, observed, status, revisions)]
        if failures:
            raise failures[0]
        if decision.stale_claim:
            raise NotYet(f"claim {decision.stale_claim} of an earlier pod is about to be deleted")
        return workloads.available_in(pods, (stateful_set.get("spec") or {}).get("minReadySeconds", 0), observed.now)

    def _act(self, observed: Observed, decision: Decision) -> tuple[Sequence[Failure | NotYet], int]:
        """Carry the decision out up to the first failure; return what failed, and how many pods were replaced."""
        for steps in (decision.replicas, decision.claims, decision.condemned):
            failures = self._carry_out(observed, steps)
            if failures:
                return failures, 0
        replaced = 0
        for pod in decision.update:
            try:
                self._pod_control.delete(observed.stateful_set, pod)
            except (ApiError, OSError) as failure:
                return [failure], replaced
            replaced += 1
        return [], replaced

    def _carry_out(self, observed: Observed, steps: Sequence[Step]) -> Sequence[Failure | NotYet]:
        late: list[NotYet] = []

        def carry_out(step: Step) -> None:
            try:
                self._pod_control.carry_out(observed.stateful_set, step)
            except NotYet as reason:
                late.append(reason)

        if observed.is_parallel:
            return slow_start_batch(steps, carry_out)[1] or late
        for step in steps:
            try:
                carry_out(step)
            except (ApiError, OSError) as failure:
                return [failure]
            if late:
                break
        return late

    def _record(
        self, key: str, observed: Observed, status: dict[str, Any], revisions: Sequence[Object]
    ) -> list[Failure]:
        """Write the status and keep the history short, whatever else failed; return what failed of it."""
        live = {name_of(observed.current), name_of(observed.update), *(revision_of(pod) for pod in observed.pods)}
        failures: list[Failure] = []
        try:
            self._write_status(key, observed.stateful_set, status)
        except (ApiError, OSError) as failure:
            failures.append(failure)
        try:
            perform(self.client, None, truncate_history(observed.stateful_set, revisions, live))
        except (ApiError, OSError) as failure:
            failures.append(failure)
        return failures

    def _write_status(self, key: str, stateful_set: Object, status: dict[str, Any]) -> None:
        changed = workloads.merged_status(stateful_set, status)
        if changed is not None:
            written = self.client.update(STATEFUL_SETS, changed, namespace_of(stateful_set), subresource="status")
            self._written.note(key, written)
