"""Counting a job's pods: active, ready, succeeded, failed, each ended pod exactly once.

A pod keeps the finalizer ``batch.kubernetes.io/job-tracking`` until it was counted. Ended pods are first
listed by uid in ``status.uncountedTerminatedPods``, then lose the finalizer, then move into the counters: so a pod that
is deleted, or a controller that restarts in between, changes no count.
Source: kubernetes ``pkg/controller/job/tracking_utils.go`` and ``job_controller.go``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import field

from hyperkube_controller.job.failed_indexes import delayed_pods, failed_indexes, has_limit_per_index
from hyperkube_controller.job.indexes import read_indexes
from hyperkube_controller.job.pod_failure_policy import match_pod_failure_policy
from hyperkube_controller.job.pods import (
    counts_for,
    has_failed,
    has_succeeded,
    index_of,
    is_indexed,
    is_terminating,
    is_tracked,
    valid_index,
)

from hyperkube.kinds.pods import is_active
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, is_being_deleted, uid_of

MAX_UNCOUNTED = 500


@dataclass(slots=True)
class SyncContext:
    """What a job's pods amount to.

    Attributes:
        pods: all of them.
        active: those that run or wait.
        terminating: those that are being deleted and have not ended.
        new_succeeded: pods that succeeded and are in no list yet.
        new_failed: pods that failed and are in no list yet.
        succeeded: how many succeeded in all, counted or not.
        failed: how many failed in all, but for those that the pod failure policy ignores.
        completed: the indexes that are done (indexed jobs).
        given_up: the indexes that failed for good, or None without a limit per index.
        delayed: by index, the failed pods that await one in their place.
        uncounted_succeeded: uids for ``uncountedTerminatedPods.succeeded``.
        uncounted_failed: uids for ``uncountedTerminatedPods.failed``.
        counted_succeeded: ``status.succeeded`` to be written.
        counted_failed: ``status.failed`` to be written.
    """

    pods: Sequence[Object]
    active: list[Object] = field(default_factory=list)
    terminating: list[Object] = field(default_factory=list)
    new_succeeded: list[Object] = field(default_factory=list)
    new_failed: list[Object] = field(default_factory=list)
    succeeded: int = 0
    failed: int = 0
    completed: set[int] = field(default_factory=set)
    given_up: set[int] | None = None
    delayed: dict[int, Object] = field(default_factory=dict)
    uncounted_succeeded: list[str] = field(default_factory=list)
    uncounted_failed: list[str] = field(default_factory=list)
    counted_succeeded: int = 0
    counted_failed: int = 0
    policy_actions: list[str] = field(default_factory=list)


def sync_context_of(job: Object, pods: Sequence[Object]) -> SyncContext:
    """Count the pods on top of what the job's status has counted before."""
    count = SyncContext(pods)
    _count_uncounted(job, count)
    known_succeeded, known_failed = set(count.uncounted_succeeded), set(count.uncounted_failed)
    for pod in pods:
        if is_active(pod):
            count.active.append(pod)
        elif is_terminating(pod):
            count.terminating.append(pod)
        if not is_tracked(pod) or not counts_for(pod, job):
            continue
        if has_succeeded(pod) and uid_of(pod) not in known_succeeded:
            count.new_succeeded.append(pod)
        elif has_failed(pod, job) and uid_of(pod) not in known_failed:
            count.new_failed.append(pod)
    counted = sum(match_pod_failure_policy(job, pod).counts for pod in count.new_failed)
    count.failed = count.counted_failed + len(count.uncounted_failed) + counted
    count.succeeded = count.counted_succeeded + len(count.uncounted_succeeded) + len(count.new_succeeded)
    if is_indexed(job):
        _count_indexes(job, count)
    return count


