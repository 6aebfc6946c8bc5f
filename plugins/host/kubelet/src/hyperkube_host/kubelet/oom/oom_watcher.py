"""Tells of processes that were killed because the machine's memory was used up: events about the node.

A container that was over its own limit is told of by its status.

Source: kubernetes ``pkg/kubelet/oom/oom_watcher_linux.go``.
"""

from __future__ import annotations

import logging
import os
import select
import threading
from collections.abc import Callable
from pathlib import Path

from hyperkube_host.kubelet.oom.oom_parser import ROOT, OomParser

KERNEL_LOG = Path("/dev/kmsg")
_RECORD = 8192
"""The kernel gives one record a read, and refuses a smaller buffer than the record needs."""
_log = logging.getLogger("hyperkube.kubelet")


class OomWatcher:
    """Reads the kernel's log on a thread of its own, from the moment it starts."""

    def __init__(self, node_event: Callable[[str, str, str], None], path: Path = KERNEL_LOG) -> None:
        """Record events by `node_event` (kind, reason, message)."""
        self._node_event = node_event
        self._path = path
        self._thread: threading.Thread | None = None
        self._stop: int | None = None

    def start(self) -> None:
        """Begin to read; where the log may not be read, a line says so once."""
        try:
            source = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK)
            os.lseek(source, 0, os.SEEK_END)
        except OSError as error:
            _log.info("kills for want of memory are not watched: %s: %s", self._path, error.strerror)
            return
        stopped, self._stop = os.pipe()
        self._thread = threading.Thread(target=self._watch, args=(source, stopped), name="oom-watcher", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Read no more; idempotent."""
        if self._stop is not None and self._thread is not None:
            os.close(self._stop)
            self._thread.join()
            self._stop = None

    def _watch(self, source: int, stopped: int) -> None:
        parser = OomParser()
        try:
            while True:
                # The end of the pipe is what `close` says; a thread that waits for both costs nothing.
                ready, _, _ = select.select([source, stopped], [], [])
                if stopped in ready:
                    return
                for line in _lines(source):
                    self._take(parser, line)
        finally:
            os.close(source)
            os.close(stopped)

    def _take(self, parser: OomParser, line: str) -> None:
        found = parser.feed(line)
        if found is not None and found.cgroup == ROOT:
            text = f"System OOM encountered, victim process: {found.process}, pid: {found.pid}"
            self._node_event("Warning", "SystemOOM", text)


def _lines(source: int) -> list[str]:
    """Return the lines of the next record; none where some were overwritten before they were read."""
    try:
        return os.read(source, _RECORD).decode(errors="replace").splitlines()
    except (BlockingIOError, BrokenPipeError):
        return []
