"""The status of the node: addresses, capacity, conditions, images.

Source of order and texts: kubernetes ``pkg/kubelet/nodestatus/setters.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from hyperkube_host.kubelet.nodestatus.machine_info import MachineInfo
from hyperkube_host.kubelet.nodestatus.runtime_state import RuntimeState
from hyperkube_host.kubelet.options import NodeOptions
from hyperkube_host.kubelet.thresholds import DISK_PRESSURE, MEMORY_PRESSURE, PID_PRESSURE

from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.hookspecs.runtime import Config, Runtime, RuntimeFailed
from hyperkube.kinds.conditions import with_condition
from hyperkube.kinds.resource_lists import ResourceList, read, write
from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import format_time

if TYPE_CHECKING:
    from hyperkube_host.kubelet.cloudresource.cloud_request_manager import CloudRequestManager

_log = logging.getLogger("hyperkube.kubelet")
DECLARED_FEATURES = (
    "ExtendWebSocketsToKubelet",
    "InPlacePodLevelResourcesVerticalScaling",
    "InPlacePodVerticalScalingInitContainers",
    "RestartAllContainersOnContainerExits",
)
"""What schedulers and admission cannot take for granted of a node of this version.

Source: kubernetes component-helpers ``nodedeclaredfeatures/features``.
"""
MOST_NAMES_OF_IMAGE = 5
"""Of which a status tells. Kubernetes: ``MaxNamesPerImageInNodeStatus``."""
_PRESSURE = {
    MEMORY_PRESSURE: (
        ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("KubeletHasInsufficientMemory", "kubelet has insufficient memory available"),
    ),
    DISK_PRESSURE: (
        ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("KubeletHasDiskPressure", "kubelet has disk pressure"),
    ),
    PID_PRESSURE: (
        ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("KubeletHasInsufficientPID", "kubelet has insufficient PID available"),
    ),
}
"""Condition → reason and message where it does not hold, and where it does."""


class NodeStatus:
    """Computes the node's status."""

    def __init__(
        self,
        options: NodeOptions,
        runtime: Runtime,
        machine: MachineInfo,
        addresses: Iterable[str],
        state: RuntimeState,
        resources: Callable[[ResourceList], tuple[ResourceList, ResourceList]] = lambda machine: (machine, machine),
        pressure: Callable[[], Collection[str]] = lambda: (),
        volumes_in_use: Callable[[], Sequence[str]] = lambda: (),
        cloud: CloudRequestManager | None = None,
    ) -> None:
        """Take what the status tells.

        Args:
            options: the node's.
            runtime: its runtime.
            machine: what does not change.
            addresses: the node's.
            state: of the runtime: whether it is ready, and what it can do.
            resources: returns the node's capacity and what is allocatable of it, given what the machine has.
            pressure: returns which conditions of pressure hold.
            volumes_in_use: returns the attachable volumes that must not be detached.
            cloud: what the kubelet's own cloud says of the node.
        """
        self._cloud = cloud
        self._volumes_in_use = volumes_in_use
        self._pressure = pressure
        self._options = options
        self._runtime = runtime
        self._addresses = list(addresses)
        self._state = state
        self._machine = machine
        self._resources = resources
        self._capacity = read(self._capacity_list())

    def _capacity_list(self) -> dict[str, str]:
        capacity = self._machine.capacity
        return {
            "cpu": str(capacity.cores),
            "ephemeral-storage": f"{capacity.disk // 1024}Ki",
            **self._machine.huge_pages,
            "memory": f"{capacity.memory // 1024}Ki",
            "pods": str(pod_capacity(self._options, capacity.cores)),
        }

    def compute(self, old: Object, now: datetime) -> Object:
        """Return the status, given the one that is there."""
        self._state.refresh()
        status: Object = {key: value for key, value in old.items() if key in {"volumesAttached", "config"}}
        if in_use := list(self._volumes_in_use()):
            status["volumesInUse"] = in_use
        elif old.get("volumesInUse"):
            status["volumesInUse"] = None  # what is left out of a patch stays as it is
        capacity, allocatable = self._resources(self._capacity)
        status |= {
            "addresses": self._node_addresses(old),
            "capacity": write(capacity),
            "allocatable": write(allocatable),
            "nodeInfo": {
                **self._machine.node_info,
                "containerRuntimeVersion": self._runtime_version(old),
            },
            "daemonEndpoints": {"kubeletEndpoint": {"Port": self._options.kubelet_port}},
            "images": self._images(),
        }
        status["conditions"] = self._conditions(old, now)
        return status | self._abilities()

    def _node_addresses(self, old: Object) -> list[Object]:
        """Return the addresses; those that a cloud's controller has written are the cloud's to change.

        Source: kubernetes ``pkg/kubelet/nodestatus/setters.go`` (NodeAddress).
        """
        if self._options.external_cloud and (old.get("addresses") or not self._options.ips):
            return list(old.get("addresses") or ())
        if self._cloud is not None:
            from hyperkube_host.kubelet.nodestatus.cloud_addresses import cloud_addresses

            known = self._cloud.last()
            try:
                if known is not None:
                    return cloud_addresses(known.addresses, self._options)
            except CloudFailed as error:
                _log.warning("the node's addresses stay as they are: %s", error)
            return list(old.get("addresses") or ())
        hostname = {"type": "Hostname", "address": self._options.hostname}
        return [*({"type": "InternalIP", "address": address} for address in self._addresses), hostname]

    def _runtime_version(self, old: Object) -> str:
        try:
            return f"{self._runtime.name}://{self._runtime.version()}"
        except RuntimeFailed:  # its absence is the Ready condition's to tell
            return str((old.get("nodeInfo") or {}).get("containerRuntimeVersion", f"{self._runtime.name}://"))

    def _images(self) -> list[Object]:
        try:
            images = self._runtime.images()
        except RuntimeFailed:
            return []
        most = self._options.status_max_images
        largest = sorted(images, key=lambda image: -image.size)[: most if most >= 0 else None]
        return [_image([*image.digests, *image.tags][:MOST_NAMES_OF_IMAGE], image.size) for image in largest]

    def _abilities(self) -> Object:
        """Return what the runtime and the kubelet can do."""
        runtime = self._state.status
        handlers = [_handler(handler) for handler in runtime.handlers]
        found: Object = {"runtimeHandlers": handlers} if handlers else {}
        if "supplemental_groups_policy" in runtime.features:
            found["features"] = {"supplementalGroupsPolicy": bool(runtime.features["supplemental_groups_policy"])}
        return found | {"declaredFeatures": list(DECLARED_FEATURES)}

    def _conditions(self, old: Object, now: datetime) -> list[Object]:
        holding = self._pressure()
        own = [
            (kind, "True", *under) if kind in holding else (kind, "False", *fine)
            for kind, (fine, under) in _PRESSURE.items()
        ]
        problems = self._state.problems()
        if problems:
            own.append(("Ready", "False", "KubeletNotReady", aggregate(problems)))
        else:
            own.append(("Ready", "True", "KubeletReady", "kubelet is posting ready status"))
        conditions: list[Object] = list(old.get("conditions") or ())
        for name, state, reason, message in own:
            new = {"type": name, "status": state, "reason": reason, "message": message}
            conditions = with_condition(conditions, {**new, "lastHeartbeatTime": format_time(now)}, now)
        return conditions


def _image(names: list[str], size: int) -> Object:
    """Return an image as the API keeps it, without a size of 0: a status that differs from what is kept is written."""
    return {"names": names, **({"sizeBytes": size} if size else {})}


def pod_capacity(options: NodeOptions, cores: int) -> int:
    """Return how many pods a node takes."""
    per_core = options.pods_per_core
    return min(options.max_pods, per_core * cores) if per_core else options.max_pods


def _handler(handler: Config) -> Object:
    """Return a runtime handler as a node's status tells of it."""
    features = handler.get("features") or {}
    return {
        "name": handler.get("name", ""),
        "features": {
            "recursiveReadOnlyMounts": bool(features.get("recursive_read_only_mounts")),
            "userNamespaces": bool(features.get("user_namespaces")),
        },
    }


def without_heartbeats(status: Object) -> Object:
    """Return a status for comparison: its conditions without the times of their heartbeats."""
    stripped = [
        {key: value for key, value in entry.items() if key != "lastHeartbeatTime"}
        for entry in status.get("conditions") or []
    ]
    return {**status, "conditions": stripped}
