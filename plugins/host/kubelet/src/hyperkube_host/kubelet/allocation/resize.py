"""In-place resizes, decided without clock or runtime: whether the node grants one, what it tells, what has to change.

Sources: kubernetes ``pkg/kubelet/allocation/features.go``, ``handlers.go``, ``pkg/kubelet/events/utils.go``,
``pkg/kubelet/kuberuntime/kuberuntime_manager.go`` (computePodResizeAction).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

import orjson
from hyperkube_host.kubelet.cm.resource_config import (
    MIN_MILLI_CPU_FOR_QUOTA,
    MIN_SHARES,
    milli_cpu_to_shares,
)
from hyperkube_host.kubelet.types.pod_spec import containers_of, init_containers_of
from hyperkube_host.kubelet.types.pod_status import POD_RESIZE_IN_PROGRESS, POD_RESIZE_PENDING

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus
from hyperkube.kinds.pods import pod_requests
from hyperkube.kinds.resource_lists import read
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import Quantity

DEFERRED, INFEASIBLE, ERROR = "Deferred", "Infeasible", "Error"


class Pending(NamedTuple):
    """A resize that the node has not granted.

    Attributes:
        reason: Deferred: it may be later; Infeasible: never.
        message: why.
        cause: what the event calls it.
        generation: of the pod that asks for it.
    """

    reason: str
    message: str
    cause: str
    generation: int

    def condition(self) -> Object:
        """Return the condition that tells of it."""
        return {
            "type": POD_RESIZE_PENDING,
            "status": "True",
            "reason": self.reason,
            "message": self.message,
            "observedGeneration": self.generation,
        }


class InProgress(NamedTuple):
    """A resize that was granted and is not in force everywhere; `error` is why not."""

    generation: int
    error: str = ""

    def condition(self) -> Object:
        """Return the condition that tells of it."""
        found = {"type": POD_RESIZE_IN_PROGRESS, "status": "True", "observedGeneration": self.generation}
        return {**found, "reason": ERROR, "message": self.error} if self.error else found


def exceeds_node(pod: Object, node: Object) -> str:
    """Return what of a pod's requests is more than the whole node has, or the empty string."""
    allocatable, requests = read((node.get("status") or {}).get("allocatable")), pod_requests(pod)
    for name in ("memory", "cpu"):
        asked, has = requests.get(name), allocatable.get(name)
        if asked is not None and has is not None and asked > has:
            numbers = (amount.milli_value() if name == "cpu" else amount.value() for amount in (asked, has))
            requested, capacity = numbers
            return f"Node didn't have enough capacity: {name}, requested: {requested}, capacity: {capacity}"
    return ""


def event_message(prefix: str, pod: Object, generation: int, error: str = "") -> str:
    """Return the text of an event: what happened, and the resources of the pod as JSON."""
    listed = []
    for container in (*init_containers_of(pod), *containers_of(pod)):
        resources = {key: value for key, value in sorted((container.get("resources") or {}).items()) if value}
        if resources:
            listed.append({"name": container["name"], "resources": resources})
    summary: dict[str, Any] = {}
    if pod["spec"].get("resources"):
        summary["resources"] = pod["spec"]["resources"]
    if listed:
        summary["containers"] = listed
    summary["generation"] = generation
    if error:
        summary["error"] = error
    return f"{prefix}: {orjson.dumps(summary).decode()}"


class Change(StrEnum):
    """What is in force of a resource, compared with what was granted."""

    NONE = "none"
    IN_PLACE = "in place"
    RESTART = "restart"


def change_of(container: Object, status: ContainerStatus, resource: str) -> Change:
    """Return what a running container needs, so that its CPU or memory becomes what was granted.

    Args:
        container: the container with the resources that it was granted.
        status: the container in the runtime; one that tells no resources is left as it is.
        resource: ``cpu`` or ``memory``.
    """
    linux = status.resources.get("linux") or {}
    if status.state != ContainerState.RUNNING or not linux or not _differs(container, linux, resource):
        return Change.NONE
    policies = {one.get("resourceName"): one.get("restartPolicy") for one in container.get("resizePolicy") or []}
    return Change.RESTART if policies.get(resource) == "RestartContainer" else Change.IN_PLACE


def _differs(container: Object, linux: Any, resource: str) -> bool:
    resources = container.get("resources") or {}
    limits, requests = read(resources.get("limits")), read(resources.get("requests"))
    if resource == "memory":
        asked = _amount(limits, "memory")
        return bool(asked) and asked != int(linux.get("memory_limit_in_bytes") or 0)
    cpu_limit, cpu_request = _milli(limits), _milli(requests) or _milli(limits)
    quota, period = int(linux.get("cpu_quota") or 0), int(linux.get("cpu_period") or 0)
    in_force = quota * 1000 // period if quota > 0 and period > 0 else 0
    if max(cpu_limit, in_force) > MIN_MILLI_CPU_FOR_QUOTA and cpu_limit != in_force:
        return True
    shares = int(linux.get("cpu_shares") or 0)
    return max(cpu_request, shares) > MIN_SHARES and bool(shares) and milli_cpu_to_shares(cpu_request) != shares


def _amount(resources: dict[str, Quantity], name: str) -> int:
    return resources[name].value() if name in resources else 0


def _milli(resources: dict[str, Quantity]) -> int:
    return resources["cpu"].milli_value() if "cpu" in resources else 0
