"""Cgroups of version 1: one hierarchy for each controller.

Source: kubernetes ``pkg/kubelet/cm/cgroup_v1_manager_linux.go``; libcontainer ``cgroups/fs``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from hyperkube_host.kubelet.cm.cgroup_manager import (
    CgroupMounts,
    attach_process,
    read_own_processes,
    read_processes,
    read_table,
    remove_folders,
    subfolders,
    write_value,
)
from hyperkube_host.kubelet.cm.cgroup_name import CgroupName, driver_path, parse_driver_path
from hyperkube_host.kubelet.cm.interface import ContainerManagerFailed
from hyperkube_host.kubelet.cm.systemd import SliceMaker
from hyperkube_host.kubelet.qos.resource_config import MIN_SHARES, ResourceConfig, page_size_name
from hyperkube_host.kubelet.types.cgroup_use import CgroupUse

from hyperkube.machinery.clock import Clock

CONTROLLERS = frozenset({"cpu", "cpuacct", "cpuset", "memory", "systemd", "pids", "hugetlb", "freezer", "blkio"})
"""What pods get folders in; devices are the runtime's own affair."""
_NEEDED = frozenset({"cpu", "cpuacct", "cpuset", "memory", "systemd", "pids", "hugetlb"})
_CPUSET_FILES = ("cpuset.cpus", "cpuset.mems")


class CgroupV1Manager:
    """See `CgroupManager`."""

    version = 1

    def __init__(self, mounts: CgroupMounts, driver: str, slices: SliceMaker | None, clock: Clock) -> None:
        """Take where the hierarchies are, how names are spelt, and what makes slices with the systemd driver."""
        self._mounts = {name: mount for name, mount in mounts.of.items() if name in CONTROLLERS}
        self._driver = driver
        self._slices = slices
        self._clock = clock

    def path(self, name: CgroupName) -> str:
        """See `CgroupManager`."""
        return driver_path(name, self._driver)

    def exists(self, name: CgroupName) -> bool:
        """See `CgroupManager`."""
        return all(folder.is_dir() for controller, folder in self._folders(name).items() if controller in _NEEDED)

    def create(self, name: CgroupName, config: ResourceConfig) -> None:
        """See `CgroupManager`."""
        if self._slices is not None:
            self._slices.start(self.path(name))
        for controller, folder in self._folders(name).items():
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise ContainerManagerFailed(f"failed to create cgroup {str(folder)!r}: {error.strerror}") from error
            if controller == "cpuset":
                self._inherit_cpuset(folder)
        self.update(name, config)

    def update(self, name: CgroupName, config: ResourceConfig) -> None:
        """See `CgroupManager`."""
        folders = self._folders(name)
        for controller, file, value in _settings(config):
            folder = folders.get(controller)
            if folder is not None and (controller != "hugetlb" or (folder / file).exists()):
                write_value(folder / file, value)

    def destroy(self, name: CgroupName) -> None:
        """See `CgroupManager`."""
        if self._slices is not None:
            self._slices.stop(self.path(name))
        remove_folders(self._folders(name).values(), self._clock)

    def pids(self, name: CgroupName) -> set[int]:
        """See `CgroupManager`."""
        return set().union(*(read_processes(folder) for folder in self._folders(name).values()))

    def own_pids(self, name: CgroupName) -> set[int]:
        """See `CgroupManager`: a process counts only when it is there in every hierarchy, but for the root.

        In the root's case one hierarchy is enough: there the process is still to be moved.
        """
        found = [read_own_processes(folder) for folder in self._folders(name).values() if folder.is_dir()]
        if not name:
            return set().union(*found)
        return set.intersection(*found) if found else set()

    def attach(self, name: CgroupName, pid: int) -> None:
        """See `CgroupManager`."""
        for folder in self._folders(name).values():
            attach_process(folder, pid)

    def use(self, name: CgroupName) -> CgroupUse | None:
        """See `CgroupManager`."""
        folders = self._folders(name)
        try:
            cpu = int((folders["cpuacct"] / "cpuacct.usage").read_text())
            memory = int((folders["memory"] / "memory.usage_in_bytes").read_text())
            inactive = read_table(folders["memory"] / "memory.stat").get("total_inactive_file", 0)
        except (OSError, KeyError):
            return None
        return CgroupUse(cpu=cpu, memory=memory, working_set=max(0, memory - inactive))

    def memory_usage(self, name: CgroupName) -> int:
        """See `CgroupManager`."""
        folder = self._folders(name).get("memory")
        file = None if folder is None else folder / "memory.usage_in_bytes"
        return int(file.read_text()) if file is not None and file.is_file() else 0

    def reduce_cpu_limits(self, name: CgroupName) -> None:
        """See `CgroupManager`."""
        if self.exists(name):
            self.update(name, ResourceConfig(cpu_shares=MIN_SHARES))

    def children(self, name: CgroupName) -> set[CgroupName]:
        """See `CgroupManager`."""
        own = self.path(name)
        names = (f"{own}/{child}" for folder in self._folders(name).values() for child in subfolders(folder))
        return {parse_driver_path(path, self._driver) for path in names}

    def _folders(self, name: CgroupName) -> Mapping[str, Path]:
        path = self.path(name).lstrip("/")
        return {controller: mount / path for controller, mount in self._mounts.items()}

    def _inherit_cpuset(self, folder: Path) -> None:
        """Fill the empty sets of a new cgroup from those above it: a process cannot enter a cgroup without CPUs."""
        mount = self._mounts["cpuset"]
        above = [place for place in (folder, *folder.parents) if place != mount and place.is_relative_to(mount)]
        for place in reversed(above):
            for file in _CPUSET_FILES:
                parent = place.parent / file
                if parent.is_file() and not (place / file).read_text().strip():
                    write_value(place / file, parent.read_text().strip())


def _settings(config: ResourceConfig) -> Iterator[tuple[str, str, str]]:
    """Yield controller, file and value of what is set; a period before the quota that is measured by it."""
    if config.memory is not None and config.memory != 0:
        yield "memory", "memory.limit_in_bytes", str(config.memory)
    if config.cpu_shares:
        yield "cpu", "cpu.shares", str(config.cpu_shares)
    if config.cpu_period:
        yield "cpu", "cpu.cfs_period_us", str(config.cpu_period)
    if config.cpu_quota:
        yield "cpu", "cpu.cfs_quota_us", str(config.cpu_quota)
    if config.cpuset_cpus:
        yield "cpuset", "cpuset.cpus", config.cpuset_cpus
    if config.pids_limit:
        yield "pids", "pids.max", str(config.pids_limit) if config.pids_limit > 0 else "max"
    for size, limit in config.huge_page_limit.items():
        yield "hugetlb", f"hugetlb.{page_size_name(size)}.limit_in_bytes", str(limit)
