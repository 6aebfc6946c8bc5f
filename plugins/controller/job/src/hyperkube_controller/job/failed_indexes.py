"""``backoffLimitPerIndex``: each index has failures of its own, and those that exceed the limit are given up.

A pod carries the number of failures of its index before it, in an annotation. So the last failed pod of an index keeps
its finalizer until the pod that replaces it is there: the count passes from one to the other.
Source: kubernetes ``pkg/controller/job/indexed_job_utils.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime

from hyperkube_controller.job.indexes import read_indexes
from hyperkube_controller.job.pods import finished_at, has_failed, is_tracked, valid_index

from hyperkube.machinery.intstr import parse_int
from hyperkube.machinery.objects import Object, annotations_of

FAILURES = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURES = "batch.kubernetes.io/job-index-ignored-failure-count"


def has_limit_per_index(job: Object) -> bool:
    """Tell whether each index has its own limit of failures."""
    return (job.get("spec") or {}).get("backoffLimitPerIndex") is not None


def failed_indexes(job: Object, pods: Iterable[Object]) -> set[int]:
    """Return the indexes that are given up, those before and those that failed now."""
    failed = read_indexes((job.get("status") or {}).get("failedIndexes") or "", job["spec"].get("completions") or 0)
    for pod in pods:
        index = valid_index(pod, job)
        if index is not None and is_tracked(pod) and has_failed(pod, job) and _gives_up(job, pod):
            failed.add(index)
    return failed


def _gives_up(job: Object, pod: Object) -> bool:
    """Tell whether a failed pod is the last of its index."""
    from hyperkube_controller.job.pod_failure_policy import match_pod_failure_policy

    found = match_pod_failure_policy(job, pod)
    if found.action == "FailIndex":
        return True
    return found.counts and _read(pod, FAILURES) >= job["spec"]["backoffLimitPerIndex"]


def delayed_pods(job: Object, pods: Sequence[Object], done: AbstractSet[int]) -> dict[int, Object]:
    """Return the failed pod of each index that awaits a pod in its place; its finalizer stays until then.

    Args:
        job: the job.
        pods: all its pods.
        done: the indexes that succeeded, were given up, or have an active pod, which has the count already.
    """
    last: dict[int, Object] = {}
    for pod in pods:
        index = valid_index(pod, job)
        if index is None or index in done or not is_tracked(pod) or not has_failed(pod, job):
            continue
        before = last.get(index)
        if before is None or (_all(before) <= _all(pod) and finished_at(pod) >= finished_at(before)):
            last[index] = pod
    return last


def split_by_backoff(indexes: Sequence[int], replaced: Mapping[int, Object], now: datetime) -> tuple[list[int], float]:
    """Return the indexes that may have a pod now; when there are none, also the seconds until the first may."""
    waits = {index: _wait(replaced.get(index), now) for index in indexes}
    ready = [index for index, wait in waits.items() if not wait]
    return ready, 0.0 if ready else min(waits.values(), default=0.0)


def _wait(replaced: Object | None, now: datetime) -> float:
    from hyperkube_controller.job.backoff import remaining

    return 0.0 if replaced is None else remaining(_all(replaced) + 1, finished_at(replaced), now)


def failure_annotations(job: Object, replaced: Object | None) -> dict[str, str]:
    """Return the annotations that tell a new pod how often its index has failed before."""
    from hyperkube_controller.job.pod_failure_policy import match_pod_failure_policy

    if replaced is None:
        return {FAILURES: "0"}
    counted = match_pod_failure_policy(job, replaced).counts
    ignored = _read(replaced, IGNORED_FAILURES) + (not counted)
    annotations = {FAILURES: str(_read(replaced, FAILURES) + counted)}
    return annotations | ({IGNORED_FAILURES: str(ignored)} if ignored else {})


def _all(pod: Object) -> int:
    """Return how often the pod's index has failed before it, ignored failures included."""
    return _read(pod, FAILURES) + _read(pod, IGNORED_FAILURES)


def _read(pod: Object, annotation: str) -> int:
    """Read a count; an absent or a wrong one is 0."""
    text = annotations_of(pod).get(annotation, "")
    return max(parse_int(text, 32) or 0, 0)
