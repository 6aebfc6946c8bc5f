"""How many pods a job should have: which of the active ones are too many, which indexes lack one.

Source: kubernetes ``pkg/controller/job/job_controller.go`` (``manageJob``) and ``indexed_job_utils.go``.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from itertools import islice

from hyperkube_controller.job.backoff import BackoffRecord
from hyperkube_controller.job.failed_indexes import has_limit_per_index, split_by_backoff
from hyperkube_controller.job.pods import index_of, is_indexed, only_replaces_failed, valid_index
from hyperkube_controller.job.sync_context import SyncContext
from hyperkube_lib.pod_control import deletion_order

from hyperkube.machinery.objects import Object, uid_of

BURST = 500


def wanted_pods(job: Object, count: SyncContext) -> int:
    """Return how many pods should be active."""
    if job["spec"].get("suspend"):
        return 0
    parallelism, completions = job["spec"].get("parallelism", 1), job["spec"].get("completions")
    if completions is None:
        return len(count.active) if count.succeeded else int(parallelism)
    return max(0, min(int(parallelism), int(completions) - count.succeeded))


def excess_pods(job: Object, count: SyncContext, now: datetime) -> list[Object]:
    """Return the active pods to be deleted: those whose index is wrong or taken, then those that are too many."""
    surplus = len(count.active) - wanted_pods(job, count)
    excess = _misplaced(job, count, now) if is_indexed(job) else []
    chosen = {uid_of(pod) for pod in excess}
    left = [pod for pod in count.active if uid_of(pod) not in chosen]
    excess += deletion_order(left, [], now)[: max(0, surplus - len(excess))]
    return excess if job["spec"].get("suspend") else excess[:BURST]


def _misplaced(job: Object, count: SyncContext, now: datetime) -> list[Object]:
    """Return the active pods without a valid index, and of those that share one all but the most advanced."""
    by_index: dict[int | None, list[Object]] = defaultdict(list)
    for pod in count.active:
        by_index[valid_index(pod, job)].append(pod)
    misplaced = by_index.pop(None, [])
    for pods in by_index.values():
        if len(pods) > 1:
            misplaced += deletion_order(pods, [], now)[:-1]
    return misplaced


def missing_pods(
    job: Object, count: SyncContext, backoff: BackoffRecord, now: datetime
) -> tuple[list[int | None], float]:
    """Return the indexes of the pods to create (None each without indexes), or else the seconds to wait before."""
    replaced_late = only_replaces_failed(job)
    lacking = wanted_pods(job, count) - len(count.active) - (len(count.terminating) if replaced_late else 0)
    if lacking <= 0:
        return [], 0.0
    wait = 0.0 if has_limit_per_index(job) else backoff.remaining(now)
    if wait:
        return [], wait
    lacking = min(lacking, BURST)
    if not is_indexed(job):
        return [None] * lacking, 0.0
    taken = count.completed | (count.given_up or set())
    taken |= {index for pod in count.active if (index := index_of(pod)) is not None}
    if replaced_late:
        taken |= {index for pod in count.terminating if (index := index_of(pod)) is not None}
    pending = list(
        islice((index for index in range(job["spec"].get("completions") or 0) if index not in taken), lacking)
    )
    if has_limit_per_index(job):
        pending, wait = split_by_backoff(pending, count.delayed, now)
    return [*pending], wait
