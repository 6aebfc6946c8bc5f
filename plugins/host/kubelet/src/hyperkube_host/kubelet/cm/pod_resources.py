"""The pod resources API: monitors of the node ask which container has which devices, CPUs and memory.

Source: kubernetes ``pkg/kubelet/apis/podresources/server_v1.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from hyperkube_host.kubelet.apis import pod_resources
from hyperkube_host.kubelet.cm.cpumanager.cpu_manager import CpuManager
from hyperkube_host.kubelet.cm.devicemanager.device_manager import DeviceManager
from hyperkube_host.kubelet.cm.devicemanager.pod_devices import NO_NODE
from hyperkube_host.kubelet.cm.memorymanager.memory_manager import MemoryManager
from hyperkube_host.kubelet.cm.socket_service import SocketService
from hyperkube_lib.grpc_messages import RpcFailed

from hyperkube.kinds.pods import is_sidecar, spec_of
from hyperkube.machinery.objects import Object, name_of, namespace_of, uid_of
from hyperkube.machinery.record import Record

FOLDER, SOCKET = "pod-resources", "kubelet.sock"
Message = dict[str, Any]


class DynamicResources(Protocol):
    """Tells the claims of containers."""

    def claims_of(self, pod: Object, container: Object) -> list[Message]:
        """Return ``DynamicResource`` messages."""


class PodResourcesInputs(Record):
    """Who knows what containers have."""

    pods: Callable[[], Iterable[Object]]
    cpus: CpuManager
    memory: MemoryManager
    devices: DeviceManager
    claims: DynamicResources


class PodResourcesServer:
    """Serves the API on a socket."""

    def __init__(self, folder: Path, inputs: PodResourcesInputs) -> None:
        """Take the folder of the socket."""
        self._inputs = inputs
        self._service = SocketService(folder / SOCKET)

    def start(self) -> None:
        """Serve."""
        handlers = {"List": self.list, "Get": self.get, "GetAllocatableResources": self.allocatable}
        self._service.start(pod_resources().service("PodResourcesLister"), handlers)

    def close(self) -> None:
        """Serve no more."""
        self._service.close()

    def list(self, request: Mapping[str, Any]) -> Message:
        """Return what all pods of the node have."""
        del request
        return {"pod_resources": [self._of_pod(pod) for pod in self._inputs.pods()]}

    def get(self, request: Mapping[str, Any]) -> Message:
        """Return what one pod has.

        Raises:
            RpcFailed: there is no such pod.
        """
        name, namespace = request.get("pod_name", ""), request.get("pod_namespace", "")
        for pod in self._inputs.pods():
            if (name_of(pod), namespace_of(pod)) == (name, namespace):
                return {"pod_resources": self._of_pod(pod)}
        raise RpcFailed("UNKNOWN", f"pod {name} in namespace {namespace} not found")

    def allocatable(self, request: Mapping[str, Any]) -> Message:
        """Return what containers could have alone, were it all free."""
        del request
        inputs = self._inputs
        devices = [
            {"resource_name": resource, "device_ids": [one.id], **_topology(one.numa_nodes or ())}
            for resource, found in sorted(inputs.devices.allocatable_devices().items())
            for one in found
        ]
        return {
            "devices": devices,
            "cpu_ids": sorted(inputs.cpus.allocatable_cpus()),
            "memory": [_memory(*entry) for entry in inputs.memory.allocatable()],
        }

    def _of_pod(self, pod: Object) -> Message:
        lasting = [init for init in spec_of(pod).get("initContainers") or () if is_sidecar(init)]
        containers = [*lasting, *(spec_of(pod).get("containers") or ())]
        return {
            "name": name_of(pod),
            "namespace": namespace_of(pod),
            "containers": [self._of_container(pod, container) for container in containers],
        }

    def _of_container(self, pod: Object, container: Object) -> Message:
        inputs, uid, name = self._inputs, uid_of(pod), container["name"]
        devices = [
            {"resource_name": resource, "device_ids": list(ids), **_topology(() if node == NO_NODE else (node,))}
            for resource, allocation in sorted(inputs.devices.devices_of(uid, name).items())
            for node, ids in sorted(allocation.by_node.items())
        ]
        return {
            "name": name,
            "devices": devices,
            "cpu_ids": sorted(inputs.cpus.exclusive_cpus(uid, name)),
            "memory": [_memory(*entry) for entry in inputs.memory.memory_of(uid, name)],
            "dynamic_resources": inputs.claims.claims_of(pod, container),
        }


def _memory(kind: str, size: int, nodes: Iterable[int]) -> Message:
    return {"memory_type": kind, "size": size, **_topology(nodes)}


def _topology(nodes: Iterable[int]) -> Message:
    found = [{"ID": node} for node in sorted(nodes)]
    return {"topology": {"nodes": found}} if found else {}
