"""Cgroups of processes that are no pods: the kubelet's, the runtime's, and that of what else runs on the machine.

The kubelet moves itself into ``--kubelet-cgroups``, and what runs in no cgroup of its own into ``--system-cgroups``;
the runtime's are only measured. Their names are paths, whatever the driver of pods' cgroups is.

Source: kubernetes ``pkg/kubelet/cm/container_manager_linux.go`` (setupNode, ensureSystemCgroups),
``pkg/kubelet/server/stats/summary_sys_containers.go``.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from hyperkube_host.kubelet.cm.cgroup_manager import CgroupManager
from hyperkube_host.kubelet.cm.cgroup_name import ROOT, CgroupName, parse_cgroupfs
from hyperkube_host.kubelet.cm.interface import ContainerManagerFailed
from hyperkube_host.kubelet.qos.resource_config import ResourceConfig
from hyperkube_host.kubelet.types.cgroup_use import SYSTEM_CONTAINERS, CgroupUse

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record
from hyperkube.plugin.flags import FlagValues

ENSURE_SECONDS = 60.0
OWN_CGROUPS = Path("/proc/self/cgroup")
_ROUNDS = 10
_INIT = 1
_log = logging.getLogger("hyperkube.kubelet.cm")


class SystemCgroupNames(Record):
    """Paths of cgroups; empty for what is left where it is."""

    kubelet: str = ""
    runtime: str = ""
    system: str = ""

    @classmethod
    def of(cls, values: FlagValues) -> SystemCgroupNames:
        """Return the names that the values of flags make.

        Raises:
            UsageError: names that do not go with the cgroup of pods.
        """
        system = values["system-cgroups"]
        if system and not values["cgroup-root"]:
            raise UsageError(
                "invalid configuration: systemCgroups (--system-cgroups) was specified and cgroupRoot (--cgroup-root)"
                " was not specified"
            )
        if system and not parse_cgroupfs(system):
            raise UsageError(
                f'invalid configuration: --system-cgroups={system!r}: system container cannot be root ("/")'
            )
        return cls(kubelet=values["kubelet-cgroups"], runtime=values["runtime-cgroups"], system=system)


def is_kernel_thread(pid: int) -> bool:
    """Tell whether a process has no program, as threads of the kernel, and processes that are gone."""
    try:
        Path(f"/proc/{pid}/exe").readlink()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return False


class SystemCgroups:
    """Keeps processes in their cgroups, and measures these."""

    def __init__(
        self,
        manager: CgroupManager,
        names: SystemCgroupNames,
        *,
        own_pid: int = 0,
        own_cgroups: Path = OWN_CGROUPS,
        stays: Callable[[int], bool] = is_kernel_thread,
    ) -> None:
        """Take what makes cgroups by their paths.

        Args:
            manager: of the driver cgroupfs.
            names: of the cgroups.
            own_pid: the kubelet's process; 0 for this one.
            own_cgroups: the file that tells which cgroups it is in.
            stays: tells of a process in the root cgroup whether it is never moved.
        """
        self._manager = manager
        self._names = names
        self._own_pid = own_pid or os.getpid()
        self._own_cgroups = own_cgroups
        self._stays = stays

    @property
    def moves(self) -> bool:
        """Whether there is a process to keep in a cgroup."""
        return bool(self._names.kubelet or self._names.system)

    def create(self) -> None:
        """Make the cgroups that processes are moved to.

        Raises:
            ContainerManagerFailed: one cannot be made.
        """
        for path in (self._names.system, self._names.kubelet):
            if path and not self._manager.exists(parse_cgroupfs(path)):
                self._manager.create(parse_cgroupfs(path), ResourceConfig())

    def ensure(self) -> None:
        """Move what is not where it belongs; what cannot be moved is logged, and tried again in the next round."""
        for path, move in ((self._names.system, self._move_system), (self._names.kubelet, self._move_kubelet)):
            if not path:
                continue
            try:
                move(parse_cgroupfs(path))
            except ContainerManagerFailed as error:
                _log.warning("failed to ensure state of cgroup %r: %s", path, error)

    def _move_kubelet(self, name: CgroupName) -> None:
        if self._own_pid not in self._manager.own_pids(name):
            self._manager.attach(name, self._own_pid)

    def _move_system(self, name: CgroupName) -> None:
        """Empty the root cgroup but for the first process and the kernel's: in rounds, as processes start others.

        Raises:
            ContainerManagerFailed: a process of the last round could not be moved.
        """
        problem: ContainerManagerFailed | None = None
        for _ in range(_ROUNDS):
            pids = self._movable(self._manager.own_pids(ROOT))
            if not pids:
                return
            problem = None
            for pid in pids:
                try:
                    self._manager.attach(name, pid)
                except ContainerManagerFailed as error:
                    problem = error
        if problem is not None:
            raise problem

    def _movable(self, pids: Iterable[int]) -> list[int]:
        # A process of an outer PID namespace is listed as 0, which would mean this one.
        return [pid for pid in pids if pid > _INIT and not self._stays(pid)]

    def use(self) -> Mapping[str, CgroupUse]:
        """Return what the processes of each cgroup that is known use, by the name that the summary has for it."""
        kubelet = self._names.kubelet or self._found()
        rows = zip(SYSTEM_CONTAINERS, (kubelet, self._names.runtime, self._names.system), strict=True)
        found = {name: self._manager.use(parse_cgroupfs(path)) for name, path in rows if path}
        return {name: use for name, use in found.items() if use is not None}

    def _found(self) -> str:
        """Return the cgroup that the kubelet was started in; empty when it is not the same for CPU and memory."""
        try:
            lines = [line.split(":", 2) for line in self._own_cgroups.read_text().splitlines()]
        except OSError:
            return ""
        paths = {kind: path for _, kinds, path in lines for kind in kinds.split(",")}
        unified = paths.get("", "")
        cpu, memory = paths.get("cpu", unified), paths.get("memory", unified)
        return cpu if cpu == memory else ""
