"""Counting a job's pods: active, ready, succeeded, failed, each ended pod exactly once.

A pod keeps the finalizer ``batch.kubernetes.io/job-tracking`` until it was counted. Ended pods are first noted by uid
in ``status.uncountedTerminatedPods``, then lose the finalizer, then move into the counters: so a pod that is deleted,
or a controller that restarts in between, changes no count.
Source: kubernetes ``pkg/controller/job/tracking_utils.go`` and ``job_controller.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from hyperkube_controller.job.indexes import index_of, read_indexes

from hyperkube.kinds.pods import is_ready, is_terminal, phase
from hyperkube.machinery.objects import Object, has_finalizer, is_being_deleted, metadata, uid_of
from hyperkube.machinery.times import parse_time

FINALIZER = "batch.kubernetes.io/job-tracking"


def has_succeeded(pod: Object) -> bool:
    """Tell whether the pod ended well."""
    return phase(pod) == "Succeeded"


def has_failed(pod: Object) -> bool:
    """Tell whether the pod counts as failed: it ended badly, or is being deleted before it ended."""
    return phase(pod) == "Failed" or (is_being_deleted(pod) and not has_succeeded(pod))


def is_tracked(pod: Object) -> bool:
    """Tell whether the pod still waits to be counted."""
    return has_finalizer(pod, FINALIZER)


def is_indexed(job: Object) -> bool:
    """Tell whether each completion has an index."""
    return (job.get("spec") or {}).get("completionMode") == "Indexed"


@dataclass(slots=True)
class Tally:
    """What a job's pods amount to.

    Attributes:
        active: pods that run or wait.
        succeeded: how many succeeded in all, noted or counted.
        failed: how many failed in all.
        completed: the indexes that are done (indexed jobs).
        noted_succeeded: uids to be noted as succeeded, not counted yet.
        noted_failed: uids to be noted as failed.
        to_release: tracked pods that are noted: they may lose the finalizer once the status is written.
        counted_succeeded: ``status.succeeded`` to be written.
        counted_failed: ``status.failed`` to be written.
    """

    active: list[Object] = field(default_factory=list)
    terminating: int = 0
    succeeded: int = 0
    failed: int = 0
    completed: set[int] = field(default_factory=set)
    noted_succeeded: list[str] = field(default_factory=list)
    noted_failed: list[str] = field(default_factory=list)
    to_release: list[Object] = field(default_factory=list)
    counted_succeeded: int = 0
    counted_failed: int = 0

    @property
    def ready(self) -> int:
        """How many active pods are ready."""
        return sum(is_ready(pod) for pod in self.active)


def tally(job: Object, pods: Sequence[Object]) -> Tally:
    """Count the pods on top of what the job's status has counted before."""
    status = job.get("status") or {}
    uncounted = status.get("uncountedTerminatedPods") or {}
    tracked = {uid_of(pod): pod for pod in pods if is_tracked(pod)}
    result = Tally(completed=read_indexes(status.get("completedIndexes", "")))
    result.counted_succeeded = status.get("succeeded", 0)
    result.counted_failed = status.get("failed", 0)
    for kind, noted in (("succeeded", result.noted_succeeded), ("failed", result.noted_failed)):
        for uid in uncounted.get(kind) or []:
            if uid in tracked:
                noted.append(uid)
            elif kind == "succeeded":
                result.counted_succeeded += 1
            else:
                result.counted_failed += 1
    known = {*result.noted_succeeded, *result.noted_failed}
    for pod in pods:
        _count(job, pod, known, result)
    if is_indexed(job):
        result.succeeded = result.counted_succeeded = len(result.completed)
    else:
        result.succeeded = result.counted_succeeded + len(result.noted_succeeded)
    result.failed = result.counted_failed + len(result.noted_failed)
    return result


def _count(job: Object, pod: Object, known: set[str], result: Tally) -> None:
    uid = uid_of(pod)
    if is_being_deleted(pod) and not is_terminal(pod):
        result.terminating += 1
    if not has_succeeded(pod) and not has_failed(pod):
        result.active.append(pod)
        return
    if not is_tracked(pod):
        return
    if has_succeeded(pod) and is_indexed(job):
        index = index_of(pod)
        if index is not None and index < ((job.get("spec") or {}).get("completions") or 0):
            result.completed.add(index)
    elif uid not in known:
        (result.noted_succeeded if has_succeeded(pod) else result.noted_failed).append(uid)
    if is_terminal(pod) or is_being_deleted(pod):
        result.to_release.append(pod)


def finished_at(pod: Object, now: datetime) -> datetime:
    """Return when the pod ended: the last of its containers, else its deletion, else now."""
    times = [
        terminated["finishedAt"]
        for status in (pod.get("status") or {}).get("containerStatuses") or []
        if (terminated := (status.get("state") or {}).get("terminated")) and terminated.get("finishedAt")
    ]
    if times:
        return max(parse_time(text) for text in times)
    deleted = metadata(pod).get("deletionTimestamp")
    return min(now, parse_time(deleted)) if deleted else now
