# ruff: noqa: PTH123, PTH208 - pathlib would cost each container's shim memory and start-up time
"""The processes below this one."""

from __future__ import annotations

import os
import signal


def descendants(pid: int) -> list[int]:
    """Return the pids of all processes below `pid`."""
    found: list[int] = []
    todo = [pid]
    while todo:
        children = _children(todo.pop())
        found += children
        todo += children
    return found


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as source:
                found += map(int, source.read().split())
    except OSError:
        return found  # it ended meanwhile
    return found


def end_all() -> None:
    """Kill and reap all processes below this one, also those that hid in sessions of their own."""
    while True:
        for pid in _adopted():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _adopted() -> list[int]:
    """Return this process's children: orphans become that, so none is missed though the kernel's list may miss some."""
    me = str(os.getpid())
    found: list[int] = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as stat:
                    parent = stat.read().rpartition(")")[2].split()[1]
            except OSError:
                continue
            if parent == me:
                found.append(int(entry))
    return found
