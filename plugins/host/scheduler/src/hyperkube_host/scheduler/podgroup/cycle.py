"""The cycle of a pod group: all its pods that want a node are decided about together, then bound or put back together.

Source: kubernetes ``pkg/scheduler/schedule_one_podgroup.go`` (1.36).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from hyperkube_host.scheduler.api_dispatcher.api_dispatcher import Reports
from hyperkube_host.scheduler.binding.binder import Binder, NotBound
from hyperkube_host.scheduler.cache.cache import ClusterState
from hyperkube_host.scheduler.metrics.metrics import (
    ERROR,
    SCHEDULED,
    UNSCHEDULABLE,
    WAITING_ON_PREEMPTION,
    SchedulerMetrics,
)
from hyperkube_host.scheduler.podgroup import conditions
from hyperkube_host.scheduler.podgroup.attempt import GroupAttempt, Outcome, Tried, Verdict
from hyperkube_host.scheduler.profile.profiles import DEFAULT_NAME, Running
from hyperkube_host.scheduler.queue.scheduling_queue import SchedulingQueue, Ticket
from hyperkube_host.scheduler.schedule_one.schedule_pod import Chooser

from hyperkube.client.client import Client
from hyperkube.client.informer import Informer
from hyperkube.hookspecs.pod_groups import GroupKey, NoPlacement, PodGroupInfo, group_of
from hyperkube.kinds.pods import priority_of
from hyperkube.kinds.resources import POD_GROUPS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import NodeName, Object

if TYPE_CHECKING:
    from hyperkube_host.scheduler.cache.pod_info import QueuedPod
    from hyperkube_host.scheduler.explain.explanations import Explanations

GATES = ("GenericWorkload", "GangScheduling")
"""Feature gates, off in 1.36 unless asked for, with which groups have a cycle; the second implies the first here."""
TOPOLOGY, PREEMPTION = "TopologyAwareWorkloadScheduling", "WorkloadAwarePreemption"
"""Further ones: placements, eviction for groups as a whole."""
WAITING = "pod group is waiting for preemption to complete"
NOT_PLACED = "preemption: not eligible due to placement-based pod group scheduling limitation"
NOT_SINGLE = "preemption: not eligible due to workload aware preemption enabled"
_RESULTS = {
    Verdict.FITS: (SCHEDULED, conditions.SCHEDULED),
    Verdict.WAITS: (WAITING_ON_PREEMPTION, conditions.UNSCHEDULABLE),
    Verdict.REFUSED: (UNSCHEDULABLE, conditions.UNSCHEDULABLE),
    Verdict.FAILED: (ERROR, conditions.ERROR),
}
_log = logging.getLogger("hyperkube.scheduler")


class Outcomes(Protocol):
    """Takes note of what came of single pods: the scheduler."""

    def prepare(self, ticket: Ticket) -> QueuedPod:
        """Make a pod ready to be decided about; the table's lock is held."""

    def finished(self, ticket: Ticket, node: NodeName, error: NotBound | None, started: float) -> None:
        """A binding ended."""

    def nominate(self, info: QueuedPod, node: NodeName) -> None:
        """Room is being made for a pod."""

    def attempted(self, ticket: Ticket, result: str, started: float) -> None:
        """An attempt ended."""


