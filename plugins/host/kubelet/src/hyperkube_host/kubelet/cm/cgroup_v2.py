"""Cgroups of version 2: one hierarchy for all controllers.

Source: kubernetes ``pkg/kubelet/cm/cgroup_v2_manager_linux.go``; libcontainer ``cgroups/fs2``.
"""

from __future__ import annotations

from collections.abc import Iterator
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
from hyperkube_host.kubelet.qos.resource_config import (
    MIN_SHARES,
    QUOTA_PERIOD,
    ResourceConfig,
    page_size_name,
    shares_to_weight,
)
from hyperkube_host.kubelet.types.cgroup_use import CgroupUse

from hyperkube.machinery.clock import Clock

CONTROLLERS = ("cpu", "cpuset", "hugetlb", "io", "memory", "pids")
_SUBTREE = "cgroup.subtree_control"


class CgroupV2Manager:
    """See `CgroupManager`."""

    version = 2

    def __init__(self, mounts: CgroupMounts, driver: str, slices: SliceMaker | None, clock: Clock) -> None:
        """Take where the hierarchy is, how names are spelt, and what makes slices with the systemd driver."""
        self._mount = next(iter(mounts.of.values()), Path("/sys/fs/cgroup"))
        self._controllers = [name for name in CONTROLLERS if name in mounts.of]
        self._driver = driver
        self._slices = slices
        self._clock = clock

    def path(self, name: CgroupName) -> str:
        """See `CgroupManager`."""
        return driver_path(name, self._driver)

    def exists(self, name: CgroupName) -> bool:
        """See `CgroupManager`: the controllers must be there too, a cgroup that lost one is made anew."""
        file = self._folder(name) / "cgroup.controllers"
        return file.is_file() and set(self._controllers) <= set(file.read_text().split())

    def create(self, name: CgroupName, config: ResourceConfig) -> None:
        """See `CgroupManager`."""
        if self._slices is not None:
            self._slices.start(self.path(name))
        folder = self._folder(name)
        above = [place for place in folder.parents if place.is_relative_to(self._mount)]
        try:
            for place in reversed(above):
                place.mkdir(exist_ok=True)
                self._delegate(place)
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise ContainerManagerFailed(f"failed to create cgroup {str(folder)!r}: {error.strerror}") from error
        self.update(name, config)

    def update(self, name: CgroupName, config: ResourceConfig) -> None:
        """See `CgroupManager`."""
        folder = self._folder(name)
        for file, value in _settings(config):
            if not file.startswith("hugetlb.") or (folder / file).exists():
                write_value(folder / file, value)

    def destroy(self, name: CgroupName) -> None:
        """See `CgroupManager`."""
        if self._slices is not None:
            self._slices.stop(self.path(name))
        remove_folders([self._folder(name)], self._clock)

    def pids(self, name: CgroupName) -> set[int]:
        """See `CgroupManager`."""
        return read_processes(self._folder(name))

    def own_pids(self, name: CgroupName) -> set[int]:
        """See `CgroupManager`."""
        return read_own_processes(self._folder(name))

    def attach(self, name: CgroupName, pid: int) -> None:
        """See `CgroupManager`."""
        attach_process(self._folder(name), pid)

    def use(self, name: CgroupName) -> CgroupUse | None:
        """See `CgroupManager`; the root tells no memory, as there the kernel counts for no group."""
        folder = self._folder(name)
        try:
            cpu = read_table(folder / "cpu.stat").get("usage_usec", 0) * 1000
            memory = int((folder / "memory.current").read_text())
            inactive = read_table(folder / "memory.stat").get("inactive_file", 0)
        except OSError:
            return None
        return CgroupUse(cpu=cpu, memory=memory, working_set=max(0, memory - inactive))

    def memory_usage(self, name: CgroupName) -> int:
        """See `CgroupManager`."""
        file = self._folder(name) / "memory.current"
        return int(file.read_text()) if file.is_file() else 0

    def reduce_cpu_limits(self, name: CgroupName) -> None:
        """See `CgroupManager`."""
        if self.exists(name):
            self.update(name, ResourceConfig(cpu_shares=MIN_SHARES))

    def children(self, name: CgroupName) -> set[CgroupName]:
        """See `CgroupManager`."""
        own = self.path(name)
        return {parse_driver_path(f"{own}/{child}", self._driver) for child in subfolders(self._folder(name))}

    def _folder(self, name: CgroupName) -> Path:
        return self._mount / self.path(name).lstrip("/")

    def _delegate(self, folder: Path) -> None:
        """Let the cgroups in a folder have the controllers: one at a time, since one refusal would undo all."""
        for controller in self._controllers:
            if controller not in (folder / _SUBTREE).read_text().split():
                write_value(folder / _SUBTREE, f"+{controller}")


def _settings(config: ResourceConfig) -> Iterator[tuple[str, str]]:
    """Yield file and value of what is set."""
    if config.memory is not None and config.memory != 0:
        yield "memory.max", str(config.memory) if config.memory > 0 else "max"
    if config.cpu_shares:
        yield "cpu.weight", str(shares_to_weight(config.cpu_shares))
    if config.cpu_quota or config.cpu_period:
        quota = str(config.cpu_quota) if config.cpu_quota and config.cpu_quota > 0 else "max"
        yield "cpu.max", f"{quota} {config.cpu_period or QUOTA_PERIOD}"
    if config.cpuset_cpus:
        yield "cpuset.cpus", config.cpuset_cpus
    if config.pids_limit:
        yield "pids.max", str(config.pids_limit) if config.pids_limit > 0 else "max"
    for size, limit in config.huge_page_limit.items():
        yield f"hugetlb.{page_size_name(size)}.max", str(limit)
    yield from config.unified.items()
