"""Puts the container manager of this node together.

Source: kubernetes ``pkg/kubelet/cm/container_manager_linux.go`` (NewContainerManager).
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from hyperkube_host.kubelet.cm.cgroup_manager import CgroupManager, cgroup_mounts
from hyperkube_host.kubelet.cm.cgroup_name import CGROUPFS, NODE_ALLOCATABLE, SYSTEMD, new_cgroup_name
from hyperkube_host.kubelet.cm.cgroup_v1 import CgroupV1Manager
from hyperkube_host.kubelet.cm.cgroup_v2 import CgroupV2Manager
from hyperkube_host.kubelet.cm.container_manager import Cgroups, LinuxContainerManager
from hyperkube_host.kubelet.cm.cpumanager.cpu_manager import STATIC, CpuManager
from hyperkube_host.kubelet.cm.cpumanager.cpu_state import CpuState
from hyperkube_host.kubelet.cm.cpumanager.cpu_topology import discover_topology
from hyperkube_host.kubelet.cm.cpumanager.static_policy import StaticPolicy
from hyperkube_host.kubelet.cm.interface import ContainerManagerFailed, CriMessage, PodContainerManager
from hyperkube_host.kubelet.cm.kernel_tunables import check_kernel_tunables
from hyperkube_host.kubelet.cm.memory_qos import MemoryQos, memory_qos_files, with_files
from hyperkube_host.kubelet.cm.memorymanager import memory_manager
from hyperkube_host.kubelet.cm.memorymanager.memory_manager import MemoryManager
from hyperkube_host.kubelet.cm.memorymanager.memory_state import (
    MemoryState,
    check_reserved,
    initial_machine_state,
    node_memory,
)
from hyperkube_host.kubelet.cm.memorymanager.static_policy import StaticMemoryPolicy
from hyperkube_host.kubelet.cm.node_container_manager import (
    PODS_KEY,
    NodeCgroups,
    NodeEvent,
    allocatable,
    reservation,
    validate_node_allocatable,
)
from hyperkube_host.kubelet.cm.node_plugins import NodePlugins
from hyperkube_host.kubelet.cm.options import ContainerManagerOptions
from hyperkube_host.kubelet.cm.pod_container_manager import PodCgroups, PodCgroupSettings
from hyperkube_host.kubelet.cm.qos_container_manager import QosCgroups
from hyperkube_host.kubelet.cm.swap import SwapSettings, check_swap, swap_resources, swap_space
from hyperkube_host.kubelet.cm.system_cgroups import SystemCgroups
from hyperkube_host.kubelet.cm.systemd import slices_of_this_machine
from hyperkube_host.kubelet.cm.topologymanager.hints import discover_numa
from hyperkube_host.kubelet.cm.topologymanager.topology_manager import TopologyManager
from hyperkube_host.kubelet.cm.unmanaged import UnmanagedPods
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.nodestatus.machine_info import MachineInfo
from hyperkube_host.kubelet.options import KubeletOptions
from hyperkube_host.kubelet.pluginmanager.plugin_manager import PluginHandler
from hyperkube_host.kubelet.qos.resource_config import huge_page_sizes

from hyperkube.client.client import Client
from hyperkube.hookspecs.runtime import Runtime, RuntimeFailed, TellsRuntimeConfig
from hyperkube.kinds.resource_lists import read
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import Quantity

PID_MAX = Path("/proc/sys/kernel/pid_max")
CGROUP_V1_UNSUPPORTED = (
    "kubelet is configured to not run on a host using cgroup v1."
    " cgroup v1 support is unsupported and will be removed in a future release"
)
_log = logging.getLogger("hyperkube.kubelet.cm")


def container_manager_for(
    options: KubeletOptions,
    machine: MachineInfo,
    runtime: Runtime,
    client: Client | None,
    recorder: KubeletEventRecorder,
    clock: Clock,
    devices_changed: Callable[[], None],
    volume_drivers: Mapping[str, PluginHandler],
) -> LinuxContainerManager:
    """Return the container manager of a kubelet; `devices_changed` is called when the node has other devices.

    Raises:
        UsageError: a flag that cannot be, or the machine does not go with it.
    """
    capacity = read(
        {
            "cpu": str(machine.capacity.cores),
            "memory": str(machine.capacity.memory),
            "ephemeral-storage": str(machine.capacity.disk),
            **machine.huge_pages,
        }
    )
    wanted = ContainerManagerOptions.of(options.values, options.node.thresholds)
    return build_container_manager(
        wanted,
        capacity,
        driver=runtime_cgroup_driver(runtime),
        node_event=recorder.node_event,
        clock=clock,
        plugins=partial(
            NodePlugins, wanted.state, client, clock, devices_changed=devices_changed, volume_drivers=volume_drivers
        ),
    )


def runtime_cgroup_driver(runtime: Runtime) -> str:
    """Return the driver that the runtime itself uses, empty when it does not tell."""
    if not isinstance(runtime, TellsRuntimeConfig):
        return ""
    try:
        linux = runtime.runtime_config().get("linux")
    except RuntimeFailed as error:
        _log.warning("the runtime does not tell its cgroup driver: %s", error)
        return ""
    # The first value of an enumeration is the default, which messages leave out.
    return "" if linux is None else str(linux.get("cgroup_driver", "SYSTEMD")).lower()


MakePlugins = Callable[..., NodePlugins]
"""Called with what aligns resources (`topology`) and the machine's nodes (`numa`)."""


