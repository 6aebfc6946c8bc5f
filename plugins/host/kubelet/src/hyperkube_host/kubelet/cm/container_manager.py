"""The container manager of a node with cgroups: it owns the managers, starts them in their order, and asks each.

Source: kubernetes ``pkg/kubelet/cm/container_manager_linux.go``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from hyperkube_host.kubelet.cm.admission import AllocationFailed
from hyperkube_host.kubelet.cm.cpumanager.cpu_manager import CpuManager
from hyperkube_host.kubelet.cm.cpumanager.cpu_set import format_cpu_set
from hyperkube_host.kubelet.cm.interface import (
    ActivePods,
    ContainerManagerFailed,
    CriMessage,
    PodContainerManager,
    RunContainerOptions,
    RunningContainers,
    UpdateContainer,
)
from hyperkube_host.kubelet.cm.memorymanager.memory_manager import MemoryManager
from hyperkube_host.kubelet.cm.node_container_manager import (
    NodeAllocatableConfig,
    NodeCgroups,
    NodeEvent,
    allocatable,
    reservation,
)
from hyperkube_host.kubelet.cm.qos_container_manager import UPDATE_SECONDS, QosCgroups
from hyperkube_host.kubelet.cm.system_cgroups import ENSURE_SECONDS, SystemCgroups
from hyperkube_host.kubelet.cm.topologymanager.topology_manager import TopologyManager, all_containers
from hyperkube_host.kubelet.types.cgroup_use import CgroupUse
from hyperkube_host.kubelet.types.pod_status import Failure

from hyperkube.kinds.pods import pod_requests
from hyperkube.kinds.qos import GUARANTEED, qos_class
from hyperkube.kinds.resource_lists import ResourceList
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object, uid_of
from hyperkube.machinery.quantity import Quantity
from hyperkube.machinery.record import Record

ENFORCE_RETRY_SECONDS = 60.0
_log = logging.getLogger("hyperkube.kubelet.cm")


class ResourceProvider(Protocol):
    """A manager of resources that come from outside of the kubelet: device plugins, drivers of dynamic resources."""

    def start(self) -> None:
        """Begin to listen for those who bring resources."""

    def close(self) -> None:
        """End; those who bring resources find out by themselves."""

    def prepare(self, pod: Object) -> None:
        """Have ready what a pod's containers need, before they are created; see `prepare_dynamic_resources`."""

    def unprepare(self, pod: Object) -> None:
        """Undo `prepare` for a pod that has ended."""

    def run_options(self, pod: Object, container: Object) -> RunContainerOptions:
        """Return what a container gets of it."""

    def capacity(self) -> tuple[ResourceList, ResourceList]:
        """Return capacity and what is allocatable of the resources of the node that it brings."""

    def health(self, pod: Object, container: Object) -> Sequence[Object]:
        """Return ``allocatedResourcesStatus`` entries of a container."""

    def remove_stale(self, active_pods: ActivePods) -> None:
        """Take back what pods had that are gone."""

    def remove_orphans(self, known: Iterable[str]) -> None:
        """Undo `prepare` for pods with other uids than those: it failed when they ended."""


class Service(Protocol):
    """What listens for plugins or for those who ask."""

    def start(self) -> None:
        """Begin to serve."""

    def close(self) -> None:
        """End."""


class Cgroups(Record):
    """The cgroups of the node; without ``--cgroups-per-qos`` only those that are reserved for."""

    node: NodeCgroups
    qos: QosCgroups | None


