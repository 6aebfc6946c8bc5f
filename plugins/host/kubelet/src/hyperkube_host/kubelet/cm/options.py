"""The options of the container manager; durations are in seconds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hyperkube_host.kubelet.cm.cgroup_name import DRIVERS, CgroupName, parse_cgroupfs
from hyperkube_host.kubelet.cm.cpumanager.cpu_manager import POLICIES as CPU_POLICIES
from hyperkube_host.kubelet.cm.cpumanager.cpu_set import NO_CPUS, CpuSet, parse_cpu_set
from hyperkube_host.kubelet.cm.cpumanager.policy_options import StaticPolicyOptions
from hyperkube_host.kubelet.cm.memorymanager.memory_manager import check_policy
from hyperkube_host.kubelet.cm.memorymanager.memory_state import KindSizes
from hyperkube_host.kubelet.cm.node_container_manager import ENFORCEMENT_KEYS, NONE_KEY, NodeAllocatableConfig
from hyperkube_host.kubelet.cm.system_cgroups import SystemCgroupNames
from hyperkube_host.kubelet.cm.topologymanager.topology_manager import TopologyOptions
from hyperkube_host.kubelet.thresholds import Threshold

from hyperkube.kinds.resource_lists import ResourceList, read
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.quantity import Quantity, QuantityError, parse
from hyperkube.machinery.record import Record
from hyperkube.plugin.flags import FlagValues

RESERVABLE = ("cpu", "memory", "ephemeral-storage", "pid")
NO_SWAP, LIMITED_SWAP = "NoSwap", "LimitedSwap"
SWAP_BEHAVIORS = ("", NO_SWAP, LIMITED_SWAP)


class ContainerManagerOptions(Record):
    """How the node's resources are shared out.

    Attributes:
        state: the folder of checkpoints.
        cgroup_root: the cgroup that those of pods are in.
        qos_memory_percent: the share of requested memory that lower classes may not use; None for none.
        cpu_period: microseconds.
        memory_throttling_factor: where between request and limit memory is throttled, with MemoryQoS.
        reserved_memory: NUMA node → what of its memory is kept.
    """

    state: Path
    cgroup_driver: str
    cgroup_root: CgroupName
    cgroups_per_qos: bool
    allocatable: NodeAllocatableConfig
    system_cgroups: SystemCgroupNames
    reserved_cpus: CpuSet
    qos_memory_percent: int | None
    pod_pids: int
    cpu_quota: bool
    cpu_period: int
    cpu_policy: str
    cpu_options: StaticPolicyOptions
    cpu_reconcile_seconds: float
    memory_policy: str
    reserved_memory: Mapping[int, KindSizes]
    topology: TopologyOptions
    protect_kernel_defaults: bool
    fail_swap_on: bool
    swap_behavior: str
    memory_throttling_factor: float
    fail_cgroup_v1: bool
    gates: Mapping[str, bool]

    @classmethod
    def of(cls, values: FlagValues, thresholds: tuple[Threshold, ...]) -> ContainerManagerOptions:
        """Return the options that the values of flags make.

        Raises:
            UsageError: a value that cannot be, or two that do not go together.
        """
        _one_of("cgroup-driver", values["cgroup-driver"], DRIVERS)
        _one_of("cpu-manager-policy", values["cpu-manager-policy"], CPU_POLICIES)
        _one_of("memory-swap-behavior", values["memory-swap-behavior"], SWAP_BEHAVIORS)
        check_policy(values["memory-manager-policy"])
        reserved_cpus = _cpus(values["reserved-cpus"])
        return cls(
            state=Path(values["root-dir"]).absolute(),
            cgroup_driver=values["cgroup-driver"],
            cgroup_root=parse_cgroupfs(values["cgroup-root"]),
            cgroups_per_qos=values["cgroups-per-qos"],
            allocatable=_allocatable(values, reserved_cpus, thresholds),
            system_cgroups=SystemCgroupNames.of(values),
            reserved_cpus=reserved_cpus,
            qos_memory_percent=_percent(values["qos-reserved"]),
            pod_pids=values["pod-max-pids"],
            cpu_quota=values["cpu-cfs-quota"],
            cpu_period=int(values["cpu-cfs-quota-period"] * 1_000_000),
            cpu_policy=values["cpu-manager-policy"],
            cpu_options=StaticPolicyOptions.of(values["cpu-manager-policy-options"], values["feature-gates"]),
            cpu_reconcile_seconds=values["cpu-manager-reconcile-period"],
            memory_policy=values["memory-manager-policy"],
            reserved_memory=_reserved_memory(values["reserved-memory"]),
            topology=TopologyOptions.of(
                values["topology-manager-policy"],
                values["topology-manager-scope"],
                values["topology-manager-policy-options"],
            ),
            protect_kernel_defaults=values["protect-kernel-defaults"],
            fail_swap_on=values["fail-swap-on"],
            swap_behavior=values["memory-swap-behavior"] or NO_SWAP,
            memory_throttling_factor=_share("memory-throttling-factor", values["memory-throttling-factor"]),
            fail_cgroup_v1=values["fail-cgroupv1"],
            gates=values["feature-gates"],
        )


def _share(name: str, share: float) -> float:
    if not 0 < share <= 1:
        raise UsageError(
            f"invalid configuration: memoryThrottlingFactor (--{name}) {share:g} must be greater than 0"
            " and less than or equal to 1.0"
        )
    return share


def _allocatable(values: FlagValues, cpus: CpuSet, thresholds: tuple[Threshold, ...]) -> NodeAllocatableConfig:
    keys = tuple(values["enforce-node-allocatable"])
    for key in keys:
        _one_of("enforce-node-allocatable", key, ENFORCEMENT_KEYS)
    if NONE_KEY in keys and len(keys) > 1:
        raise UsageError(f'--enforce-node-allocatable: "none" does not go with others: {", ".join(keys)}')
    for name in ("system-reserved", "kube-reserved"):
        if {name, f"{name}-compressible"} & set(keys) and not values[f"{name}-cgroup"]:
            raise UsageError(f"--enforce-node-allocatable={name} needs --{name}-cgroup")
    system, kube = (_resources(name, values[name]) for name in ("system-reserved", "kube-reserved"))
    if cpus:
        # The CPUs that are named count, and what the amounts say of CPU does not.
        system.pop("cpu", None)
        kube["cpu"] = Quantity(len(cpus))
    return NodeAllocatableConfig(
        system_reserved=system,
        kube_reserved=kube,
        hard_eviction=() if values["experimental-allocatable-ignore-eviction"] else thresholds,
        enforce=() if keys == (NONE_KEY,) else keys,
        system_reserved_cgroup=values["system-reserved-cgroup"],
        kube_reserved_cgroup=values["kube-reserved-cgroup"],
    )


def _resources(flag: str, given: Mapping[str, str]) -> ResourceList:
    for name in given:
        _one_of(flag, name, RESERVABLE)
    try:
        found = read(given)
    except QuantityError as error:
        raise UsageError(f"--{flag}: {error}") from error
    negative = [name for name, amount in found.items() if amount.sign < 0]
    if negative:
        raise UsageError(f'--{flag}: resource quantity for "{negative[0]}" cannot be negative: {found[negative[0]]}')
    return found


def _cpus(text: str) -> CpuSet:
    try:
        return parse_cpu_set(text) if text else NO_CPUS
    except ValueError as error:
        raise UsageError(f"--reserved-cpus: {text!r} is no list of CPUs: {error}") from error


def _percent(given: Mapping[str, str]) -> int | None:
    for name in given:
        _one_of("qos-reserved", name, ("memory",))
    text = given.get("memory")
    if text is None:
        return None
    number = text.removesuffix("%")
    if not text.endswith("%") or not number.isdigit() or int(number) > 100:
        raise UsageError(f"--qos-reserved: memory={text!r} is no percentage from 0% to 100%")
    return int(number)


def _reserved_memory(text: str) -> dict[int, KindSizes]:
    found: dict[int, KindSizes] = {}
    for part in filter(None, text.split(";")):
        node, _, limits = part.partition(":")
        pairs = [pair.partition("=") for pair in limits.split(",")]
        try:
            number, sizes = int(node), {kind: parse(amount).value() for kind, _, amount in pairs}
        except ValueError as error:
            raise UsageError(f"--reserved-memory: {part!r} is not NODE:memory=AMOUNT: {error}") from error
        if number in found:
            raise UsageError(f"--reserved-memory: NUMA node {number} is named twice")
        found[number] = sizes
    return found


def _one_of(flag: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UsageError(f"--{flag}: {value!r} is none of {', '.join(filter(None, known))}")
