"""One pod's decision, and the attempt to make room for it, in a table that also shows for whom else room is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hyperkube_host.scheduler.cache.cache import ClusterState
from hyperkube_host.scheduler.metrics.metrics import SchedulerMetrics
from hyperkube_host.scheduler.metrics.point_times import PointTimes
from hyperkube_host.scheduler.profile.profiles import DEFAULT_NAME, Running

from hyperkube.hookspecs.scheduling import Nomination

if TYPE_CHECKING:
    from hyperkube_host.scheduler.cache.pod_info import QueuedPod
    from hyperkube_host.scheduler.framework.algorithm import Survey
    from hyperkube_host.scheduler.framework.schedule_result import Decision

    from hyperkube.hookspecs.node_table import Mask

ELSEWHERE = "node(s) are not in the placement of the pod group"


class Chooser:
    """Asks a profile's algorithm and post-filter plugins; for the scheduler's own thread."""

    def __init__(self, state: ClusterState, metrics: SchedulerMetrics) -> None:
        self._state = state
        self._metrics = metrics

    def decide(self, running: Running, info: QueuedPod, among: Mask | None = None) -> Decision:
        """Decide for a node that does with and without the pods for which room is being made there.

        The caller holds the table's lock. `among`: the nodes to choose from; None means all.
        """
        table = self._state.table()
        with self._state.guests(info.key, info.priority) as any_there:
            survey = running.algorithm.survey(info, table) if any_there else None
        if among is not None:
            survey = _limited(survey, among)
        return running.algorithm.decide(info, table, survey, self._state.nominated_node(info.key))

    def make_room(self, running: Running, info: QueuedPod, decision: Decision) -> Nomination:
        """Let the post-filter plugins decide with the table locked, and act without."""
        from hyperkube_host.scheduler.schedule_one.dry_run import TableTrial

        table = self._state.table()
        outcome = Nomination(None)
        laps = PointTimes(self._metrics, str(info.pod["spec"].get("schedulerName") or DEFAULT_NAME))
        laps.begin()
        for name, plugin in running.profile.post_filters:
            laps.mark()
            with table.lock, self._state.guests(info.key, info.priority):
                trial = TableTrial(info, table, running.algorithm, running.profile.filters)
                try:
                    answer = plugin.post_filter(info, table, decision.refused, trial)
                finally:
                    trial.restore()
            outcome = self.act(answer)
            if laps.samples:
                laps.note(name, "PostFilter", outcome)
            if outcome.node is not None:
                break
        laps.lap("PostFilter", "Success" if outcome.node is not None else "Unschedulable")
        return outcome

    def act(self, answer: Callable[[], Nomination] | Nomination) -> Nomination:
        """Do what a post-filter plugin decided, and count it."""
        outcome = self._evict(answer) if callable(answer) else answer
        self._metrics.preempted(outcome.victims)
        return outcome

    def _evict(self, act: Callable[[], Nomination]) -> Nomination:
        since, result = self._metrics.clock.monotonic(), "error"
        try:
            outcome = act()
            result = "success"
        finally:
            self._metrics.evicted(result, self._metrics.clock.monotonic() - since)
        return outcome


def _limited(survey: Survey | None, among: Mask) -> Survey:
    """Return the survey with all other nodes refused too."""
    from hyperkube_host.scheduler.framework.algorithm import Survey

    from hyperkube.hookspecs.scheduling import Filtered

    refusals = dict(survey.refusals) if survey is not None else {}
    if not among.all():
        refusals["PlacementGenerate"] = Filtered(among, {ELSEWHERE: ~among}, ~among)
    return Survey(among if survey is None else among & survey.feasible, refusals)