class GroupCycle:
    """Decides about whole groups; for the scheduler's own thread."""

    def __init__(
        self, outcomes: Outcomes, *, client: Client, clock: Clock, gates: Mapping[str, bool], groups: Informer | None,
        state: ClusterState, queue: SchedulingQueue, chooser: Chooser, binder: Binder, reports: Reports,
        metrics: SchedulerMetrics, explanations: Explanations,
    ) -> None:  # fmt: skip
        """Take the scheduler's parts; `groups` is None where the gate is off."""
        self._outcomes = outcomes
        self._client, self._clock, self._gates, self._groups = client, clock, gates, groups
        self._state, self._queue, self._chooser, self._binder = state, queue, chooser, binder
        self._reports, self._metrics, self._explanations = reports, metrics, explanations

    def takes(self, ticket: Ticket) -> bool:
        """Tell whether a pod is decided about with its group."""
        return self._groups is not None and group_of(ticket.pod) is not None

    def schedule(self, running: Running, first: Ticket) -> None:
        """Decide about the group of a pod that its turn has come for."""
        key = group_of(first.pod) or ("", "")
        tickets = [first, *self._queue.take_group(key)]
        try:
            self._schedule(running, key, sorted(filter(self._queue.holds, tickets), key=_order))
        except Exception:
            for other in tickets[1:]:  # the first one is the caller's
                self._state.forget(other.pod)
                self._queue.put_back(other, error=True)
            raise

    def _schedule(self, running: Running, key: GroupKey, tickets: Sequence[Ticket]) -> None:
        if not tickets:
            return
        started = self._clock.monotonic()
        group = (self._groups.get(*key) if self._groups is not None else None) or {}
        names = [str(each.pod["spec"].get("schedulerName") or DEFAULT_NAME) for each in tickets]
        other = next((name for name in names if name != names[0]), "")
        if other:
            text = "all pods in a single pod group should have the same .spec.schedulerName set"
            outcome = Outcome(Verdict.FAILED, message=f'{text}, got: "{names[0]}" and "{other}"')
        else:
            outcome = self._decided(running, key, group, tickets)
            self._metrics.group_decided(self._clock.monotonic() - started)
        self._submit(running, outcome, tickets, started)
        result, reason = _RESULTS[outcome.verdict]
        self._metrics.group(result, names[0], self._clock.monotonic() - started)
        message = WAITING if outcome.verdict is Verdict.WAITS else outcome.message
        if group:
            self._tell(key, reason, message)

    def _decided(self, running: Running, key: GroupKey, group: Object, tickets: Sequence[Ticket]) -> Outcome:
        from hyperkube_host.scheduler.podgroup.placement import GroupPlacement

        constrained = bool(self._gates.get(TOPOLOGY)) and bool((group.get("spec") or {}).get("schedulingConstraints"))
        why = NOT_PLACED if constrained else NOT_SINGLE if self._gates.get(PREEMPTION) else ""
        attempt = GroupAttempt(
            running, tickets, self._outcomes.prepare,
            state=self._state, chooser=self._chooser, binder=self._binder, why_no_room=why,
        )  # fmt: skip
        table = self._state.table()
        with table.lock:
            pods = [self._outcomes.prepare(ticket) for ticket in tickets]
        info = PodGroupInfo(key, group, pods, self._state.members(key))
        placement = GroupPlacement(running.profile, attempt, info, table)
        try:
            outcome = placement.best() if self._gates.get(TOPOLOGY) else attempt.run()
            if outcome.verdict is Verdict.REFUSED and self._gates.get(PREEMPTION):
                outcome = placement.evicting(outcome, self._chooser, constrained=constrained)
        except NoPlacement as error:
            return Outcome(Verdict.FAILED, message=str(error))
        return outcome

    def _submit(self, running: Running, outcome: Outcome, tickets: Sequence[Ticket], started: float) -> None:
        told = {each.ticket.key: each for each in outcome.tried}
        refusers = {name for each in outcome.tried for name in each.refused_by}
        held: list[Tried] = []
        for ticket in tickets:
            tried = told.get(ticket.key)
            if outcome.verdict is Verdict.FAILED:
                text = tried.message if tried is not None and tried.failed else outcome.message
                self._put_back(ticket, text, "SchedulerError", failed=True)
                self._outcomes.attempted(ticket, ERROR, started)
            elif tried is None:
                self._put_back(ticket, outcome.message, refused_by=refusers)
                self._outcomes.attempted(ticket, UNSCHEDULABLE, started)
            elif outcome.verdict is Verdict.FITS and tried.node is not None:
                if self._held(running, tried, tried.node, started):
                    held.append(tried)
            else:
                self._refuse(tried, outcome.verdict, refusers)
                self._outcomes.attempted(ticket, UNSCHEDULABLE, started)
        for tried in held:
            self._bind(running, tried, started)

    def _held(self, running: Running, tried: Tried, node: NodeName, started: float) -> bool:
        self._explain(tried)
        self._state.assume(tried.info, node)
        try:
            self._binder.reserve(running.profile, tried.info, node)
        except NotBound as refusal:
            self._outcomes.finished(tried.ticket, node, refusal, started)
            return False
        return True

    def _bind(self, running: Running, tried: Tried, started: float) -> None:
        node, ticket = tried.node or NodeName(""), tried.ticket
        try:
            self._binder.submit_reserved(
                running.profile, tried.info, node, lambda error: self._outcomes.finished(ticket, node, error, started)
            )
        except NotBound as refusal:
            self._outcomes.finished(ticket, node, refusal, started)

    def _refuse(self, tried: Tried, verdict: Verdict, refusers: set[str]) -> None:
        """Put a pod back with its own refusal, or with what became of the others."""
        waits = verdict is Verdict.WAITS and tried.node is not None
        nominated: NodeName | None = tried.node if waits else None if tried.keeps else NodeName("")
        if tried.node is None or (waits and tried.needs_room):
            message = tried.message
        else:
            message = WAITING if waits else tried.waits
        if waits and tried.node is not None:
            self._outcomes.nominate(tried.info, tried.node)
        elif not tried.keeps:
            self._state.unnominate(tried.info.key)
        tried.decision.text = message
        self._explain(tried)
        self._put_back(tried.ticket, message, refused_by=set(tried.refused_by) or refusers, nominated=nominated)

    def _put_back(
        self, ticket: Ticket, message: str, reason: str = "Unschedulable", *, refused_by: set[str] | None = None,
        nominated: NodeName | None = None, failed: bool = False,
    ) -> None:  # fmt: skip
        self._queue.put_back(ticket, refused_by=tuple(sorted(refused_by or ())), error=failed)
        self._reports.refused(ticket.pod, reason, message, nominated)

    def _explain(self, tried: Tried) -> None:
        self._explanations.record(tried.info.key, tried.decision)
        self._explanations.keep(tried.info.key, tried.decision)

    def _tell(self, key: GroupKey, reason: str, message: str) -> None:
        """Write the group's condition, beside the loop, if it says something else."""

        def write() -> None:
            group = self._groups.get(*key) if self._groups is not None else None
            patch = group and conditions.group_patch(group, reason, message, self._clock.now())
            if patch:
                self._client.patch(POD_GROUPS, key[1], patch, key[0], subresource="status")

        self._reports.later(write)


def _order(ticket: Ticket) -> tuple[int, float]:
    """Return the place of a pod among those of its group: by priority, then by age."""
    return -priority_of(ticket.pod), ticket.queued_at
