# ruff: noqa: PTH103, PTH106, PTH110, PTH118, PTH120, PTH123 - pathlib would cost each container's shim memory and start-up time
"""Control groups for the limits of a container, where this machine lets us make them.

Of version 2 the nearest group above our own is used that may be written and passes its controllers on: a delegated
one, or the machine's for root. Of version 1 it is our own group of each controller.
"""

from __future__ import annotations

import os

from .kernel_files import read_text

ROOT = "/sys/fs/cgroup"
PERIOD_MICROSECONDS = 100_000
_FOLDER = "hyperkube"
_TRIES = 3


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


def _own_groups(own: str) -> dict[str, str]:
    """Return controller → path of our own group; version 2 has the empty name. `own`: the text of its file."""
    groups = {}
    for line in own.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            groups[controller] = path
    return groups


def _is_ours(folder: str) -> bool:
    return os.access(folder, os.W_OK) and os.access(os.path.join(folder, "cgroup.procs"), os.W_OK)


def usable(own: str | None = None, root: str = ROOT) -> dict[str, str]:
    """Return ``cpu`` and ``memory`` → the folder in which groups with that controller can be made.

    Args:
        own: the text of ``/proc/self/cgroup``.
        root: where the control groups are mounted.
    """
    groups = _own_groups(read_text("/proc/self/cgroup") if own is None else own)
    found: dict[str, str] = {}
    for controller in ("cpu", "memory"):
        if controller in groups:
            folder = os.path.join(root, controller, groups[controller].lstrip("/"))
            # In a container our group may be mounted as the root itself, under a name that it has only outside.
            for place in (folder, os.path.join(root, controller)):
                if controller not in found and _is_ours(place):
                    found[controller] = place
        elif "" in groups:
            place = _delegated(root, groups[""], controller)
            if place:
                found[controller] = place
    return found


def _delegated(root: str, path: str, controller: str) -> str:
    folder = os.path.dirname(os.path.join(root, path.lstrip("/")).rstrip("/"))
    while folder.startswith(root):
        if controller in read_text(os.path.join(folder, "cgroup.subtree_control")).split() and _is_ours(folder):
            return folder
        folder = os.path.dirname(folder)
    return ""


class ContainerCgroups:
    """The groups of one container."""

    def __init__(self, container_id: str, places: dict[str, str]) -> None:
        """Make nothing yet; `places` is what `usable` returned."""
        self._id = container_id
        self._places = places
        self._made: dict[str, str] = {}

    def limit(self, memory: int, cpu: int) -> set[str]:
        """Make the groups for these limits (bytes, thousandths of a CPU; 0 for none); return which are in force."""
        limits = {"memory": memory, "cpu": cpu}
        for controller, place in self._places.items():
            if not limits[controller]:
                continue
            for _ in range(_TRIES):
                try:
                    self._made[controller] = self._make(controller, place, limits[controller])
                except FileNotFoundError:
                    continue  # the last other container has just removed the parent of all
                except OSError:
                    break  # its name is not in what is returned
                else:
                    break
        return set(self._made)

    def _make(self, controller: str, place: str, limit: int) -> str:
        parent = os.path.join(place, _FOLDER)
        os.makedirs(parent, exist_ok=True)
        passes_on = os.path.join(parent, "cgroup.subtree_control")
        if os.path.exists(passes_on):
            _write(passes_on, f"+{controller}")
        folder = os.path.join(parent, self._id)
        os.makedirs(folder, exist_ok=True)
        quota = max(1000, limit * PERIOD_MICROSECONDS // 1000)
        if controller == "memory":
            _limit_memory(folder, limit)
        elif os.path.exists(os.path.join(folder, "cpu.max")):
            _write(os.path.join(folder, "cpu.max"), f"{quota} {PERIOD_MICROSECONDS}")
        else:
            _write(os.path.join(folder, "cpu.cfs_period_us"), str(PERIOD_MICROSECONDS))
            _write(os.path.join(folder, "cpu.cfs_quota_us"), str(quota))
        return folder

    def process_files(self) -> tuple[str, ...]:
        """Return the files by which a process joins the groups."""
        return tuple(sorted({os.path.join(folder, "cgroup.procs") for folder in self._made.values()}))

    def killed_for_memory(self) -> bool:
        """Tell whether the kernel has killed one of its processes because the memory was used up."""
        folder = self._made.get("memory")
        if folder is None:
            return False
        events = read_text(os.path.join(folder, "memory.events")) or read_text(
            os.path.join(folder, "memory.oom_control")
        )
        return any(line.startswith("oom_kill ") and line.split()[1] != "0" for line in "".join(events).splitlines())

    def remove(self) -> None:
        """Remove the groups; their processes have ended."""
        for folder in set(self._made.values()):
            _remove(folder)
        self._made.clear()


def _limit_memory(folder: str, limit: int) -> None:
    """Limit the memory of a group, without swap where the kernel counts that; all its processes end together."""
    is_v2 = os.path.exists(os.path.join(folder, "memory.max"))
    _write(os.path.join(folder, "memory.max" if is_v2 else "memory.limit_in_bytes"), str(limit))
    further = {"memory.swap.max": "0", "memory.oom.group": "1", "memory.memsw.limit_in_bytes": str(limit)}
    for name, value in further.items():
        path = os.path.join(folder, name)
        if os.path.exists(path):
            _write(path, value)


def remove_left(container_id: str, places: dict[str, str]) -> None:
    """Remove what is left of the groups of a container whose shim could not do it."""
    for place in set(places.values()):
        _remove(os.path.join(place, _FOLDER, container_id))


def _remove(folder: str) -> None:
    """Remove a group, and the one above it if it was the last there; one that still has a process stays."""
    try:
        os.rmdir(folder)
        os.rmdir(os.path.dirname(folder))
    except OSError:
        return
