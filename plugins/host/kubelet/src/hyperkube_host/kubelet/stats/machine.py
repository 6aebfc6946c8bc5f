"""What the machine uses, as the kernel tells it in ``/proc``.

Source: kubernetes ``pkg/kubelet/stats/provider.go`` (GetRootFsStats, RlimitStats), ``pkg/kubelet/stats/pidlimit``.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from hyperkube.machinery.objects import Object

_PROC = Path("/proc")
_NANO = 1_000_000_000
_IDLE, _IOWAIT = 3, 4
"""Places of the times in which a CPU does nothing, in the first line of ``/proc/stat``."""
_OWN_TIMES = 8
"""The further ones are of guests, which the others contain."""


class MachineUse(NamedTuple):
    """What a machine uses; zero where it does not tell.

    Attributes:
        cpu: busy nanoseconds of all CPUs since its start.
        booted: when it started, in seconds since the epoch.
    """

    cpu: int = 0
    booted: float = 0.0
    memory_total: int = 0
    memory_available: int = 0


def machine_use(proc: Path = _PROC) -> MachineUse:
    """Return what this machine uses, as far as it tells."""
    cpu, booted, total, available = 0, 0.0, 0, 0
    with suppress(OSError, ValueError, IndexError):
        for line in (proc / "stat").read_text().splitlines():
            if line.startswith("cpu "):
                times = [int(number) for number in line.split()[1 : 1 + _OWN_TIMES]]
                busy = sum(times) - times[_IDLE] - times[_IOWAIT]
                cpu = busy * _NANO // os.sysconf("SC_CLK_TCK")
            elif line.startswith("btime "):
                booted = float(line.split()[1])
    with suppress(OSError, ValueError, KeyError):
        rows = [line.split() for line in (proc / "meminfo").read_text().splitlines() if line.startswith("Mem")]
        memory = {words[0]: int(words[1]) * 1024 for words in rows}
        total, available = memory["MemTotal:"], memory["MemAvailable:"]
    return MachineUse(cpu, booted, total, available)


def process_limits(proc: Path = _PROC) -> Object:
    """Return ``maxpid`` and ``curproc``, nothing where the machine does not tell."""
    try:
        most = min(int((proc / "sys" / "kernel" / name).read_text()) for name in ("pid_max", "threads-max"))
        running = int((proc / "loadavg").read_text().split()[3].partition("/")[2])
    except (OSError, IndexError, ValueError):
        return {}
    return {"maxpid": most, "curproc": running}
