"""One pod's decision, and the attempt to make room for it, in a table that also shows for whom else room is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hyperkube_host.scheduler.cache.cache import SchedulerCache
from hyperkube_host.scheduler.metrics.metrics import SchedulerMetrics
from hyperkube_host.scheduler.metrics.point_times import PointTimes
from hyperkube_host.scheduler.profile.profiles import DEFAULT_NAME, Profile
from hyperkube_lib.scheduling.preparation import Preparation

from hyperkube.hookspecs.scheduling import PostFilterResult

if TYPE_CHECKING:
    from hyperkube_host.scheduler.cache.pod_info import PreparedPod
    from hyperkube_host.scheduler.framework.algorithm import FilterResult
    from hyperkube_host.scheduler.framework.schedule_result import ScheduleResult

    from hyperkube.hookspecs.node_table import Mask

ELSEWHERE = "node(s) are not in the placement of the pod group"


class PodScheduler:
    """Asks a profile's algorithm and post-filter plugins; for the scheduler's own thread."""

    def __init__(self, cache: SchedulerCache, metrics: SchedulerMetrics) -> None:
        self._cache = cache
        self._metrics = metrics

    def schedule_pod(self, profile: Profile, info: PreparedPod, among: Mask | None = None) -> ScheduleResult:
        """Decide for a node that does with and without the pods for which room is being made there.

        The caller holds the table's lock. `among`: the nodes to choose from; None means all.
        """
        table = self._cache.table()
        with self._cache.with_nominated_pods(info.key, info.priority) as any_there:
            filtered = profile.algorithm.run_filters(info, table) if any_there else None
        if among is not None:
            filtered = _limited(filtered, among)
        return profile.algorithm.schedule(info, table, filtered, self._cache.nominated_node(info.key))

    def run_post_filters(self, profile: Profile, info: PreparedPod, result: ScheduleResult) -> PostFilterResult:
        """Let the post-filter plugins decide with the table locked, and act without."""
        answer = self.ask_post_filters(profile, info, result)
        return self.execute(answer) if isinstance(answer, Preparation) else answer

    def ask_post_filters(
        self, profile: Profile, info: PreparedPod, result: ScheduleResult
    ) -> Preparation | PostFilterResult:
        """Let the post-filter plugins decide; what is a `Preparation` is left to the caller to `execute`."""
        from hyperkube_host.scheduler.schedule_one.dry_run import NodeTableDryRun

        table = self._cache.table()
        nomination, prepared = PostFilterResult(None), None
        timer = PointTimes(self._metrics, str(info.pod["spec"].get("schedulerName") or DEFAULT_NAME))
        timer.begin()
        for name, plugin in profile.framework.post_filters:
            timer.start_plugins()
            with table.lock, self._cache.with_nominated_pods(info.key, info.priority):
                dry_run = NodeTableDryRun(info, table, profile.algorithm, profile.framework.filters)
                try:
                    answer = plugin.post_filter(info, table, result.rejected, dry_run)
                finally:
                    dry_run.restore()
            if isinstance(answer, Preparation):
                nomination, prepared = answer.expected, answer
            else:
                nomination = self.execute(answer)
            if timer.samples_plugins:
                timer.observe_plugin(name, "PostFilter", nomination)
            if nomination.node is not None:
                break
        timer.observe_point("PostFilter", "Success" if nomination.node is not None else "Unschedulable")
        return prepared or nomination

    def execute(self, answer: Callable[[], PostFilterResult] | PostFilterResult) -> PostFilterResult:
        """Do what a post-filter plugin decided, and count it."""
        nomination = self._evict(answer) if callable(answer) else answer
        self._metrics.preempted(nomination.victims)
        return nomination

    def _evict(self, act: Callable[[], PostFilterResult]) -> PostFilterResult:
        since, result = self._metrics.clock.monotonic(), "error"
        try:
            nomination = act()
            result = "success"
        finally:
            self._metrics.evicted(result, self._metrics.clock.monotonic() - since)
        return nomination


def _limited(filtered: FilterResult | None, among: Mask) -> FilterResult:
    """Return the filtered with all other nodes refused too."""
    from hyperkube_host.scheduler.framework.algorithm import FilterResult

    from hyperkube.hookspecs.scheduling import Filtered

    rejections = dict(filtered.rejections) if filtered is not None else {}
    if not among.all():
        rejections["PlacementGenerate"] = Filtered(among, {ELSEWHERE: ~among}, ~among)
    return FilterResult(among if filtered is None else among & filtered.feasible, rejections)
