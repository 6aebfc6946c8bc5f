"""A job's pods one by one: has it failed, when did it end, which index has it.

Source: kubernetes ``pkg/controller/job/job_controller.go``, ``indexed_job_utils.go`` and ``backoff_utils.go``.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from hyperkube.kinds.conditions import condition
from hyperkube.kinds.pods import is_sidecar, is_terminal, phase, status_of
from hyperkube.machinery.intstr import parse_int
from hyperkube.machinery.objects import Object, annotations_of, has_finalizer, is_being_deleted, metadata
from hyperkube.machinery.times import parse_time

FINALIZER = "batch.kubernetes.io/job-tracking"
COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
CONTROLLER_NAME = "kubernetes.io/job-controller"


def is_indexed(job: Object) -> bool:
    """Tell whether each completion has an index."""
    return (job.get("spec") or {}).get("completionMode") == "Indexed"


def is_managed_elsewhere(job: Object) -> bool:
    """Tell whether ``spec.managedBy`` names another controller than this one."""
    return ((job.get("spec") or {}).get("managedBy") or CONTROLLER_NAME) != CONTROLLER_NAME


def only_replaces_failed(job: Object) -> bool:
    """Tell whether a pod is replaced once it has failed, and not as soon as it is being deleted.

    A pod failure policy needs the outcome of a pod, so it asks for that too.
    """
    spec = job.get("spec") or {}
    return spec.get("podReplacementPolicy") == "Failed" or spec.get("podFailurePolicy") is not None


def has_succeeded(pod: Object) -> bool:
    """Tell whether the pod ended well."""
    return phase(pod) == "Succeeded"


def has_failed(pod: Object, job: Object) -> bool:
    """Tell whether the pod counts as failed.

    It ended badly, or it is being deleted before it ended and the job replaces such pods.
    """
    if phase(pod) == "Failed":
        return True
    if only_replaces_failed(job):
        return False
    return is_being_deleted(pod) and not has_succeeded(pod)


def is_terminating(pod: Object) -> bool:
    """Tell whether the pod is being deleted and has not ended yet."""
    return is_being_deleted(pod) and not is_terminal(pod)


def is_tracked(pod: Object) -> bool:
    """Tell whether the pod still waits to be counted."""
    return has_finalizer(pod, FINALIZER)


def index_of(pod: Object) -> int | None:
    """Return the completion index of a pod of an indexed job, or None."""
    text = annotations_of(pod).get(COMPLETION_INDEX, "")
    return parse_int(text) if text.isdecimal() else None


def valid_index(pod: Object, job: Object) -> int | None:
    """Return the pod's index where it is one of the job's completions, or None."""
    index = index_of(pod)
    return index if index is not None and index < ((job.get("spec") or {}).get("completions") or 0) else None


def counts_for(pod: Object, job: Object) -> bool:
    """Tell whether the end of the pod counts: with indexes, only that of a pod with a valid one does."""
    return not is_indexed(job) or valid_index(pod, job) is not None


def restarts(pods: Iterable[Object]) -> int:
    """Return how often the containers of the pods that wait or run were restarted in place."""
    return sum(
        container.get("restartCount", 0)
        for pod in pods
        if phase(pod) in {"Pending", "Running"}
        for kind in ("initContainerStatuses", "containerStatuses")
        for container in status_of(pod).get(kind) or []
    )


def finished_at(pod: Object) -> datetime:
    """Return when the pod ended.

    That is when its last container did; else when it stopped being ready; else when its deletion was asked for; else
    its creation.
    """
    meta = metadata(pod)
    ready = condition(status_of(pod), "Ready")
    if (ended := _containers_finished(pod)) is not None:
        return ended
    if ready is not None and ready.get("status") == "False" and ready.get("lastTransitionTime"):
        return parse_time(ready["lastTransitionTime"])
    if meta.get("deletionTimestamp"):
        grace = timedelta(seconds=meta.get("deletionGracePeriodSeconds") or 0)
        return parse_time(meta["deletionTimestamp"]) - grace
    return parse_time(meta["creationTimestamp"])


def _containers_finished(pod: Object) -> datetime | None:
    """Return when the last container or sidecar ended, or None while one of them has not."""
    sidecars = {each["name"] for each in (pod.get("spec") or {}).get("initContainers") or [] if is_sidecar(each)}
    statuses = [*(status_of(pod).get("containerStatuses") or [])]
    if statuses:
        init = status_of(pod).get("initContainerStatuses") or []
        statuses += [each for each in init if each.get("name") in sidecars]
    times = [((each.get("state") or {}).get("terminated") or {}).get("finishedAt") for each in statuses]
    known = [parse_time(text) for text in times if text]
    return max(known) if known and len(known) == len(times) else None


__all__ = [
    "COMPLETION_INDEX",
    "CONTROLLER_NAME",
    "FINALIZER",
    "counts_for",
    "finished_at",
    "has_failed",
    "has_succeeded",
    "index_of",
    "is_indexed",
    "is_managed_elsewhere",
    "is_terminating",
    "is_tracked",
    "only_replaces_failed",
    "restarts",
    "valid_index",
]