class LinuxContainerManager:
    """See `ContainerManager`."""

    def __init__(
        self,
        *,
        pods: PodContainerManager,
        cgroups: Cgroups,
        system: SystemCgroups,
        allocatable_config: NodeAllocatableConfig,
        cpus: CpuManager,
        memory: MemoryManager,
        topology: TopologyManager,
        providers: Sequence[ResourceProvider],
        services: Callable[[LinuxContainerManager, ActivePods], Sequence[Service]],
        reconcile_seconds: float,
        enforce_cpu_quota: bool,
        cpu_period: int,
        node_event: NodeEvent,
        swap: Callable[[Object, Object, int], CriMessage],
        clock: Clock,
    ) -> None:
        """Take the managers; nothing runs before `start`."""
        self.pods = pods
        self.cpus, self.memory, self.topology = cpus, memory, topology
        self.providers = tuple(providers)
        self._make_services = services
        self._services: Sequence[Service] = ()
        self.enforce_cpu_quota, self.cpu_period = enforce_cpu_quota, cpu_period
        self._cgroups = cgroups
        self._system = system
        self._config = allocatable_config
        self._reconcile_seconds = reconcile_seconds
        self._node_event = node_event
        self._swap = swap
        self._clock = clock
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._active_pods: ActivePods = tuple
        self._problem = ""
        self._admission = threading.Lock()

    def start(self, active_pods: ActivePods, running: RunningContainers, update_container: UpdateContainer) -> None:
        """See `ContainerManager`."""
        self._active_pods = active_pods
        try:
            self._cgroups.node.create()
            if self._cgroups.qos is not None:
                self._cgroups.qos.start()
            self._cgroups.node.enforce_reserved(self._node_event)
            self._system.create()
        except ContainerManagerFailed as error:
            raise UsageError(f"Failed to start ContainerManager: {error}") from error
        self._services = self._make_services(self, active_pods)
        for one in (*self.providers, *self._services):
            one.start()
        reconcile = partial(self.cpus.reconcile, active_pods, running, update_container)
        self._thread = threading.Thread(
            target=self._keep, args=(reconcile,), name="kubelet-container-manager", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """See `ContainerManager`."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(self._reconcile_seconds)
        for one in (*self._services, *self.providers):
            one.close()

    def _keep(self, reconcile: Callable[[], None]) -> None:
        """Do what is due again and again: enforcement until it succeeds, CPUs each period, the rest each minute."""
        enforced, due = False, dict.fromkeys(("enforce", "qos", "cpus", "system"), self._clock.monotonic())
        while not self._stop.is_set():
            now = self._clock.monotonic()
            if not enforced and now >= due["enforce"]:
                enforced = self._cgroups.node.enforce_pods(self._node_event)
                due["enforce"] = now + ENFORCE_RETRY_SECONDS
            if now >= due["qos"]:
                self._update_qos()
                due["qos"] = now + UPDATE_SECONDS
            if now >= due["system"]:
                self._system.ensure()
                due["system"] = now + ENSURE_SECONDS
            if now >= due["cpus"]:
                reconcile()
                due["cpus"] = now + self._reconcile_seconds
            pause = min(at for name, at in due.items() if name != "enforce" or not enforced) - now
            self._clock.wait(self._stop, max(pause, 0.1))

    def _update_qos(self) -> None:
        try:
            self.update_qos_cgroups()
            self._problem = ""
        except ContainerManagerFailed as error:
            self._problem = str(error)
            _log.warning("failed to update QoS cgroup configuration: %s", error)

    def admit(self, pod: Object) -> Failure | None:
        """See `ContainerManager`."""
        with self._admission:
            known = (*self._active_pods(), pod)
            self._remove_stale(lambda: known)
            try:
                self.topology.admit(pod)
            except AllocationFailed as error:
                return error.as_failure()
        return None

    def _remove_stale(self, known: ActivePods) -> None:
        """Take back what pods had that are gone, before something is given to the next one."""
        self.cpus.remove_stale(known)
        self.memory.remove_stale(known)
        self.topology.forget({uid_of(pod) for pod in known()})
        for provider in self.providers:
            provider.remove_stale(known)

    def prepare_pod(self, pod: Object) -> None:
        """See `ContainerManager`."""
        if not self.pods.exists(pod):
            # The class's cgroup first: the pod must not wait for CPU because its class has too little.
            self._update_qos()
        self.pods.ensure_exists(pod)

    def pod_ended(self, uid: str) -> None:
        """See `ContainerManager`."""
        name = self.pods.all_pods().get(uid)
        if name is None:
            return
        try:
            self.pods.destroy(name)
        except ContainerManagerFailed as error:
            _log.warning("pod %s: %s", uid, error)
        self._update_qos()

    def resize_problem(self, before: Object, pod: Object) -> str:
        """See `ContainerManager`: what was given to a container for itself alone is not changed while it runs."""
        if qos_class(pod) != GUARANTEED:
            return ""
        old, new = pod_requests(before), pod_requests(pod)
        for resource, title, policy in (("cpu", "CPU", self.cpus.policy), ("memory", "Memory", self.memory.policy)):
            if policy.lower() == "static" and old.get(resource) != new.get(resource):
                return f'Resize is infeasible for Guaranteed Pods alongside {title} Manager policy "{policy}"'
        return ""

    def update_qos_cgroups(self) -> None:
        """See `ContainerManager`."""
        if self._cgroups.qos is not None:
            self._cgroups.qos.update(self._active_pods)

    def prepare_dynamic_resources(self, pod: Object) -> None:
        """See `ContainerManager`."""
        for provider in self.providers:
            provider.prepare(pod)

    def unprepare_dynamic_resources(self, pod: Object) -> None:
        """See `ContainerManager`."""
        for provider in self.providers:
            provider.unprepare(pod)

    def run_options(self, pod: Object, container: Object) -> RunContainerOptions:
        """See `ContainerManager`."""
        parts = [provider.run_options(pod, container) for provider in self.providers]
        return RunContainerOptions(
            devices=tuple(one for part in parts for one in part.devices),
            mounts=tuple(one for part in parts for one in part.mounts),
            envs=tuple(one for part in parts for one in part.envs),
            annotations={key: value for part in parts for key, value in part.annotations.items()},
            cdi_devices=tuple(dict.fromkeys(one for part in parts for one in part.cdi_devices)),
        )

    def pre_create_container(self, pod: Object, container: Object) -> CriMessage:
        """See `ContainerManager`."""
        uid, name = uid_of(pod), container["name"]
        cpus, nodes = self.cpus.affinity(uid, name), self.memory.numa_nodes(uid, name)
        decided: dict[str, Any] = {}
        if self.has_exclusive_cpus(pod, container):
            decided["cpu_quota"] = -1  # it has its CPUs alone: a quota would only throttle it
        if cpus:
            decided["cpuset_cpus"] = format_cpu_set(cpus)
        if nodes:
            decided["cpuset_mems"] = ",".join(map(str, nodes))
        return decided

    def swap_resources(self, pod: Object, container: Object, memory_limit: int) -> CriMessage:
        """See `ContainerManager`."""
        return self._swap(pod, container, memory_limit)

    def has_exclusive_cpus(self, pod: Object, container: Object | None = None) -> bool:
        """See `ContainerManager`."""
        if container is None:
            return self.cpus.pod_has_exclusive(pod)
        return bool(self.cpus.exclusive_cpus(uid_of(pod), container["name"]))

    def node_resources(self, machine: Mapping[str, Quantity]) -> tuple[ResourceList, ResourceList]:
        """See `ContainerManager`."""
        capacity = dict(machine)
        left = allocatable(machine, reservation(self._config, machine))
        for provider in self.providers:
            more, usable = provider.capacity()
            capacity |= more
            left |= usable
        return capacity, left

    def figures(self) -> Mapping[str, int]:
        """See `ContainerManager`."""
        topology = {
            "kubelet_topology_manager_admission_requests_total": self.topology.admission_requests,
            "kubelet_topology_manager_admission_errors_total": self.topology.admission_errors,
        }
        return self.cpus.figures() | self.memory.figures() | topology

    def pods_memory_limit(self) -> int:
        """See `ContainerManager`."""
        return self._cgroups.node.pods_memory_limit()

    def system_use(self) -> Mapping[str, CgroupUse]:
        """See `ContainerManager`."""
        return self._system.use()

    def allocated_resources_status(self, pod: Object, container_statuses: Iterable[Object]) -> None:
        """See `ContainerManager`."""
        if not self.providers:
            return
        containers = {container["name"]: container for container in all_containers(pod)}
        for status in container_statuses:
            container = containers.get(status["name"])
            found = (
                [] if container is None else [entry for one in self.providers for entry in one.health(pod, container)]
            )
            if found:
                status["allocatedResourcesStatus"] = found

    def remove_orphans(self, known: Iterable[str]) -> None:
        """See `ContainerManager`."""
        uids = set(known)
        for provider in self.providers:
            provider.remove_orphans(uids)
        for uid, name in self.pods.all_pods().items():
            if uid not in uids:
                try:
                    self.pods.destroy(name)
                except ContainerManagerFailed as error:
                    _log.warning("pod %s: %s", uid, error)

    def status(self) -> str:
        """See `ContainerManager`."""
        return self._problem
