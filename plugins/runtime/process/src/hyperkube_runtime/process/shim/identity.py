"""Which process is meant: a pid alone is reused, with the boot and the start time it is not."""

from __future__ import annotations

import os


def boot_id() -> str:
    """Return the id of this boot of the machine."""
    return _read("/proc/sys/kernel/random/boot_id").strip()


def start_time(pid: int) -> int:
    """Return the clock tick a process started at, or 0 when it is gone or only waits to be reaped."""
    try:
        fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    except OSError:
        return 0
    return 0 if fields[0] in "ZX" else int(fields[19])


def _read(path: str) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 4096).decode(errors="replace")
    finally:
        os.close(descriptor)
