"""Tries to place a group's pods one after another and takes everything back: what would come of it is left.

Source: kubernetes ``pkg/scheduler/schedule_one_podgroup.go`` (podGroupSchedulingDefaultAlgorithm and
podGroupPodSchedulingAlgorithm), 1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from hyperkube_host.scheduler.binding.binder import Binder, NotBound
from hyperkube_host.scheduler.cache.cache import SchedulerCache
from hyperkube_host.scheduler.profile.profiles import Profile
from hyperkube_host.scheduler.queue.scheduling_queue import QueuedPodInfo
from hyperkube_host.scheduler.schedule_one.schedule_pod import PodScheduler

from hyperkube.hookspecs.scheduling import Nomination
from hyperkube.machinery.objects import NodeName

if TYPE_CHECKING:
    from hyperkube_host.scheduler.cache.pod_info import PreparedPod
    from hyperkube_host.scheduler.framework.schedule_result import ScheduleResult

    from hyperkube.hookspecs.node_table import Mask

Prepare = Callable[[QueuedPodInfo], "PreparedPod"]


class PodGroupStatus(Enum):
    """What came of trying a whole group."""

    FITS = "fits"
    WAITS = "waits"
    """It will fit once evicted pods are gone."""
    UNSCHEDULABLE = "unschedulable"
    FAILED = "failed"
    """For a reason that has nothing to do with the cluster's cache."""


@dataclass(slots=True)
class PodResult:
    """What came of one pod.

    Attributes:
        node: where it would go, perhaps once there is room; None: nowhere.
        message: why nowhere, or why not yet.
        unschedulable_plugins: the plugins that said no.
        waits: what a permit plugin waits for; empty: the pod may be bound.
        needs_room: it fits once evicted pods are gone.
        keeps: an earlier nomination stays as it is.
        failed: for a reason that has nothing to do with the cluster's cache.
        before: where room was being made for it before.
    """

    queued: QueuedPodInfo
    info: PreparedPod
    result: ScheduleResult
    node: NodeName | None = None
    message: str = ""
    unschedulable_plugins: tuple[str, ...] = ()
    waits: str = ""
    needs_room: bool = False
    keeps: bool = False
    failed: bool = False
    before: NodeName | None = None


@dataclass(slots=True)
class PodGroupResult:
    """What came of a group, pod by pod; after a failure only of the first ones."""

    status: PodGroupStatus
    tried: list[PodResult] = field(default_factory=list)
    message: str = ""

    def assignments(self) -> dict[str, NodeName]:
        """Return who would go where."""
        return {each.info.key: each.node for each in self.tried if each.node is not None}


class PodGroupAttempt:
    """Tries one group with one profile; for the scheduler's own thread."""

    def __init__(
        self, profile: Profile, queued_pods: Sequence[QueuedPodInfo], prepare: Prepare,
        *, cache: SchedulerCache, pod_scheduler: PodScheduler, binder: Binder, why_no_preemption: str = "",
    ) -> None:  # fmt: skip
        """Take the parts.

        Args:
            profile: the profile.
            queued_pods: the pods, in the order in which they are tried.
            prepare: makes a pod ready to be decided about; the table's lock is held.
            cache: what is known of the cluster.
            pod_scheduler: decides about one pod.
            binder: asks reserve plugins.
            why_no_preemption: why no room is made for single pods; empty: it is made.
        """
        self._profile = profile
        self._tickets = queued_pods
        self._prepare = prepare
        self._cache = cache
        self._pod_scheduler = pod_scheduler
        self._binder = binder
        self._why_no_room = why_no_preemption

    def run(self, among: Mask | None = None, *, evicts: bool = True) -> PodGroupResult:
        """Try all pods, and take everything back.

        Args:
            among: the nodes to choose from; None means all.
            evicts: whether to make room for single pods.
        """
        tried: list[PodResult] = []
        try:
            for queued in self._tickets:
                tried.append(self._place(queued, among, evicts=evicts))
                if tried[-1].failed:
                    text = f"failed to schedule other pod from a pod group: {tried[-1].message}"
                    return PodGroupResult(PodGroupStatus.FAILED, tried, text)
        finally:
            for each in reversed(tried):
                self._revert(each)
        return PodGroupResult(status(tried), tried)

    def _place(self, queued: QueuedPodInfo, among: Mask | None, *, evicts: bool) -> PodResult:
        before = self._cache.nominated_node(queued.key)
        with self._cache.table().lock:
            info = self._prepare(queued)
            result = self._pod_scheduler.schedule_pod(self._profile, info, among)
            tried = PodResult(queued, info, result, result.node, before=before)
            if result.node is not None:
                self._cache.assume(info, result.node)
        if result.node is None:
            self._run_post_filters(tried, evicts=evicts)
        if tried.node is not None:
            self._reserve(tried, tried.node)
        return tried

    def _run_post_filters(self, tried: PodResult, *, evicts: bool) -> None:
        tried.unschedulable_plugins = tuple(tried.result.rejected)
        if evicts and not self._why_no_room:
            nomination = self._pod_scheduler.run_post_filters(self._profile, tried.info, tried.result)
        else:
            nomination = Nomination(None, self._why_no_room)
        tried.message, tried.keeps = tried.result.close(nomination.message), nomination.keeps
        if nomination.node is not None:
            tried.node, tried.needs_room = nomination.node, True
            self._cache.assume(tried.info, nomination.node)

    def _reserve(self, tried: PodResult, node: NodeName) -> None:
        """Reserve, and ask for permission; what is refused is given back."""
        framework = self._profile.framework
        try:
            self._binder.reserve(framework, tried.info, node)
        except NotBound as error:
            self._reject(tried, error)
            return
        for name, plugin in framework.permits:
            permission = plugin.permit(tried.info, node)
            if permission.wait_seconds:
                tried.waits = tried.waits or permission.reason or f"permit plugin {name!r} waits"
            elif not permission.allowed:
                self._binder.unreserve(framework, tried.info, node)
                text = f"permit plugin {name!r}: {permission.reason}"
                self._reject(tried, NotBound(text, rejected=True, plugin=name))
                return

    def _reject(self, tried: PodResult, error: NotBound) -> None:
        self._cache.forget(tried.info.pod)
        self._renominate(tried)
        tried.node, tried.needs_room = None, False
        tried.message, tried.failed = str(error), not error.rejected
        tried.unschedulable_plugins = (error.plugin,) if error.plugin else ()

    def _revert(self, tried: PodResult) -> None:
        if tried.node is not None:
            self._binder.unreserve(self._profile.framework, tried.info, tried.node)
            self._cache.forget(tried.info.pod)
            self._renominate(tried)

    def _renominate(self, tried: PodResult) -> None:
        if tried.before is not None:
            self._cache.nominate(tried.info.pod, tried.before, tried.info.priority)


def status(tried: Iterable[PodResult]) -> PodGroupStatus:
    """Tell what is to be done with the group: it fits as soon as permission is given to any of its pods."""
    found, needs_room = PodGroupStatus.UNSCHEDULABLE, False
    for each in tried:
        if each.node is not None:
            needs_room = needs_room or each.needs_room
            if not each.waits:
                found = PodGroupStatus.WAITS if needs_room else PodGroupStatus.FITS
    return found