def _count_uncounted(job: Object, count: SyncContext) -> None:
    """Move those of the uncounted pods that have lost their finalizer into the counters."""
    status = job.get("status") or {}
    uncounted = status.get("uncountedTerminatedPods") or {}
    tracked = {uid_of(pod) for pod in count.pods if is_tracked(pod)}
    count.uncounted_succeeded = [uid for uid in uncounted.get("succeeded") or [] if uid in tracked]
    count.uncounted_failed = [uid for uid in uncounted.get("failed") or [] if uid in tracked]
    gone_succeeded = len(uncounted.get("succeeded") or []) - len(count.uncounted_succeeded)
    count.counted_succeeded = status.get("succeeded", 0) + gone_succeeded
    count.counted_failed = status.get("failed", 0) + len(uncounted.get("failed") or []) - len(count.uncounted_failed)


def _count_indexes(job: Object, count: SyncContext) -> None:
    """Count the indexes that are done, and those that are given up where each has a limit."""
    completions = job["spec"].get("completions") or 0
    count.completed = read_indexes((job.get("status") or {}).get("completedIndexes") or "", completions)
    for pod in count.pods:
        index = valid_index(pod, job)
        if index is not None and is_tracked(pod) and has_succeeded(pod):
            count.completed.add(index)
    count.succeeded = count.counted_succeeded = len(count.completed)
    if has_limit_per_index(job):
        count.given_up = failed_indexes(job, count.pods)
        active = {index for pod in count.active if (index := index_of(pod)) is not None}
        count.delayed = delayed_pods(job, count.pods, count.completed | count.given_up | active)


def track_terminated_pods(
    job: Object, count: SyncContext, ending: str, withdrawn: Collection[str] = ()
) -> tuple[list[Object], bool]:
    """List ended pods as uncounted; return those that may lose their finalizer then, and whether these are all.

    Args:
        job: the job; when it is being deleted, all its pods are released.
        count: its context; the uids that it lists as uncounted grow.
        ending: the condition to which the job comes, ``SuccessCriteriaMet`` or ``FailureTarget``, or the empty
            string. All pods of a job that ends are released, and those that had not ended when it failed have failed.
        withdrawn: the uids of pods that have lost the finalizer in this sync, and do not count.
    """
    release: list[Object] = []
    uncounted = {*count.uncounted_succeeded, *count.uncounted_failed}
    new_indexes: set[int] = set()
    before = read_indexes((job.get("status") or {}).get("completedIndexes") or "", job["spec"].get("completions") or 0)
    everything = bool(ending) or is_being_deleted(job)
    for pod in sorted(count.pods, key=_index_order) if is_indexed(job) else count.pods:
        uid = uid_of(pod)
        if uid in withdrawn or not _may_release(job, count, pod, everything=everything):
            continue
        release.append(pod)
        if uid in uncounted or not counts_for(pod, job):
            continue
        if has_succeeded(pod) and is_indexed(job):
            new_indexes |= {index_of(pod) or 0} - before
        elif has_succeeded(pod):
            count.uncounted_succeeded.append(uid)
        elif has_failed(pod, job) or ending == "FailureTarget":
            _list_failure(job, count, pod)
        if len(new_indexes) + len(count.uncounted_succeeded) + len(count.uncounted_failed) >= MAX_UNCOUNTED:
            return release, False
    return release, True


def _may_release(job: Object, count: SyncContext, pod: Object, *, everything: bool) -> bool:
    """Tell whether a pod may lose its finalizer: it ended, and nothing waits for what it knows, or the job ends."""
    if not is_tracked(pod):
        return False
    return everything or has_succeeded(pod) or (has_failed(pod, job) and not _is_delayed(pod, count))


def _list_failure(job: Object, count: SyncContext, pod: Object) -> None:
    match = match_pod_failure_policy(job, pod)
    if match.action:
        count.policy_actions.append(match.action)
    if match.counts:
        count.uncounted_failed.append(uid_of(pod))


def _index_order(pod: Object) -> int:
    index = index_of(pod)
    return -1 if index is None else index


def _is_delayed(pod: Object, count: SyncContext) -> bool:
    index = index_of(pod)
    waiting = count.delayed.get(index) if index is not None else None
    return waiting is not None and uid_of(waiting) == uid_of(pod)
