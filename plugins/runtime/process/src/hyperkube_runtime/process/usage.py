# ruff: noqa: PTH123, PTH208 - hundreds of small files at each measurement: pathlib takes several times as long
"""What the processes below each shim use, in one pass over /proc."""

from __future__ import annotations

import os
from collections.abc import Mapping

from hyperkube.hookspecs.runtime import ContainerUsage

_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def measure(shims: Mapping[int, str]) -> list[ContainerUsage]:
    """Return the usage of each container, given the pids of the shims.

    CPU counts also the children that ended (the kernel adds them to their parents); memory is the resident set.
    """
    if not shims:  # a node at rest asks every few seconds
        return []
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    resident: dict[int, int] = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as stat:
                fields = stat.read().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(entry)
        children.setdefault(int(fields[1]), []).append(pid)
        ticks[pid] = sum(int(number) for number in fields[11:15])
        resident[pid] = int(fields[21]) * _PAGE
    return [
        _sum(container_id, shim, children, ticks, resident) for shim, container_id in shims.items() if shim in ticks
    ]


def _sum(
    container_id: str,
    shim: int,
    children: Mapping[int, list[int]],
    ticks: Mapping[int, int],
    resident: Mapping[int, int],
) -> ContainerUsage:
    cpu, memory, todo = 0, 0, list(children.get(shim, ()))
    while todo:
        pid = todo.pop()
        cpu += ticks[pid]
        memory += resident[pid]
        todo += children.get(pid, ())
    return ContainerUsage(id=container_id, cpu_nanoseconds=cpu * 1_000_000_000 // _TICK, memory_bytes=memory)
