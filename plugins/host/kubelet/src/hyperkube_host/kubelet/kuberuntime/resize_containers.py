"""Tells the runtime and the pod's cgroup of new resources, in an order in which limits never fall below requests.

Source: kubernetes ``pkg/kubelet/kuberuntime/kuberuntime_manager.go`` (doPodResizeAction, updatePodContainerResources).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hyperkube_host.kubelet.cm.interface import ContainerManagerFailed
from hyperkube_host.kubelet.qos.resource_config import QUOTA_PERIOD, ResourceConfig, resource_config_for_pod
from hyperkube_host.kubelet.types.pod_spec import containers_of, init_containers_of

from hyperkube.hookspecs.runtime import ContainerStatus, Runtime, RuntimeFailed, SandboxStatus, UpdatesResources
from hyperkube.machinery.objects import Object

UNLIMITED_MEMORY = (1 << 63) - 4096
"""What a cgroup without a limit tells: the largest number of bytes in whole pages."""
LinuxResources = Callable[[Object, Object], dict[str, Any]]
"""(pod, container) → the ``LinuxContainerResources`` of the container."""


class ContainerResizer:
    """Changes the resources of running containers."""

    def __init__(
        self, runtime: Runtime, linux_resources: LinuxResources, update_pod_cgroup: Callable[[Object], None]
    ) -> None:
        self._runtime = runtime
        self.linux_resources = linux_resources
        """What the runtime is told of a container."""
        self._update_pod_cgroup = update_pod_cgroup

    def resize(
        self,
        before: Object,
        pod: Object,
        sandbox: SandboxStatus,
        resource: str,
        containers: Sequence[tuple[Object, ContainerStatus]],
    ) -> None:
        """Change memory, or CPU once memory is changed.

        Args:
            before: the pod with the resources that were in force.
            pod: the pod with those that it was granted.
            sandbox: its sandbox.
            resource: ``memory`` or ``cpu``.
            containers: the containers to change, with the statuses they run under.

        Raises:
            RuntimeFailed: the runtime cannot do this, or did not; or the kernel refused.
        """
        if not isinstance(self._runtime, UpdatesResources):
            raise RuntimeFailed(f"the {self._runtime.name} runtime cannot resize containers in place")
        goal = pod if resource == "cpu" else with_cpu_of(pod, before)
        old, new = resource_config_for_pod(before), resource_config_for_pod(goal)
        steps = _pod_steps(old, new, resource)
        try:
            for config, grows in steps:
                if grows:
                    self._update_pod(goal, sandbox, config)
            for container, status in _falling_first(before, containers):
                wanted = next(one for one in _all(goal) if one["name"] == container["name"])
                self._runtime.update_container_resources(status.id, self.linux_resources(goal, wanted))
            for config, grows in steps:
                if not grows:
                    self._update_pod(goal, sandbox, config)
        except ContainerManagerFailed as error:
            raise RuntimeFailed(str(error)) from error

    def _update_pod(self, pod: Object, sandbox: SandboxStatus, config: ResourceConfig) -> None:
        self._update_pod_cgroup(pod)
        if isinstance(self._runtime, UpdatesResources):
            self._runtime.update_sandbox_resources(sandbox.id, {}, _message(config))


def _message(config: ResourceConfig) -> dict[str, Any]:
    """Return the ``LinuxContainerResources`` of a pod's cgroup."""
    return {
        "cpu_period": config.cpu_period or QUOTA_PERIOD,
        "cpu_quota": -1 if config.cpu_quota is None else config.cpu_quota,
        "cpu_shares": config.cpu_shares,
        "memory_limit_in_bytes": config.memory or UNLIMITED_MEMORY,
    }


def _pod_steps(old: ResourceConfig, new: ResourceConfig, resource: str) -> list[tuple[ResourceConfig, bool]]:
    """Return the changes of the pod's cgroup, in order, and whether each makes room.

    Limits grow before requests do, and shrink after them. What a pod is no longer limited in stays limited.
    """
    if resource == "memory":
        memory = old.memory if new.memory is None else new.memory
        changed = _with(old, memory=memory)
        return [(changed, (memory or 0) > (old.memory or 0))] if memory != old.memory else []
    quota = old.cpu_quota if new.cpu_quota is None else new.cpu_quota
    limit_grows, request_grows = _limit(quota) > _limit(old.cpu_quota), (new.cpu_shares or 0) > (old.cpu_shares or 0)
    memory = old.memory if new.memory is None else new.memory
    current = _with(old, memory=memory)
    limited, asked = {"cpu_quota": quota, "cpu_period": new.cpu_period}, {"cpu_shares": new.cpu_shares}
    steps: list[tuple[ResourceConfig, bool]] = []
    order = [(limited, limit_grows, quota != old.cpu_quota), (asked, request_grows, new.cpu_shares != old.cpu_shares)]
    # What grows is done limits first, what shrinks afterwards requests first.
    for change, grows, differs in (*(one for one in order if one[1]), *(one for one in reversed(order) if not one[1])):
        if differs:
            current = _with(current, **change)
            steps.append((current, grows))
    return steps


def _with(config: ResourceConfig, **changes: Any) -> ResourceConfig:
    kept = {name: getattr(config, name) for name in ("memory", "cpu_shares", "cpu_quota", "cpu_period")}
    return ResourceConfig(**{**kept, **changes})


def _limit(quota: int | None) -> float:
    return float("inf") if quota is None or quota < 0 else quota


def _all(pod: Object) -> list[Object]:
    return [*init_containers_of(pod), *containers_of(pod)]


def with_cpu_of(pod: Object, before: Object) -> Object:
    """Return a pod with its memory as it is to be, and its CPU as it was."""
    old = {container["name"]: container for container in _all(before)}
    spec = {**pod["spec"]}
    for field in ("initContainers", "containers"):
        if field in spec:
            spec[field] = [_mixed(container, old.get(container["name"], container)) for container in spec[field] or []]
    return {**pod, "spec": spec}


def _mixed(container: Object, old: Object) -> Object:
    mixed: Object = {}
    for which in ("limits", "requests"):
        new, was = ((one.get("resources") or {}).get(which) or {} for one in (container, old))
        values = {name: value for name, value in new.items() if name != "cpu"}
        values |= {"cpu": was["cpu"]} if "cpu" in was else {}
        if values:
            mixed[which] = values
    return {**container, "resources": mixed}


def _falling_first(
    before: Object, containers: Iterable[tuple[Object, ContainerStatus]]
) -> list[tuple[Object, ContainerStatus]]:
    """Return the containers that give something back before those that need it."""
    old = {container["name"]: container for container in _all(before)}

    def grows(change: tuple[Object, ContainerStatus]) -> bool:
        container, was = change[0], old.get(change[0]["name"], change[0])
        new, past = resource_config_for_pod(_alone(container)), resource_config_for_pod(_alone(was))
        return (new.memory or 0) > (past.memory or 0) or (new.cpu_shares or 0) > (past.cpu_shares or 0)

    return sorted(containers, key=grows)


def _alone(container: Object) -> Object:
    return {"spec": {"containers": [container]}}
