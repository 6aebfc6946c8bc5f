"""Knows which devices the node has, and gives them to containers.

Source: kubernetes ``pkg/kubelet/cm/devicemanager/manager.go``, ``topology_hints.go``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from hyperkube_host.kubelet.cm.admission import AllocationFailed
from hyperkube_host.kubelet.cm.devicemanager.device_choice import choose_devices, device_hints
from hyperkube_host.kubelet.cm.devicemanager.endpoint import Device, Endpoint
from hyperkube_host.kubelet.cm.devicemanager.pod_devices import NO_NODE, Allocation, PodDevices
from hyperkube_host.kubelet.cm.devicemanager.run_options import run_options_of
from hyperkube_host.kubelet.cm.interface import NO_OPTIONS, ActivePods, ContainerManagerFailed, RunContainerOptions
from hyperkube_host.kubelet.cm.topologymanager.hints import NumaInfo, ResourceHints, TopologyHint
from hyperkube_host.kubelet.cm.topologymanager.topology_manager import TopologyManager, all_containers
from hyperkube_lib.grpc_messages import RpcFailed

from hyperkube.kinds.pods import container_resources, is_sidecar, pod_limits, spec_of
from hyperkube.kinds.resource_lists import ResourceList
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object, uid_of
from hyperkube.machinery.quantity import Quantity

STOP_GRACE_SECONDS = 300.0
"""How long a resource stays in the node's capacity after its plugin went away: plugins are restarted for updates."""
_log = logging.getLogger("hyperkube.kubelet.devicemanager")


class _Resource:
    """The devices of one resource."""

    def __init__(self) -> None:
        self.endpoint: Endpoint | None = None
        self.devices: dict[str, Device] = {}
        self.stopped_at: float | None = None

    def healthy(self) -> set[str]:
        """Return the ids of the devices that work."""
        return {one.id for one in self.devices.values() if one.healthy}


