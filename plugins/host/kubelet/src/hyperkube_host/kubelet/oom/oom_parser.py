"""Reads what the kernel says of a process that it killed for want of memory: several lines, the name in the last.

Source: cadvisor ``utils/oomparser/oomparser.go``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_BEGIN = re.compile(r"invoked oom-killer:")
_CONSTRAINT = re.compile(r"oom-kill:constraint=([^,]*),.*oom_memcg=([^,]*),task_memcg=([^,]*),task=.*,pid=\d+,uid=\d+")
_GLOBAL = re.compile(r"oom-kill:constraint=([^,]*),.*global_oom,task_memcg=([^,]*),task=.*,pid=\d+,uid=\d+")
_LIMIT = re.compile(r"Task in (\S*) killed as a result of limit of (\S*)")
_KILLED = re.compile(r"Killed process (\d+) \((.+?)\)")
ROOT = "/"


class OomInstance(NamedTuple):
    """A killed process, and the cgroup whose memory was used up: ``/`` for the machine's."""

    pid: int
    process: str
    cgroup: str = ROOT
    victim_cgroup: str = ROOT


class OomParser:
    """Takes the kernel's lines one by one."""

    def __init__(self) -> None:
        self._current: OomInstance | None = None

    def feed(self, line: str) -> OomInstance | None:
        """Take a line; return the killed process with the line that is the last about it."""
        if _BEGIN.search(line):
            self._current = OomInstance(0, "")
            return None
        if self._current is None:
            return None
        if found := _CONSTRAINT.search(line):
            self._current = self._current._replace(cgroup=found[2], victim_cgroup=found[3])
        elif found := _GLOBAL.search(line):
            self._current = self._current._replace(victim_cgroup=found[2])
        elif found := _LIMIT.search(line):
            self._current = self._current._replace(cgroup=found[2], victim_cgroup=found[1])
        elif found := _KILLED.search(line):
            instance = self._current._replace(pid=int(found[1]), process=found[2])
            self._current = None
            return instance
        return None
