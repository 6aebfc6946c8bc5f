"""What the controller tells of jobs at ``/metrics``.

Source of names, labels and meanings: kubernetes ``pkg/controller/job/metrics/metrics.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hyperkube_controller.job.failed_indexes import has_limit_per_index
from hyperkube_controller.job.indexes import read_indexes
from hyperkube_controller.job.pods import FINALIZER, is_indexed, is_managed_elsewhere
from hyperkube_lib.controller_metrics import ControllerMetrics

from hyperkube.kinds.conditions import condition
from hyperkube.kinds.pods import is_terminal
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.metric_families import Counter, Histogram, growing
from hyperkube.machinery.objects import Object, has_finalizer

if TYPE_CHECKING:
    from hyperkube_controller.job.decision import Decision
    from hyperkube_controller.job.sync_context import SyncContext

_SYNC = ("completion_mode", "result", "action")
_BUCKETS = growing(0.004, 2, 15)
"""Seconds: 4 ms to 65 s."""


@dataclass(slots=True)
class Measured:
    """What a sync did: ``reconciling``, ``tracking``, ``pods_created`` or ``pods_deleted``."""

    action: str = "reconciling"


def action_of(decision: Decision) -> str:
    """Return what a decision amounts to."""
    if not decision.managed:
        return "reconciling"
    if decision.create:
        return "pods_created"
    return "pods_deleted" if decision.delete else "tracking"


class JobMetrics(ControllerMetrics):
    """Counts; thread-safe."""

    def __init__(self) -> None:
        prefix = "job_controller_"
        self._durations = Histogram(
            f"{prefix}job_sync_duration_seconds", "The time it took to sync a job", _BUCKETS, _SYNC
        )
        self._syncs = Counter(f"{prefix}job_syncs", "The number of job syncs", _SYNC)
        self._finished = Counter(
            f"{prefix}jobs_finished", "The number of finished jobs", ("completion_mode", "result", "reason")
        )
        self._pods_finished = Counter(
            f"{prefix}job_pods_finished",
            "The number of finished pods that are fully tracked",
            ("completion_mode", "result"),
        )
        self._indexes = Counter(
            f"{prefix}job_finished_indexes", "The number of finished indexes", ("status", "backoffLimit")
        )
        self._created = Counter(f"{prefix}job_pods_creation", "The number of pods created", ("reason", "status"))
        self._tracking = Counter(
            f"{prefix}terminated_pods_tracking_finalizer",
            "The number of ended pods on which the finalizer for tracking was seen, and from which it was taken",
            ("event",),
        )
        self._external = Counter(
            f"{prefix}jobs_by_external_controller",
            "The number of jobs that are left to another controller",
            ("controller_name",),
        )
        self._policy_actions = Counter(
            f"{prefix}pod_failures_handled_by_failure_policy",
            "The number of failed pods by what the pod failure policy made of them",
            ("action",),
        )
        self._stale = Counter(f"{prefix}stale_sync_skips", "The number of syncs skipped while the cache was behind")

        super().__init__(
            self._durations, self._syncs, self._finished, self._pods_finished, self._indexes, self._created,
            self._tracking, self._external, self._policy_actions, self._stale,
        )  # fmt: skip

    @contextmanager
    def sync(self, job: Object, clock: Clock) -> Iterator[Measured]:
        """Measure the sync of a job that has not finished; what it did is written into the result."""
        measured, begun, result = Measured(), clock.monotonic(), "error"
        try:
            yield measured
            result = "success"
        finally:
            labels = (_mode(job), result, measured.action)
            self.add(self._syncs, labels)
            self.observe(self._durations, clock.monotonic() - begun, labels)

    def status_written(self, job: Object, before: Object, status: Object) -> None:
        """Count what a new status has that the one before had not: pods, indexes, the end.

        With indexes those count that are below the completions, which may have been lowered.
        """
        mode = _mode(job)
        grown = status.get("succeeded", 0) - before.get("succeeded", 0)
        if is_indexed(job):
            limit = "perIndex" if has_limit_per_index(job) else "global"
            grown = _indexes(job, status, "completedIndexes") - _indexes(job, before, "completedIndexes")
            self.add(self._indexes, ("succeeded", limit), grown)
            failed = _indexes(job, status, "failedIndexes") - _indexes(job, before, "failedIndexes")
            self.add(self._indexes, ("failed", limit), max(0, failed))
        self.add(self._pods_finished, (mode, "succeeded"), grown)
        self.add(self._pods_finished, (mode, "failed"), status.get("failed", 0) - before.get("failed", 0))
        for end, result in (("Complete", "succeeded"), ("Failed", "failed")):
            now = condition(status, end)
            if now is not None and now["status"] == "True" and condition(before, end) is None:
                self.add(self._finished, (mode, result, now.get("reason", "")))

    def pods_created(self, job: Object, count: SyncContext, created: int, refused: int) -> None:
        """Count the pods that were created in a sync, and why, and those that could not be."""
        reason = "new"
        if (job.get("spec") or {}).get("podReplacementPolicy") == "Failed" and count.failed:
            reason = "recreate_failed"
        elif count.failed or count.terminating:
            reason = "recreate_terminating_or_failed"
        self.add(self._created, (reason, "succeeded"), created)
        self.add(self._created, (reason, "failed"), refused)

    def seen(self, pod: Object, old: Object | None = None) -> None:
        """Count a pod that has ended and still waits to be tracked, the first time it is seen so."""
        ended = is_terminal(pod) and has_finalizer(pod, FINALIZER)
        if ended and not (old is not None and is_terminal(old)):
            self.add(self._tracking, ("add",))

    def released(self, pod: Object) -> None:
        """Count a pod that has lost the finalizer for tracking."""
        if is_terminal(pod):
            self.add(self._tracking, ("delete",))

    def by_external_controller(self, job: Object) -> None:
        """Count a job that is seen for the first time, where another controller manages it."""
        if is_managed_elsewhere(job):
            self.add(self._external, (job["spec"]["managedBy"],))

    def handled_by_failure_policy(self, actions: Iterable[str]) -> None:
        """Count failed pods by the action of the rule that matched each."""
        for action in actions:
            self.add(self._policy_actions, (action,))

    def stale(self) -> None:
        """Count a sync that waits for the cache."""
        self.add(self._stale)


def _mode(job: Object) -> str:
    return "Indexed" if is_indexed(job) else "NonIndexed"


def _indexes(job: Object, status: Object, key: str) -> int:
    return len(read_indexes(status.get(key) or "", job["spec"].get("completions") or 0))
