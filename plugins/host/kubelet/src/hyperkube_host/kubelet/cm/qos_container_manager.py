"""The cgroups of QoS classes: what burstable pods may have together, and that those of best effort come last.

Source: kubernetes ``pkg/kubelet/cm/qos_container_manager_linux.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from hyperkube_host.kubelet.cm.cgroup_manager import CgroupManager
from hyperkube_host.kubelet.cm.cgroup_name import CgroupName, show_cgroup_name
from hyperkube_host.kubelet.cm.interface import ActivePods, ContainerManagerFailed
from hyperkube_host.kubelet.cm.pod_container_manager import QosContainers
from hyperkube_host.kubelet.qos.resource_config import (
    MEMORY_MIN,
    MIN_SHARES,
    UNBOUNDED_HUGE_PAGES,
    ResourceConfig,
    milli_cpu_to_shares,
)

from hyperkube.kinds.pods import pod_requests
from hyperkube.kinds.qos import BEST_EFFORT, BURSTABLE, GUARANTEED, qos_class
from hyperkube.machinery.objects import Object

UPDATE_SECONDS = 60.0


class QosCgroups:
    """Keeps the cgroups of QoS classes in line with the active pods."""

    def __init__(
        self,
        manager: CgroupManager,
        root: CgroupName,
        *,
        huge_page_sizes: Sequence[int] = (),
        memory_qos: bool = False,
        memory_reserved_percent: int | None = None,
        allocatable_memory: Callable[[], int] = lambda: 0,
    ) -> None:
        """Take the machine's cgroups, the cgroup of all pods, and what holds for them.

        Args:
            manager: makes and sets cgroups.
            root: the cgroup of all pods.
            huge_page_sizes: of the machine, in bytes.
            memory_qos: protect what is asked for (cgroup v2).
            memory_reserved_percent: the share of requested memory that lower classes may not use (``--qos-reserved``).
            allocatable_memory: returns the bytes that pods may have together.
        """
        self._manager = manager
        self._classes = QosContainers.below(root)
        self._huge_pages = dict.fromkeys(huge_page_sizes, UNBOUNDED_HUGE_PAGES)
        self._memory_qos = memory_qos
        self._reserved = memory_reserved_percent
        self._allocatable_memory = allocatable_memory
        self._lock = threading.Lock()

    def start(self) -> None:
        """Make the two cgroups.

        Raises:
            ContainerManagerFailed: the cgroup of all pods is not there, or the kernel refused.
        """
        if not self._manager.exists(self._classes.guaranteed):
            raise ContainerManagerFailed(f"root container {show_cgroup_name(self._classes.guaranteed)} doesn't exist")
        shares = {self._classes.burstable: None, self._classes.best_effort: MIN_SHARES}
        for name, cpu_shares in shares.items():
            self._manager.create(name, ResourceConfig(cpu_shares=cpu_shares, huge_page_limit=self._huge_pages))

    def update(self, active_pods: ActivePods) -> None:
        """Set the cgroups by what the active pods ask for.

        Raises:
            ContainerManagerFailed: the kernel refused a value.
        """
        with self._lock:
            configs = qos_configs(
                active_pods(),
                huge_pages=self._huge_pages,
                memory_qos=self._memory_qos,
                memory_reserved_percent=self._reserved,
                allocatable_memory=self._allocatable_memory(),
            )
            for quality, config in configs.items():
                name = self._classes.of(quality)
                try:
                    self._manager.update(name, config)
                except ContainerManagerFailed:
                    if config.memory is None:
                        raise
                    # More is in use than the class may have: hold it where it is, so that it grows no further.
                    held = max(config.memory, self._manager.memory_usage(name))
                    self._manager.update(name, config.with_memory(held))


def qos_configs(
    pods: Iterable[Object],
    *,
    huge_pages: Mapping[int, int],
    memory_qos: bool,
    memory_reserved_percent: int | None,
    allocatable_memory: int,
) -> dict[str, ResourceConfig]:
    """Return QoS class → what its cgroup is told, given the active pods."""
    cpu = 0
    memory = dict.fromkeys((GUARANTEED, BURSTABLE), 0)
    for pod in pods:
        quality, requests = qos_class(pod), pod_requests(pod)
        if quality == BEST_EFFORT:
            continue
        if quality == BURSTABLE and "cpu" in requests:
            cpu += requests["cpu"].milli_value()
        if "memory" in requests:
            memory[quality] += requests["memory"].value()
    protected = {BURSTABLE: memory[BURSTABLE], GUARANTEED: memory[GUARANTEED] + memory[BURSTABLE]}
    limits: dict[str, int] = {}
    if memory_reserved_percent is not None and allocatable_memory:
        limits[BURSTABLE] = allocatable_memory - memory[GUARANTEED] * memory_reserved_percent // 100
        limits[BEST_EFFORT] = limits[BURSTABLE] - memory[BURSTABLE] * memory_reserved_percent // 100
    shares = {GUARANTEED: None, BURSTABLE: milli_cpu_to_shares(cpu), BEST_EFFORT: MIN_SHARES}
    return {
        quality: ResourceConfig(
            cpu_shares=cpu_shares,
            memory=limits.get(quality),
            huge_page_limit=huge_pages,
            unified={MEMORY_MIN: str(protected[quality])} if memory_qos and protected.get(quality) else {},
        )
        for quality, cpu_shares in shares.items()
    }
