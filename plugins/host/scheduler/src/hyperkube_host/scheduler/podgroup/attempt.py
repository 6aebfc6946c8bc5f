"""Tries to place a group's pods one after another and takes everything back: what would come of it is left.

Source: kubernetes ``pkg/scheduler/schedule_one_podgroup.go`` (podGroupSchedulingDefaultAlgorithm and
podGroupPodSchedulingAlgorithm), 1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from enum import Enum
from typing import TYPE_CHECKING

from hyperkube_host.scheduler.binding.binder import Binder, NotBound
from hyperkube_host.scheduler.cache.cache import SchedulerCache
from hyperkube_host.scheduler.profile.profiles import Profile
from hyperkube_host.scheduler.queue.scheduling_queue import QueuedPodInfo
from hyperkube_host.scheduler.schedule_one.schedule_pod import PodScheduler

from hyperkube.hookspecs.scheduling import PostFilterResult
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import NodeName

if TYPE_CHECKING:
    from hyperkube_host.scheduler.cache.pod_info import PreparedPod
    from hyperkube_host.scheduler.framework.schedule_result import ScheduleResult

    from hyperkube.hookspecs.node_table import Mask

Prepare = Callable[[QueuedPodInfo], "PreparedPod"]


class PodGroupStatus(Enum):
    """What came of scheduling a whole group."""

    FITS = "fits"
    WAITS = "waits"
    """It will fit once the preempted pods are gone."""
    UNSCHEDULABLE = "unschedulable"
    FAILED = "failed"
    """For a reason that has nothing to do with the cluster's cache."""


@dataclass(slots=True)
class PodResult:
    """What came of one pod.

    Attributes:
        node: the node that it would get, perhaps after preemption; None: there is none.
        message: why there is no node, or none yet.
        unschedulable_plugins: the plugins that rejected it.
        waits: what a permit plugin waits for; empty: the pod may be bound.
        requires_preemption: it fits once the preempted pods are gone.
        noop: an earlier nomination stays as it is.
        failed: for a reason that has nothing to do with the cluster's cache.
        nominated_before: the node it was nominated for before.
    """

    queued: QueuedPodInfo
    info: PreparedPod
    result: ScheduleResult
    node: NodeName | None = None
    message: str = ""
    unschedulable_plugins: tuple[str, ...] = ()
    waits: str = ""
    requires_preemption: bool = False
    noop: bool = False
    failed: bool = False
    nominated_before: NodeName | None = None


@dataclass(slots=True)
class PodGroupResult:
    """What came of a group, pod by pod; after a failure only of the first ones."""

    status: PodGroupStatus
    pod_results: list[PodResult] = field(default_factory=list)
    message: str = ""

    def assignments(self) -> dict[str, NodeName]:
        """Return the nodes of the pods that have one, by pod."""
        return {each.info.key: each.node for each in self.pod_results if each.node is not None}