class DeviceManager:
    """See `ResourceProvider` and `HintProvider`; callable from several threads."""

    def __init__(
        self, folder: Path, affinity: TopologyManager, numa: NumaInfo, clock: Clock, changed: Callable[[], None]
    ) -> None:
        """Take the folder of device plugins; `changed` is called when the node's devices are other than before."""
        self._affinity = affinity
        self._numa = numa
        self._clock = clock
        self._changed = changed
        self._lock = threading.RLock()
        self._given = PodDevices(folder)
        self._resources: dict[str, _Resource] = {}
        for name in self._given.registered:
            # Their plugin has yet to come back: until then the resource is there, and has no devices to give.
            stopped = self._resources[name] = _Resource()
            stopped.stopped_at = clock.monotonic()
        self._removed: set[str] = set()

    # plugins

    def connect(self, resource: str, socket: str, options: Mapping[str, bool] | None = None) -> None:
        """Follow the devices of a plugin, which is asked for its options unless they are given.

        A plugin of the same resource is replaced.

        Raises:
            RpcFailed: it does not answer.
        """
        endpoint = Endpoint(resource, socket)
        with self._lock:
            known = self._resources.setdefault(resource, _Resource())
            previous, known.endpoint = known.endpoint, endpoint
            self._removed.discard(resource)
        if previous is not None:
            previous.close()
        try:
            endpoint.start(options, self._devices_told, self._endpoint_gone)
        except RpcFailed:
            self._endpoint_gone(endpoint)
            raise

    def disconnect(self, resource: str) -> None:
        """Follow a plugin no more."""
        with self._lock:
            known = self._resources.get(resource)
            endpoint = None if known is None else known.endpoint
        if endpoint is not None:
            endpoint.close()
            self._endpoint_gone(endpoint)

    def _devices_told(self, endpoint: Endpoint, devices: Sequence[Device]) -> None:
        with self._lock:
            known = self._resources.get(endpoint.resource)
            if known is None or known.endpoint is not endpoint:
                return  # an older plugin of the resource
            known.devices = {one.id: one for one in devices}
            known.stopped_at = None
            self._store()
        self._changed()

    def _endpoint_gone(self, endpoint: Endpoint) -> None:
        """Note that a plugin went away: its devices are there, but cannot be trusted to work."""
        with self._lock:
            known = self._resources.get(endpoint.resource)
            if known is None or known.endpoint is not endpoint:
                return
            known.endpoint = None
            devices = known.devices.values()
            known.devices = {one.id: Device(one.id, healthy=False, numa_nodes=one.numa_nodes) for one in devices}
            known.stopped_at = self._clock.monotonic()
        endpoint.close()
        self._changed()

    def start(self) -> None:
        """See `ResourceProvider`: the registration service starts by itself."""

    def close(self) -> None:
        """See `ResourceProvider`."""
        with self._lock:
            endpoints = [known.endpoint for known in self._resources.values() if known.endpoint is not None]
        for endpoint in endpoints:
            endpoint.close()

    # the node

    def capacity(self) -> tuple[ResourceList, ResourceList]:
        """See `ResourceProvider`: resources whose plugin is gone for good are zero."""
        now = self._clock.monotonic()
        with self._lock:
            for name, known in list(self._resources.items()):
                if known.stopped_at is not None and now - known.stopped_at > STOP_GRACE_SECONDS:
                    del self._resources[name]
                    self._removed.add(name)
            zero = dict.fromkeys(self._removed, Quantity(0))
            total = {name: Quantity(len(known.devices)) for name, known in self._resources.items()}
            usable = {name: Quantity(len(known.healthy())) for name, known in self._resources.items()}
        return zero | total, zero | usable

    def allocatable_devices(self) -> dict[str, list[Device]]:
        """Return resource → the devices that work."""
        with self._lock:
            return {
                name: [one for one in known.devices.values() if one.healthy] for name, known in self._resources.items()
            }

    def devices_of(self, uid: str, container: str) -> Mapping[str, Allocation]:
        """Return resource → the devices that a container has."""
        with self._lock:
            return dict(self._given.of_container(uid, container))

    # pods

    def _requests(self, container: Object) -> dict[str, int]:
        """Return how many devices of which resources of plugins a container asks for."""
        limits = container_resources(container, "limits")
        return {name: amount.value() for name, amount in limits.items() if name in self._resources and amount}

    def allocate(self, pod: Object, container: Object) -> None:
        """See `HintProvider`."""
        with self._lock:
            requests = self._requests(container)
        for resource, count in requests.items():
            self._allocate(pod, container, resource, count)

    def _allocate(self, pod: Object, container: Object, resource: str, count: int) -> None:
        uid, name = uid_of(pod), container["name"]
        with self._lock:
            own = self._given.of_container(uid, name).get(resource)
            if own is not None and len(own.ids) >= count:
                return  # after a restart of the kubelet it has what it had
            known = self._resources[resource]
            devices, endpoint, healthy = known.devices, known.endpoint, known.healthy()
            reusable = self._reusable(pod, name, resource) & healthy
            free = healthy - self._given.in_use(resource)
        if endpoint is None:
            raise AllocationFailed(f"no healthy devices present; cannot allocate unhealthy devices {resource}")
        if len(free | reusable) < count:
            counts = f"Requested: {count}, Available: {len(free | reusable)}"
            raise AllocationFailed(f"requested number of devices unavailable for {resource}. {counts}")
        nodes = self._affinity.affinity(uid, name).nodes
        # Not under the lock: a slow plugin must not keep the node's status waiting. Pods are admitted one at a time.
        try:
            chosen = choose_devices(devices, free, reusable, count, nodes, endpoint.preferred)
            response = endpoint.allocate(sorted(chosen))
        except RpcFailed as error:
            raise AllocationFailed(str(error)) from error
        with self._lock:
            self._given.insert(uid, name, resource, Allocation(_by_node(devices, chosen), response))
            self._store()

    def _reusable(self, pod: Object, name: str, resource: str) -> set[str]:
        """Return the devices of the pod's ended init containers that no container after them has."""
        found: set[str] = set()
        inits = {init["name"]: not is_sidecar(init) for init in spec_of(pod).get("initContainers") or ()}
        for container in all_containers(pod):
            if container["name"] == name:
                break
            own = self._given.of_container(uid_of(pod), container["name"]).get(resource)
            if own is not None:
                found = found | own.ids if inits.get(container["name"]) else found - own.ids
        return found

    def topology_hints(self, pod: Object, container: Object) -> ResourceHints:
        """See `HintProvider`."""
        with self._lock:
            return {
                resource: self._hints(pod, container["name"], resource, count)
                for resource, count in self._requests(container).items()
            }

    def pod_topology_hints(self, pod: Object) -> ResourceHints:
        """See `HintProvider`."""
        with self._lock:
            wanted = {
                name: amount.value() for name, amount in pod_limits(pod).items() if name in self._resources and amount
            }
            return {resource: self._hints(pod, "", resource, count) for resource, count in wanted.items()}

    def _hints(self, pod: Object, name: str, resource: str, count: int) -> list[TopologyHint] | None:
        known = self._resources[resource]
        if all(one.numa_nodes is None for one in known.devices.values()):
            return None
        own = self._given.of_container(uid_of(pod), name).get(resource)
        if own is not None:
            return device_hints(known.devices, own.ids, frozenset(), count, self._numa) if len(own.ids) == count else []
        reusable = self._reusable(pod, name, resource)
        free = known.healthy() - self._given.in_use(resource)
        if len(free | reusable) < count:
            return []
        return device_hints(known.devices, free | reusable, reusable, count, self._numa)

    def prepare(self, pod: Object) -> None:
        """See `ResourceProvider`: devices were allocated at admission."""

    def unprepare(self, pod: Object) -> None:
        """See `ResourceProvider`: devices are taken back when they are needed again."""

    def run_options(self, pod: Object, container: Object) -> RunContainerOptions:
        """See `ResourceProvider`; plugins that want it reset their devices first."""
        given = self.devices_of(uid_of(pod), container["name"])
        if not given:
            return NO_OPTIONS
        for resource, allocation in given.items():
            with self._lock:
                known = self._resources.get(resource)
                endpoint = None if known is None else known.endpoint
            if endpoint is None:
                continue  # the container was given its devices already; the plugin is being restarted
            try:
                endpoint.pre_start_container(sorted(allocation.ids))
            except RpcFailed as error:
                why = f"device plugin PreStartContainer rpc failed with err: {error}"
                raise ContainerManagerFailed(why) from error
        return run_options_of([allocation.response for allocation in given.values()])

    def health(self, pod: Object, container: Object) -> list[Object]:
        """See `ResourceProvider`."""
        found: list[Object] = []
        for resource, allocation in sorted(self.devices_of(uid_of(pod), container["name"]).items()):
            with self._lock:
                known = self._resources.get(resource)
                devices = {} if known is None else known.devices
                states = [{"resourceID": one, "health": _health(devices.get(one))} for one in sorted(allocation.ids)]
            found.append({"name": resource, "resources": states})
        return found

    def remove_stale(self, active_pods: ActivePods) -> None:
        """See `ResourceProvider`."""
        with self._lock:
            gone = self._given.pods() - {uid_of(pod) for pod in active_pods()}
            if gone:
                self._given.remove(gone)
                self._store()

    def remove_orphans(self, known: Iterable[str]) -> None:
        """See `ResourceProvider`: devices need no preparation to be undone."""

    def _store(self) -> None:
        self._given.store({name: known.devices for name, known in self._resources.items()})


def _health(device: Device | None) -> str:
    if device is None:
        return "Unknown"
    return "Healthy" if device.healthy else "Unhealthy"


def _by_node(devices: Mapping[str, Device], chosen: Iterable[str]) -> dict[int, tuple[str, ...]]:
    by_node: dict[int, list[str]] = {}
    for one in sorted(chosen):
        for node in devices[one].numa_nodes or {NO_NODE}:
            by_node.setdefault(node, []).append(one)
    return {node: tuple(ids) for node, ids in by_node.items()}