def build_container_manager(
    options: ContainerManagerOptions,
    capacity: Mapping[str, Quantity],
    *,
    driver: str,
    node_event: NodeEvent,
    clock: Clock,
    plugins: MakePlugins | None = None,
) -> LinuxContainerManager:
    """Return the container manager; nothing runs and no cgroup is made yet.

    Args:
        options: how resources are shared out.
        capacity: what the machine has (``cpu``, ``memory``, ``ephemeral-storage``, huge pages).
        driver: the runtime's own cgroup driver, empty when it does not tell.
        node_event: records an event about the node.
        clock: for what is done again and again.
        plugins: makes the managers of devices and dynamic resources; None for a node without.

    Raises:
        UsageError: the machine, or the state of an earlier kubelet, does not go with the options.
    """
    check_swap(fail_swap_on=options.fail_swap_on)
    check_kernel_tunables(protects=options.protect_kernel_defaults)
    validate_node_allocatable(options.allocatable, capacity)
    used = driver or options.cgroup_driver
    manager = cgroup_manager(options, used, clock)
    numa = discover_numa()
    topology = TopologyManager(options.topology, numa)
    cpus, memory = _cpu_manager(options, capacity, topology), _memory_manager(options, capacity, topology)
    pods, cgroups = _cgroups(options, manager, used, capacity, cpus.pod_has_exclusive)
    made = None if plugins is None else plugins(topology=topology, numa=numa)
    for provider in (cpus, memory) if made is None else (made.devices, cpus, memory):
        topology.add_provider(provider)
    return LinuxContainerManager(
        pods=pods,
        cgroups=cgroups,
        system=SystemCgroups(cgroup_manager(options, CGROUPFS, clock), options.system_cgroups),
        allocatable_config=options.allocatable,
        cpus=cpus,
        memory=memory,
        topology=topology,
        providers=() if made is None else (made.devices, made.claims),
        services=(lambda _manager, _pods: ()) if made is None else made.services,
        reconcile_seconds=options.cpu_reconcile_seconds,
        enforce_cpu_quota=options.cpu_quota,
        cpu_period=options.cpu_period,
        node_event=node_event,
        swap=_memory_resources(options, manager, capacity),
        clock=clock,
    )


def cgroup_manager(options: ContainerManagerOptions, driver: str, clock: Clock) -> CgroupManager:
    """Return what makes cgroups here.

    Raises:
        UsageError: there are none, or only ones that are not wanted.
    """
    try:
        mounts = cgroup_mounts()
    except ContainerManagerFailed as error:
        raise UsageError(f"{error}: run as root where cgroups are mounted, or with --cgroups-per-qos=false") from error
    if mounts.version == 1:
        if options.fail_cgroup_v1:
            raise UsageError(CGROUP_V1_UNSUPPORTED)
        _log.warning("cgroup v1 is in maintenance mode, please migrate to cgroup v2")
    slices = slices_of_this_machine() if driver == SYSTEMD else None
    kind = CgroupV1Manager if mounts.version == 1 else CgroupV2Manager
    return kind(mounts, driver, slices, clock)