class PodGroupAttempt:
    """Schedules one group with one profile; for the scheduler's own thread."""

    def __init__(
        self, profile: Profile, queued_pods: Sequence[QueuedPodInfo], prepare: Prepare,
        *, cache: SchedulerCache, pod_scheduler: PodScheduler, binder: Binder, why_no_preemption: str = "",
    ) -> None:  # fmt: skip
        """Take the parts.

        Args:
            profile: the profile.
            queued_pods: the pods, in the order in which they are scheduled.
            prepare: makes a pod ready to be decided about; the table's lock is held.
            cache: what is known of the cluster.
            pod_scheduler: decides about one pod.
            binder: asks reserve plugins.
            why_no_preemption: why there is no preemption for single pods; empty: there is.
        """
        self._profile = profile
        self._queued_pods = queued_pods
        self._prepare = prepare
        self._cache = cache
        self._pod_scheduler = pod_scheduler
        self._binder = binder
        self._why_no_preemption = why_no_preemption

    def run(self, among: Mask | None = None, *, evicts: bool = True) -> PodGroupResult:
        """Schedule all pods, and take everything back.

        Args:
            among: the nodes to choose from; None means all.
            evicts: whether to preempt for single pods.
        """
        pod_results: list[PodResult] = []
        try:
            for queued in self._queued_pods:
                pod_results.append(self._place(queued, among, evicts=evicts))
                if pod_results[-1].failed:
                    text = f"failed to schedule other pod from a pod group: {pod_results[-1].message}"
                    return PodGroupResult(PodGroupStatus.FAILED, pod_results, text)
        finally:
            for each in reversed(pod_results):
                self._revert(each)
        return PodGroupResult(status(pod_results), pod_results)

    def _place(self, queued: QueuedPodInfo, among: Mask | None, *, evicts: bool) -> PodResult:
        before = self._cache.nominated_node(queued.key)
        with self._cache.table().lock:
            info = self._prepare(queued)
            result = self._pod_scheduler.schedule_pod(self._profile, info, among)
            pod_result = PodResult(queued, info, result, result.node, nominated_before=before)
            if result.node is not None:
                self._cache.assume(info, result.node)
        if result.node is None:
            self._run_post_filters(pod_result, evicts=evicts)
        if pod_result.node is not None:
            self._reserve(pod_result, pod_result.node)
        return pod_result

    def _run_post_filters(self, pod_result: PodResult, *, evicts: bool) -> None:
        pod_result.unschedulable_plugins = tuple(pod_result.result.rejected)
        if evicts and not self._why_no_preemption:
            nomination = self._pod_scheduler.run_post_filters(self._profile, pod_result.info, pod_result.result)
        else:
            nomination = PostFilterResult(None, self._why_no_preemption)
        pod_result.message, pod_result.noop = pod_result.result.close(nomination.message), nomination.noop
        if nomination.node is not None:
            pod_result.node, pod_result.requires_preemption = nomination.node, True
            self._cache.assume(pod_result.info, nomination.node)

    def _reserve(self, pod_result: PodResult, node: NodeName) -> None:
        """Run reserve and permit plugins; what is rejected is unreserved."""
        framework = self._profile.framework
        try:
            self._binder.reserve(framework, pod_result.info, node)
        except NotBound as error:
            self._reject(pod_result, error)
            return
        for name, plugin in framework.permits:
            permission = plugin.permit(pod_result.info, node)
            if permission.wait_seconds:
                pod_result.waits = pod_result.waits or permission.reason or f"permit plugin {name!r} waits"
            elif not permission.allowed:
                self._binder.unreserve(framework, pod_result.info, node)
                text = f"permit plugin {name!r}: {permission.reason}"
                self._reject(pod_result, NotBound(text, rejected=True, plugin=name))
                return

    def _reject(self, pod_result: PodResult, error: NotBound) -> None:
        self._cache.forget(pod_result.info.pod)
        self._renominate(pod_result)
        pod_result.node, pod_result.requires_preemption = None, False
        pod_result.message, pod_result.failed = str(error), not error.rejected
        pod_result.unschedulable_plugins = (error.plugin,) if error.plugin else ()

    def _revert(self, pod_result: PodResult) -> None:
        if pod_result.node is not None:
            self._binder.unreserve(self._profile.framework, pod_result.info, pod_result.node)
            self._cache.forget(pod_result.info.pod)
            self._renominate(pod_result)

    def _renominate(self, pod_result: PodResult) -> None:
        if pod_result.nominated_before is not None:
            self._cache.nominate(pod_result.info.pod, pod_result.nominated_before, pod_result.info.priority)


def status(pod_results: Iterable[PodResult]) -> PodGroupStatus:
    """Tell what is to be done with the group: it fits as soon as permission is given to any of its pods."""
    found, requires_preemption = PodGroupStatus.UNSCHEDULABLE, False
    for each in pod_results:
        if each.node is not None:
            requires_preemption = requires_preemption or each.requires_preemption
            if not each.waits:
                found = PodGroupStatus.WAITS if requires_preemption else PodGroupStatus.FITS
    return found
