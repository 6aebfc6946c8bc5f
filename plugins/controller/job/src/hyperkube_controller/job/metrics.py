"""What the controller tells of jobs at ``/metrics``.

Source of names, labels and meanings: kubernetes ``pkg/controller/job/metrics/metrics.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from hyperkube_controller.job.decision import Decision, NewPod
from hyperkube_controller.job.failed_indexes import has_limit_per_index
from hyperkube_controller.job.indexes import read_indexes
from hyperkube_controller.job.pods import FINALIZER, is_indexed, only_replaces_failed
from hyperkube_lib.controller_metrics import ControllerMetrics

from hyperkube.kinds.conditions import condition
from hyperkube.kinds.pods import is_terminal
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.metric_families import Counter, Histogram, growing
from hyperkube.machinery.objects import Object, has_finalizer

_SYNC = ("completion_mode", "result", "action")
_BUCKETS = growing(0.004, 2, 15)
"""Seconds: 4 ms to 65 s."""


@dataclass(slots=True)
class Measured:
    """What a sync did: ``reconciling``, ``tracking``, ``pods_created`` or ``pods_deleted``."""

    action: str = "reconciling"


def action_of(decision: Decision) -> str:
    """Return what a decision amounts to."""
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
            "The number of syncs of jobs that are left to another controller",
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
    def sync(self, job: Object | None, clock: Clock) -> Iterator[Measured]:
        """Measure a sync; what it did is written into the result. One of a job that is gone is not counted."""
        measured, begun, result = Measured(), clock.monotonic(), "error"
        try:
            yield measured
            result = "success"
        finally:
            if job is not None:
                labels = (_mode(job), result, measured.action)
                self.add(self._syncs, labels)
                self.observe(self._durations, clock.monotonic() - begun, labels)

    def status_written(self, job: Object, status: Object) -> None:
        """Count what the new status has that the old one had not: pods, indexes, the end."""
        before: Object = job.get("status") or {}
        mode = _mode(job)
        for key in ("succeeded", "failed"):
            self.add(self._pods_finished, (mode, key), status.get(key, 0) - before.get(key, 0))
        if is_indexed(job):
            limit = "perIndex" if has_limit_per_index(job) else "global"
            for result, key in (("succeeded", "completedIndexes"), ("failed", "failedIndexes")):
                grown = _indexes(job, status, key) - _indexes(job, before, key)
                self.add(self._indexes, (result, limit), grown)
        for end, result in (("Complete", "succeeded"), ("Failed", "failed")):
            now = condition(status, end)
            if now is not None and now["status"] == "True" and condition(before, end) is None:
                self.add(self._finished, (mode, result, now.get("reason", "")))

    def pods_created(self, job: Object, pods: Sequence[NewPod], failures: Sequence[Exception]) -> None:
        """Count pods that were created, and why, and those that could not be."""
        for place, pod in enumerate(pods):
            reason = "new"
            if pod.replaced is not None or (job.get("status") or {}).get("failed"):
                reason = "recreate_failed" if only_replaces_failed(job) else "recreate_terminating_or_failed"
            is_failure = place >= len(pods) - len(failures)
            self.add(self._created, (reason, "failed" if is_failure else "succeeded"))

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
        """Count a job that another controller manages."""
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
