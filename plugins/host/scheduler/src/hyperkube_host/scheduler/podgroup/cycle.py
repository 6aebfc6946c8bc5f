"""The cycle of a pod group: all its pods that want a node are decided about together, then bound or put back together.

Source: kubernetes ``pkg/scheduler/schedule_one_podgroup.go`` (1.36).
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from hyperkube_host.scheduler.binding.binder import NotBound
from hyperkube_host.scheduler.metrics.metrics import (
    ERROR,
    SCHEDULED,
    UNSCHEDULABLE,
    WAITING_ON_PREEMPTION,
)
from hyperkube_host.scheduler.podgroup import conditions
from hyperkube_host.scheduler.podgroup.attempt import PodGroupAttempt, PodGroupResult, PodGroupStatus, PodResult
from hyperkube_host.scheduler.profile.profiles import DEFAULT_NAME, Profile
from hyperkube_host.scheduler.queue.scheduling_queue import QueuedPodInfo
from hyperkube_host.scheduler.schedule_one.parts import SchedulerParts
from hyperkube_host.scheduler.schedule_one.schedule_one import ScheduleOne
from hyperkube_host.scheduler.schedule_one.schedule_pod import PodScheduler

from hyperkube.client.informer import Informer
from hyperkube.hookspecs.pod_groups import GroupKey, NoPlacement, PodGroupInfo, group_of
from hyperkube.kinds.pods import priority_of
from hyperkube.kinds.resources import POD_GROUPS
from hyperkube.machinery.errors import Conflict
from hyperkube.machinery.objects import NodeName, Object

if TYPE_CHECKING:
    pass

GATES = ("GenericWorkload", "GangScheduling")
"""Feature gates, off in 1.36 unless asked for, with which groups have a cycle; the second implies the first here."""
TOPOLOGY = "TopologyAwareWorkloadScheduling"
PREEMPTION = "WorkloadAwarePreemption"
"""Further ones: placements, eviction for groups as a whole."""
WAITING = "pod group is waiting for preemption to complete"
NOT_PLACED = "preemption: not eligible due to placement-based pod group scheduling limitation"
NOT_SINGLE = "preemption: not eligible due to workload aware preemption enabled"
_RESULTS = {
    PodGroupStatus.FITS: (SCHEDULED, conditions.SCHEDULED),
    PodGroupStatus.WAITS: (WAITING_ON_PREEMPTION, conditions.UNSCHEDULABLE),
    PodGroupStatus.UNSCHEDULABLE: (UNSCHEDULABLE, conditions.UNSCHEDULABLE),
    PodGroupStatus.FAILED: (ERROR, conditions.ERROR),
}
_log = logging.getLogger("hyperkube.scheduler")


class PodGroupCycle:
    """Decides about whole groups; for the scheduler's own thread."""

    def __init__(
        self, parts: SchedulerParts, schedule_one: ScheduleOne, pod_scheduler: PodScheduler, groups: Informer | None
    ) -> None:
        """Take the scheduler's parts, the cycle of single pods, and the PodGroups: None where the gate is off."""
        self._schedule_one = schedule_one
        self._pod_scheduler = pod_scheduler
        self._groups = groups
        self._client, self._clock, self._gates = parts.client, parts.clock, parts.gates
        self._cache, self._queue, self._binder = parts.cache, parts.queue, parts.binder
        self._api_dispatcher, self._explanations = parts.api_dispatcher, parts.explanations
        self._metrics = parts.metrics

    def takes(self, queued: QueuedPodInfo) -> bool:
        """Tell whether a pod is decided about with its group."""
        return self._groups is not None and group_of(queued.pod) is not None

    def schedule(self, profile: Profile, first: QueuedPodInfo) -> None:
        """Decide about the group of a pod that its turn has come for."""
        key = group_of(first.pod) or ("", "")
        queued_pods = [first, *self._queue.pop_group(key)]
        try:
            self._schedule(profile, key, sorted(filter(self._queue.is_current, queued_pods), key=_order))
        except Exception:
            for other in queued_pods[1:]:  # the first one is the caller's
                self._cache.forget(other.pod)
                self._queue.add_unschedulable(other, error=True)
            raise

    def _schedule(self, profile: Profile, key: GroupKey, queued_pods: Sequence[QueuedPodInfo]) -> None:
        if not queued_pods:
            return
        started = self._clock.monotonic()
        group = (self._groups.get(*key) if self._groups is not None else None) or {}
        names = [str(each.pod["spec"].get("schedulerName") or DEFAULT_NAME) for each in queued_pods]
        other = next((name for name in names if name != names[0]), "")
        if other:
            text = "all pods in a single pod group should have the same .spec.schedulerName set"
            group_result = PodGroupResult(PodGroupStatus.FAILED, message=f'{text}, got: "{names[0]}" and "{other}"')
        else:
            group_result = self._schedule_group(profile, key, group, queued_pods)
            self._metrics.group_decided(self._clock.monotonic() - started)
        self._submit(profile, group_result, queued_pods, started)
        result, reason = _RESULTS[group_result.status]
        self._metrics.group(result, names[0], self._clock.monotonic() - started)
        message = WAITING if group_result.status is PodGroupStatus.WAITS else group_result.message
        if group:
            self._write_condition(key, reason, message)

    def _schedule_group(
        self, profile: Profile, key: GroupKey, group: Object, queued_pods: Sequence[QueuedPodInfo]
    ) -> PodGroupResult:
        from hyperkube_host.scheduler.podgroup.placement import PodGroupPlacement

        constrained = bool(self._gates.get(TOPOLOGY)) and bool((group.get("spec") or {}).get("schedulingConstraints"))
        why = NOT_PLACED if constrained else NOT_SINGLE if self._gates.get(PREEMPTION) else ""
        attempt = PodGroupAttempt(
            profile, queued_pods, self._schedule_one.prepare,
            cache=self._cache, pod_scheduler=self._pod_scheduler, binder=self._binder, why_no_preemption=why,
        )  # fmt: skip
        table = self._cache.table()
        with table.lock:
            pods = [self._schedule_one.prepare(queued) for queued in queued_pods]
        info = PodGroupInfo(key, group, pods, self._cache.group_members(key))
        placement = PodGroupPlacement(profile.framework, attempt, info, table)
        try:
            group_result = placement.find_best_placement() if self._gates.get(TOPOLOGY) else attempt.run()
            if group_result.status is PodGroupStatus.UNSCHEDULABLE and self._gates.get(PREEMPTION):
                group_result = placement.run_post_filter(group_result, self._pod_scheduler, constrained=constrained)
        except NoPlacement as error:
            return PodGroupResult(PodGroupStatus.FAILED, message=str(error))
        return group_result

    def _submit(
        self, profile: Profile, group_result: PodGroupResult, queued_pods: Sequence[QueuedPodInfo], started: float
    ) -> None:
        pod_results = {each.queued.key: each for each in group_result.pod_results}
        rejecters = {name for each in group_result.pod_results for name in each.unschedulable_plugins}
        reserved: list[PodResult] = []
        for queued in queued_pods:
            pod_result = pod_results.get(queued.key)
            if group_result.status is PodGroupStatus.FAILED:
                text = pod_result.message if pod_result is not None and pod_result.failed else group_result.message
                self._add_unschedulable(queued, text, "SchedulerError", failed=True)
                self._schedule_one.attempted(queued, ERROR, started)
            elif pod_result is None:
                self._add_unschedulable(queued, group_result.message, plugins=rejecters)
                self._schedule_one.attempted(queued, UNSCHEDULABLE, started)
            elif group_result.status is PodGroupStatus.FITS and pod_result.node is not None:
                if self._assume_and_reserve(profile, pod_result, pod_result.node, started):
                    reserved.append(pod_result)
            else:
                self._reject(pod_result, group_result.status, rejecters)
                self._schedule_one.attempted(queued, UNSCHEDULABLE, started)
        for pod_result in reserved:
            self._bind(profile, pod_result, started)

    def _assume_and_reserve(self, profile: Profile, pod_result: PodResult, node: NodeName, started: float) -> bool:
        self._explain(pod_result)
        self._cache.assume(pod_result.info, node)
        try:
            self._binder.reserve(profile.framework, pod_result.info, node)
        except NotBound as error:
            self._schedule_one.binding_finished(pod_result.queued, node, error, started)
            return False
        return True

    def _bind(self, profile: Profile, pod_result: PodResult, started: float) -> None:
        node, queued = pod_result.node or NodeName(""), pod_result.queued

        def finished(error: NotBound | None) -> None:
            self._schedule_one.binding_finished(queued, node, error, started)

        try:
            self._binder.submit_reserved(profile.framework, pod_result.info, node, finished)
        except NotBound as error:
            self._schedule_one.binding_finished(queued, node, error, started)

    def _reject(self, pod_result: PodResult, status: PodGroupStatus, rejecters: set[str]) -> None:
        """Put a pod back with why it was rejected itself, or with what became of the others."""
        waits = status is PodGroupStatus.WAITS and pod_result.node is not None
        nominated: NodeName | None = pod_result.node if waits else None if pod_result.noop else NodeName("")
        if pod_result.node is None or (waits and pod_result.requires_preemption):
            message = pod_result.message
        else:
            message = WAITING if waits else pod_result.waits
        if waits and pod_result.node is not None:
            self._schedule_one.nominate(pod_result.info, pod_result.node)
        elif not pod_result.noop:
            self._cache.unnominate(pod_result.info.key)
        pod_result.result.text = message
        self._explain(pod_result)
        self._add_unschedulable(
            pod_result.queued, message, plugins=pod_result.unschedulable_plugins or rejecters, nominated=nominated
        )

    def _add_unschedulable(
        self,
        queued: QueuedPodInfo,
        message: str,
        reason: str = "Unschedulable",
        *,
        plugins: Collection[str] = (),
        nominated: NodeName | None = None,
        failed: bool = False,
    ) -> None:
        self._queue.add_unschedulable(queued, unschedulable_plugins=tuple(sorted(plugins)), error=failed)
        self._api_dispatcher.record_failure(queued.pod, reason, message, nominated)

    def _explain(self, pod_result: PodResult) -> None:
        self._explanations.record(pod_result.info.key, pod_result.result)
        self._explanations.persist(pod_result.info.key, pod_result.result)

    def _write_condition(self, key: GroupKey, reason: str, message: str) -> None:
        """Write the group's condition, beside the loop, if it says something else.

        Two writes may come close together, and the second must not undo a success that the informer has not seen: each
        is of the version that was looked at, or looks again.
        """

        def write() -> None:
            group = self._groups.get(*key) if self._groups is not None else None
            while group and (patch := conditions.group_patch(group, reason, message, self._clock.now())):
                version = {"resourceVersion": group["metadata"]["resourceVersion"]}
                try:
                    self._client.patch(POD_GROUPS, key[1], {**patch, "metadata": version}, key[0], subresource="status")
                except Conflict:
                    group = self._client.get(POD_GROUPS, key[1], key[0])
                else:
                    return

        self._api_dispatcher.add(f"pod group {key[0]}/{key[1]}", write)


def _order(queued: QueuedPodInfo) -> tuple[int, float]:
    """Return the place of a pod among those of its group: by priority, then by age."""
    return -priority_of(queued.pod), queued.queued_at
