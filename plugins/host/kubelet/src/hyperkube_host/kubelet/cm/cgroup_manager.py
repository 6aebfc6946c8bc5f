"""Makes, sets and removes cgroups: the protocol, what both versions of cgroups share, and the choice between them.

Source: kubernetes ``pkg/kubelet/cm/cgroup_manager_linux.go``, ``types.go`` (CgroupManager).
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from hyperkube_host.kubelet.cm.cgroup_name import CgroupName, show_cgroup_name
from hyperkube_host.kubelet.cm.interface import ContainerManagerFailed
from hyperkube_host.kubelet.qos.resource_config import ResourceConfig
from hyperkube_host.kubelet.types.cgroup_use import CgroupUse

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.record import Record

CGROUP_MOUNT = Path("/sys/fs/cgroup")
MOUNT_INFO = Path("/proc/self/mountinfo")
_PROCESSES = "cgroup.procs"
_REMOVALS, _FIRST_PAUSE_SECONDS = 5, 0.01
_KILLS = 5


class CgroupManager(Protocol):
    """The cgroups of one machine; stateless, callable from several threads."""

    version: int

    def exists(self, name: CgroupName) -> bool:
        """Tell whether the cgroup is there in every hierarchy that the kubelet uses."""

    def create(self, name: CgroupName, config: ResourceConfig) -> None:
        """Make a cgroup, and those above it, and set it; one that is there is only set.

        Raises:
            ContainerManagerFailed: the kernel refused.
        """

    def update(self, name: CgroupName, config: ResourceConfig) -> None:
        """Set a cgroup.

        Raises:
            ContainerManagerFailed: the kernel refused a value, or there is no such cgroup.
        """

    def destroy(self, name: CgroupName) -> None:
        """Remove a cgroup with all below it; no process may be in them.

        Raises:
            ContainerManagerFailed: one is.
        """

    def pids(self, name: CgroupName) -> set[int]:
        """Return the processes in a cgroup and in those below it."""

    def own_pids(self, name: CgroupName) -> set[int]:
        """Return the processes in a cgroup itself, in every hierarchy that the kubelet uses or in one of them."""

    def attach(self, name: CgroupName, pid: int) -> None:
        """Move a process into a cgroup.

        Raises:
            ContainerManagerFailed: the kernel refused, or there is no such process or cgroup.
        """

    def use(self, name: CgroupName) -> CgroupUse | None:
        """Return what the processes of a cgroup use; None when it is not there."""

    def memory_usage(self, name: CgroupName) -> int:
        """Return the bytes that are charged to a cgroup; 0 when it is not there."""

    def reduce_cpu_limits(self, name: CgroupName) -> None:
        """Give a cgroup the least weight; one that is gone is no error."""

    def children(self, name: CgroupName) -> set[CgroupName]:
        """Return the cgroups directly below one, in any hierarchy."""

    def path(self, name: CgroupName) -> str:
        """Return the path of a cgroup below the mounts, as the driver lays it out."""


class CgroupMounts(Record):
    """Where the hierarchies are mounted.

    Attributes:
        version: 1 or 2.
        of: controller → mount point; for version 2 the same for all.
    """

    version: int
    of: Mapping[str, Path]


def cgroup_mounts(mount: Path = CGROUP_MOUNT, mount_info: Path = MOUNT_INFO) -> CgroupMounts:
    """Return the hierarchies of this machine.

    Raises:
        ContainerManagerFailed: none is mounted.
    """
    controllers = mount / "cgroup.controllers"
    if controllers.is_file():
        return CgroupMounts(version=2, of=dict.fromkeys(controllers.read_text().split(), mount))
    found = dict(sorted(_v1_mounts(mount_info.read_text()), key=lambda entry: -len(str(entry[1]))))
    if not found:
        raise ContainerManagerFailed("failed to find cgroup mounts")
    return CgroupMounts(version=1, of=found)


def _v1_mounts(text: str) -> Iterator[tuple[str, Path]]:
    """Yield controller and mount point of the hierarchies in a mountinfo file; see proc(5)."""
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        if kind == "cgroup":
            names = options.split(",")
            yield from ((name.removeprefix("name="), Path(before.split(" ")[4])) for name in names if name != "rw")


def write_value(file: Path, value: str) -> None:
    """Write one value to a cgroup's file.

    Raises:
        ContainerManagerFailed: the kernel refused it.
    """
    try:
        # No new file, should the cgroup be gone in between: outside of a cgroup's folder this would make one.
        descriptor = os.open(file, os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(descriptor, value.encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        raise ContainerManagerFailed(f"failed to write {value!r} to {str(file)!r}: {error.strerror}") from error


def read_processes(folder: Path) -> set[int]:
    """Return the processes in a cgroup's folder and all below it; empty when it is gone."""
    found: set[int] = set()
    for place, _, _ in os.walk(folder):
        try:
            found.update(int(line) for line in (Path(place) / _PROCESSES).read_text().split())
        except OSError:
            continue  # removed while we looked, with what was in it
    return found


def read_own_processes(folder: Path) -> set[int]:
    """Return the processes in a cgroup's folder itself; empty when it is gone."""
    try:
        return {int(line) for line in (folder / _PROCESSES).read_text().split()}
    except OSError:
        return set()


def attach_process(folder: Path, pid: int) -> None:
    """Move a process into the cgroup of a folder.

    Raises:
        ContainerManagerFailed: the kernel refused.
    """
    write_value(folder / _PROCESSES, str(pid))


def read_table(file: Path) -> Mapping[str, int]:
    """Return the numbers of a file with a name and a number in each line.

    Raises:
        OSError: there is no such file.
    """
    rows = (line.split() for line in file.read_text().splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) == 2}


def remove_folders(folders: Iterable[Path], clock: Clock) -> None:
    """Remove cgroups' folders, deepest first; the kernel may keep one busy for a moment after its last process.

    Raises:
        ContainerManagerFailed: one stays.
    """
    for folder in folders:
        pause = _FIRST_PAUSE_SECONDS
        for last in (False,) * (_REMOVALS - 1) + (True,):
            failure = _remove(folder)
            if failure is None:
                break
            if last or failure.errno != errno.EBUSY:
                raise ContainerManagerFailed(f"unable to destroy cgroup path {str(folder)!r}: {failure.strerror}")
            clock.sleep(pause)
            pause *= 2


def _remove(folder: Path) -> OSError | None:
    """Remove the folder of a cgroup and those below it; return what was in the way."""
    try:
        for place, _, _ in os.walk(folder, topdown=False):
            Path(place).rmdir()
    except FileNotFoundError:
        return None
    except OSError as error:
        return error
    return None


def kill_processes(manager: CgroupManager, name: CgroupName) -> None:
    """Kill what runs in a cgroup.

    Raises:
        ContainerManagerFailed: a process may not be killed.
    """
    for _ in range(_KILLS):
        left = manager.pids(name)
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            except OSError as error:
                where = f"the {show_cgroup_name(name)} cgroups"
                why = f"failed to kill all the processes attached to {where}: {error.strerror}"
                raise ContainerManagerFailed(why) from error


def subfolders(folder: Path) -> list[str]:
    """Return the names of the cgroups in a folder; empty when it is gone."""
    try:
        return [entry.name for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []
