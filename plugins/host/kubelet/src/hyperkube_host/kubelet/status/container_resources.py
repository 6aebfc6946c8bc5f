"""What a container's status tells of its resources and volume mounts.

Source: kubernetes ``pkg/kubelet/kubelet_pods.go`` (convertContainerStatusResources, resolveRecursiveReadOnly).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hyperkube_host.kubelet.qos.resource_config import (
    MIN_MILLI_CPU_FOR_QUOTA,
    MIN_SHARES,
    SHARES_PER_CPU,
    milli_cpu_to_shares,
)

from hyperkube.hookspecs.runtime import ContainerState, ContainerStatus
from hyperkube.kinds.resource_lists import read, write
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import Quantity, from_milli, parse

_MAX_MEMORY = 1 << 62
"""Above this a memory limit read back from a cgroup means that there is none."""


def container_resources_status(container: Object, latest: ContainerStatus, old: Object) -> Object:
    """Return ``resources`` and ``allocatedResources`` of a container that the runtime has.

    They are those of the spec, as far as the node granted them; what the runtime says to be in force of CPU and memory
    replaces them while the container runs.

    Args:
        container: the container as the node granted it.
        latest: the container in the runtime.
        old: its status so far.
    """
    allocated = container.get("resources") or {}
    limits, requests = read(allocated.get("limits")), read(allocated.get("requests"))
    status: Object = {}
    if requests:
        status["allocatedResources"] = write(requests)
    if latest.state == ContainerState.RUNNING:
        in_force = latest.resources.get("linux") or {}
        before = old.get("resources") or {} if "running" in (old.get("state") or {}) else {}
        _replace_limits(limits, in_force, before.get("limits") or {})
        _replace_requests(requests, in_force, before.get("requests") or {})
    shown = {"limits": write(limits), "requests": write(requests)}
    status["resources"] = {key: value for key, value in shown.items() if value}
    return status


def _replace_limits(limits: dict[str, Quantity], in_force: Object, before: Mapping[str, str]) -> None:
    if not limits:
        return
    # A container with some limit also shows the others in force: those that it has from its pod.
    cpu, memory = _cpu_limit(in_force), int(in_force.get("memory_limit_in_bytes") or 0)
    granted = limits["cpu"].milli_value() if "cpu" in limits else 0
    if cpu is not None and max(cpu, granted) > MIN_MILLI_CPU_FOR_QUOTA:
        limits["cpu"] = _same_or(limits.get("cpu"), from_milli(cpu))
    elif cpu is None and "cpu" in limits and "cpu" in before:
        limits["cpu"] = parse(before["cpu"])
    if 0 < memory < _MAX_MEMORY:
        limits["memory"] = _same_or(limits.get("memory"), Quantity(memory, form="BinarySI"))
    elif "memory" in limits and "memory" in before:
        limits["memory"] = parse(before["memory"])


def _replace_requests(requests: dict[str, Quantity], in_force: Object, before: Mapping[str, str]) -> None:
    if "cpu" not in requests:
        return
    shares = int(in_force.get("cpu_shares") or 0)
    if not shares:
        requests["cpu"] = parse(before["cpu"]) if "cpu" in before else requests["cpu"]
    elif max(shares, requests["cpu"].milli_value()) > MIN_SHARES:
        # Shares are rounded down: a request that gives these very shares is the one in force.
        if milli_cpu_to_shares(requests["cpu"].milli_value()) == shares:
            return
        requests["cpu"] = from_milli(-(-shares * 1000 // SHARES_PER_CPU))


def _cpu_limit(in_force: Object) -> int | None:
    """Return the CPU limit in force in thousandths of a CPU, None when none is told."""
    quota, period = int(in_force.get("cpu_quota") or 0), int(in_force.get("cpu_period") or 0)
    return quota * 1000 // period if quota > 0 and period > 0 else None


def _same_or(granted: Quantity | None, in_force: Quantity) -> Quantity:
    """Return the granted quantity, in the words of the spec, if the one in force equals it."""
    return granted if granted == in_force else in_force


def volume_mount_statuses(container: Object, supports_recursive_read_only: Callable[[], bool]) -> list[Object]:
    """Return ``volumeMounts`` of a container's status."""
    found: list[Object] = []
    for mount in container.get("volumeMounts") or []:
        status: Object = {"name": mount["name"], "mountPath": mount["mountPath"]}
        if mount.get("readOnly"):
            asked = mount.get("recursiveReadOnly") or "Disabled"
            holds = asked == "Enabled" or (asked == "IfPossible" and supports_recursive_read_only())
            status |= {"readOnly": True, "recursiveReadOnly": "Enabled" if holds else "Disabled"}
        found.append(status)
    return found
