"""Whether memory, disk or process ids of the node run out: what its three conditions of pressure say.

The thresholds are those of ``--eviction-hard``; a condition stays for a while after the last measurement under its
threshold, so that it does not flap.

Source: kubernetes ``pkg/kubelet/apis/config/v1beta1/defaults.go`` (EvictionPressureTransitionPeriod).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from hyperkube_host.kubelet.thresholds import CONDITION_OF, Threshold

TRANSITION_SECONDS = 300.0
_PROC = Path("/proc")


class Supply(NamedTuple):
    """What is left of something, and how much of it there is in all."""

    available: int
    capacity: int


def measure(root: Path, proc: Path = _PROC) -> Mapping[str, Supply]:
    """Return what is left on this machine, by signal, as far as it tells.

    Args:
        root: a folder on the disk that pods use, which images share.
        proc: the kernel's files.
    """
    supplies: dict[str, Supply] = {}
    with suppress(OSError, KeyError, ValueError):
        lines = (line.split() for line in (proc / "meminfo").read_text().splitlines())
        memory = {words[0].rstrip(":"): int(words[1]) * 1024 for words in lines}
        supplies["memory.available"] = Supply(memory["MemAvailable"], memory["MemTotal"])
    with suppress(OSError):
        disk = os.statvfs(root)
        for name in ("nodefs", "imagefs"):
            supplies[f"{name}.available"] = Supply(disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize)
            if disk.f_files:  # some file systems do not count inodes
                supplies[f"{name}.inodesFree"] = Supply(disk.f_ffree, disk.f_files)
    with suppress(OSError, IndexError, ValueError):
        limit = min(int((proc / "sys" / "kernel" / name).read_text()) for name in ("pid_max", "threads-max"))
        used = int((proc / "loadavg").read_text().split()[3].partition("/")[2])
        supplies["pid.available"] = Supply(limit - used, limit)
    return supplies


class Pressure:
    """Knows which conditions hold; asked from one thread at a time."""

    def __init__(self, thresholds: tuple[Threshold, ...], measured: Callable[[], Mapping[str, Supply]]) -> None:
        """Compare what `measured` returns with the thresholds."""
        self._thresholds = thresholds
        self._measured = measured
        self._last: dict[str, datetime] = {}

    def holding(self, now: datetime) -> frozenset[str]:
        """Return the conditions that hold: a threshold is met, or was met a short while ago."""
        supplies = self._measured() if self._thresholds else {}
        for threshold in self._thresholds:
            supply = supplies.get(threshold.signal)
            if supply is not None and threshold.is_met(*supply):
                self._last[CONDITION_OF[threshold.signal]] = now
        return frozenset(kind for kind, last in self._last.items() if (now - last).total_seconds() < TRANSITION_SECONDS)