def _cgroups(
    options: ContainerManagerOptions,
    manager: CgroupManager,
    driver: str,
    capacity: Mapping[str, Quantity],
    exclusive: Callable[[Object], bool],
) -> tuple[PodContainerManager, Cgroups]:
    """Return the cgroups of pods, and those of the node."""
    if not manager.exists(options.cgroup_root):
        shown = manager.path(options.cgroup_root)
        raise UsageError(f"invalid configuration: cgroup-root {shown!r} doesn't exist")
    internal = {**capacity, "pid": Quantity(_pid_max())}
    memory_qos = _has_memory_qos(options, manager)
    if not options.cgroups_per_qos:
        if PODS_KEY in options.allocatable.enforce:
            raise UsageError(
                "Node Allocatable enforcement is not supported unless Cgroups Per QOS feature is turned on:"
                " --cgroups-per-qos=false needs --enforce-node-allocatable=none"
            )
        node = NodeCgroups(manager, (), driver, options.allocatable, internal)
        return UnmanagedPods(manager.path(options.cgroup_root)), Cgroups(node=node, qos=None)
    root = new_cgroup_name(options.cgroup_root, NODE_ALLOCATABLE)
    settings = PodCgroupSettings(
        pids_limit=options.pod_pids,
        enforce_cpu_limits=options.cpu_quota,
        cpu_period=options.cpu_period,
        memory_qos=memory_qos,
    )
    left = allocatable(capacity, reservation(options.allocatable, capacity))
    qos = QosCgroups(
        manager,
        root,
        huge_page_sizes=huge_page_sizes(),
        memory_qos=memory_qos,
        memory_reserved_percent=options.qos_memory_percent,
        allocatable_memory=partial(left["memory"].value),
    )
    node = NodeCgroups(manager, root, driver, options.allocatable, internal)
    return PodCgroups(manager, root, driver, settings, exclusive), Cgroups(node=node, qos=qos)


def _memory_resources(
    options: ContainerManagerOptions, manager: CgroupManager, capacity: Mapping[str, Quantity]
) -> Callable[[Object, Object, int], CriMessage]:
    """Return what says how much a container may swap, and what memory is kept for it or throttled."""
    swap = SwapSettings(
        behavior=options.swap_behavior,
        cgroup_version=manager.version,
        memory=capacity["memory"].value(),
        swap=swap_space(),
    )
    left = allocatable(capacity, reservation(options.allocatable, capacity))
    quality = MemoryQos(
        enabled=_has_memory_qos(options, manager),
        throttling_factor=options.memory_throttling_factor,
        allocatable=left["memory"].value(),
    )
    return lambda pod, container, limit: with_files(
        swap_resources(pod, container, swap, limit), memory_qos_files(container, quality)
    )


def _has_memory_qos(options: ContainerManagerOptions, manager: CgroupManager) -> bool:
    return manager.version == 2 and options.gates.get("MemoryQoS", False)


def _cpu_manager(
    options: ContainerManagerOptions, capacity: Mapping[str, Quantity], affinity: TopologyManager
) -> CpuManager:
    state = CpuState(options.state, options.cpu_policy)
    if options.cpu_policy != STATIC:
        return CpuManager(state, None)
    topology = discover_topology()
    options.cpu_options.check(topology, affinity.options.policy)
    reserved = reservation(options.allocatable, capacity).get("cpu")
    if reserved is None:
        raise UsageError("[cpumanager] unable to determine reserved CPU resources for static policy")
    if reserved.sign <= 0:
        raise UsageError(
            "[cpumanager] the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero"
        )
    count = math.ceil(reserved.milli_value() / 1000)
    chosen = options.reserved_cpus or count
    return CpuManager(state, StaticPolicy(topology, state, affinity, options.cpu_options, chosen))


def _memory_manager(
    options: ContainerManagerOptions, capacity: Mapping[str, Quantity], affinity: TopologyManager
) -> MemoryManager:
    if options.memory_policy != memory_manager.STATIC:
        return MemoryManager(MemoryState(options.state, options.memory_policy, {}), None)
    machine = node_memory()
    check_reserved(machine, options.reserved_memory, reservation(options.allocatable, capacity))
    initial = initial_machine_state(machine, options.reserved_memory)
    state = MemoryState(options.state, options.memory_policy, initial)
    return MemoryManager(state, StaticMemoryPolicy(state, affinity))


def _pid_max() -> int:
    return int(PID_MAX.read_text())
