"""Parts of a pod's status that the kubelet writes.

Source: kubernetes ``pkg/kubelet/types/pod_status.go`` (PodConditionByKubelet).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hyperkube.machinery.objects import Object

ALL_CONTAINERS_RESTARTING = "AllContainersRestarting"
READY_TO_START = "PodReadyToStartContainers"
POD_RESIZE_PENDING, POD_RESIZE_IN_PROGRESS = "PodResizePending", "PodResizeInProgress"
CONDITIONS_BY_KUBELET = (
    POD_RESIZE_PENDING,
    POD_RESIZE_IN_PROGRESS,
    READY_TO_START,
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
    ALL_CONTAINERS_RESTARTING,
)
TERMINATION_BY_KUBELET = "TerminationByKubelet"
"""The reason of the condition DisruptionTarget of a pod that the kubelet gave up."""
RESTARTING_ALL_CONTAINERS = "RestartingAllContainers"
"""The reason of a container that was removed because all containers of its pod start anew."""


class Waiting(NamedTuple):
    """The waiting state of a container: why it does not run."""

    reason: str
    message: str = ""


class Failure(NamedTuple):
    """The reason and message of a pod that the kubelet itself rejected or gave up."""

    reason: str
    message: str


def foreign_conditions(pod: Object) -> list[Object]:
    """Return the conditions that other components write."""
    conditions = (pod.get("status") or {}).get("conditions") or []
    return [entry for entry in conditions if entry.get("type") not in CONDITIONS_BY_KUBELET]


def told_by_kubelet(status: Object) -> tuple[str, dict[str, str]]:
    """Return what the kubelet alone decides of a status: the phase, and what each of its conditions says."""
    conditions = status.get("conditions") or []
    return str(status.get("phase", "")), {
        entry["type"]: entry.get("status", "") for entry in conditions if entry.get("type") in CONDITIONS_BY_KUBELET
    }


def reported_container_statuses(status: Object) -> Iterator[Object]:
    """Yield the statuses of the regular containers, then those of the init containers."""
    yield from status.get("containerStatuses") or ()
    yield from status.get("initContainerStatuses") or ()
