"""Sets of CPUs as the kernel writes them: ``0-3,8``. Source: kubernetes ``k8s.io/utils/cpuset``; cpuset(7)."""

from __future__ import annotations

from collections.abc import Iterable

CpuSet = frozenset[int]
NO_CPUS: CpuSet = frozenset()
_LARGEST = 1 << 16


def parse_cpu_set(text: str) -> CpuSet:
    """Return the CPUs of a list.

    Raises:
        ValueError: it is no such list.
    """
    found: set[int] = set()
    for part in text.split(",") if text else ():
        first, dash, last = part.partition("-")
        low, high = int(first), int(last if dash else first)
        if not 0 <= low <= high < _LARGEST:
            raise ValueError(f"invalid range {part!r} of CPUs")
        found.update(range(low, high + 1))
    return frozenset(found)


def format_cpu_set(cpus: Iterable[int]) -> str:
    """Return the list of the CPUs, neighbours as ranges."""
    ranges: list[list[int]] = []
    for cpu in sorted(cpus):
        if ranges and cpu == ranges[-1][-1] + 1:
            ranges[-1][1:] = [cpu]
        else:
            ranges.append([cpu])
    return ",".join("-".join(map(str, ends)) for ends in ranges)
