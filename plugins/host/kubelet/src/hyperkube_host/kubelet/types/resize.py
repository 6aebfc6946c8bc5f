"""In-place resizes, decided without clock or runtime: whether the node grants one, what it tells, what has to change.

Sources: kubernetes ``pkg/kubelet/allocation/features.go``, ``handlers.go``, ``pkg/kubelet/events/utils.go``,
``pkg/kubelet/kuberuntime/kuberuntime_manager.go`` (computePodResizeAction).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

import orjson
from hyperkube_host.kubelet.types.pod_spec import containers_of, init_containers_of
from hyperkube_host.kubelet.types.pod_status import POD_RESIZE_IN_PROGRESS, POD_RESIZE_PENDING

from hyperkube.hookspecs.runtime import Config, ContainerState, ContainerStatus
from hyperkube.kinds.pods import pod_requests
from hyperkube.kinds.resource_lists import read
from hyperkube.machinery.objects import Object

DEFERRED, INFEASIBLE, ERROR = "Deferred", "Infeasible", "Error"


class Pending(NamedTuple):
    """A resize that the node has not granted.

    Attributes:
        reason: Deferred: it may be later; Infeasible: never.
        message: why.
        cause: what the event calls it.
        generation: of the pod that asks for it.
        since: when that was found, as a condition writes it.
    """

    reason: str
    message: str
    cause: str
    generation: int
    since: str = ""

    def condition(self) -> Object:
        """Return the condition that tells of it."""
        return {
            "type": POD_RESIZE_PENDING,
            "status": "True",
            "lastProbeTime": self.since or None,
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


def change_of(container: Object, wanted: Config, status: ContainerStatus, resource: str) -> Change:
    """Return what a running container needs, so that its CPU or memory becomes what was granted.

    Args:
        container: the container.
        wanted: the ``LinuxContainerResources`` of what it was granted.
        status: the container in the runtime; one that tells no resources is left as it is.
        resource: ``cpu`` or ``memory``.
    """
    linux = status.resources.get("linux") or {}
    if status.state != ContainerState.RUNNING or not linux or not _differs(wanted, linux, resource):
        return Change.NONE
    policies = {one.get("resourceName"): one.get("restartPolicy") for one in container.get("resizePolicy") or []}
    return Change.RESTART if policies.get(resource) == "RestartContainer" else Change.IN_PLACE


def _differs(wanted: Config, linux: Config, resource: str) -> bool:
    """Tell whether a wanted value is not in force. What is no longer limited stays so: a limit cannot be taken away."""
    if resource == "memory":
        return bool(wanted.get("memory_limit_in_bytes")) and not _equal(wanted, linux, "memory_limit_in_bytes")
    is_limited = int(wanted.get("cpu_quota") or 0) > 0
    if is_limited and not (_equal(wanted, linux, "cpu_quota") and _equal(wanted, linux, "cpu_period")):
        return True
    return bool(linux.get("cpu_shares")) and not _equal(wanted, linux, "cpu_shares")


def _equal(wanted: Config, linux: Config, name: str) -> bool:
    return int(wanted.get(name) or 0) == int(linux.get(name) or 0)
