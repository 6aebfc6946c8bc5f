"""Parts of a pod's status that the kubelet writes.

Source: kubernetes ``pkg/kubelet/types/pod_status.go`` (PodConditionByKubelet).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hyperkube.machinery.objects import Object

CONDITIONS_BY_KUBELET = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")


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


def reported_container_statuses(status: Object) -> Iterator[Object]:
    """Yield the statuses of the regular containers, then those of the init containers."""
    yield from status.get("containerStatuses") or ()
    yield from status.get("initContainerStatuses") or ()
