"""Slices of systemd, made over D-Bus by its own ``busctl``: only what systemd made stays when it tidies up.

Sources: libcontainer ``cgroups/systemd``; systemd's org.freedesktop.systemd1(5).
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from hyperkube_host.kubelet.cm.interface import ContainerManagerFailed

from hyperkube.machinery.errors import UsageError

RUNNING = Path("/run/systemd/system")
_MANAGER = ("org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager")
_ACCOUNTED = ("CPUAccounting", "MemoryAccounting", "TasksAccounting", "IOAccounting")
_TIMEOUT_SECONDS = 30
_EXISTS, _ABSENT = "already exists", "not loaded"


class SliceMaker:
    """Makes and ends slices."""

    def __init__(self, busctl: str = "busctl") -> None:
        """Take the program that talks to systemd."""
        self._busctl = busctl

    def start(self, path: str) -> None:
        """Make the slice at a path (``/kubepods.slice/kubepods-burstable.slice``); one that is there stays.

        Raises:
            ContainerManagerFailed: systemd refused it.
        """
        unit = _unit(path)
        if unit:
            self._call(start_call(unit), _EXISTS)

    def stop(self, path: str) -> None:
        """End a slice; one that is gone is no error.

        Raises:
            ContainerManagerFailed: systemd refused it.
        """
        unit = _unit(path)
        if unit:
            self._call(("StopUnit", "ss", unit, "replace"), _ABSENT)

    def _call(self, call: Sequence[str], fine: str) -> None:
        command = [self._busctl, "--system", "call", *_MANAGER, *call]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TIMEOUT_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ContainerManagerFailed(f"systemd: {call[0]} {call[2]}: {error}") from error
        if done.returncode and fine not in done.stderr:
            raise ContainerManagerFailed(f"systemd: {call[0]} {call[2]}: {done.stderr.strip()}")


def start_call(unit: str) -> tuple[str, ...]:
    """Return the call that makes a slice with all its accounting, as busctl wants its arguments."""
    parent = unit.removesuffix(".slice").rpartition("-")[0]
    properties = [
        ("Description", "s", f"libcontainer container {unit.removesuffix('.slice')}"),
        ("Wants", "as", "1", f"{parent}.slice" if parent else "-.slice"),
        ("DefaultDependencies", "b", "false"),
        *((name, "b", "true") for name in _ACCOUNTED),
    ]
    flat = [word for entry in properties for word in entry]
    return ("StartTransientUnit", "ssa(sv)a(sa(sv))", unit, "replace", str(len(properties)), *flat, "0")


def slices_of_this_machine(busctl: str = "busctl") -> SliceMaker:
    """Return what makes slices.

    Raises:
        UsageError: systemd does not run here.
    """
    if not RUNNING.is_dir():
        raise UsageError("--cgroup-driver=systemd: systemd does not run on this machine; use cgroupfs")
    return SliceMaker(busctl)


def _unit(path: str) -> str:
    return path.rpartition("/")[2]
