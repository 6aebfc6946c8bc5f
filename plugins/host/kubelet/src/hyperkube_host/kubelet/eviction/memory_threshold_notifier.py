"""``--kernel-memcg-notification``: the kernel tells at once when memory gets short, between two rounds of evictions.

Version 1 of cgroups only, as in Kubernetes: version 2 has no such notification.

Source: kubernetes ``pkg/kubelet/eviction/memory_threshold_notifier.go``, ``threshold_notifier_linux.go``.
"""

from __future__ import annotations

import logging
import os
import select
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from hyperkube_host.kubelet.thresholds import Threshold

from hyperkube.machinery.clock import Clock

REFRESH_SECONDS = 10.0
"""How long a mark stands before it is set anew: it depends on how much of the memory is files that can be dropped."""
MEMORY_AVAILABLE = "memory.available"
_log = logging.getLogger("hyperkube.kubelet")


class MemoryThresholdNotifier:
    """Watches one cgroup for the amounts of memory at which thresholds are met."""

    def __init__(
        self, folder: Path, thresholds: Sequence[Threshold], capacity: int, crossed: Callable[[], None], clock: Clock
    ) -> None:
        """Watch nothing before the first `update`.

        Args:
            folder: of the cgroup, in the hierarchy of the controller ``memory``.
            thresholds: those of other signals than ``memory.available`` do not count.
            capacity: the bytes of memory that thresholds are measured by.
            crossed: called on a thread of the notifier's own whenever the use of memory passes a mark.
            clock: for when marks are set anew.
        """
        self._folder = folder
        self._amounts = [one.value.of(capacity) for one in thresholds if one.signal == MEMORY_AVAILABLE]
        self._capacity = capacity
        self._crossed = crossed
        self._clock = clock
        self._lock = threading.Lock()
        self._watched: list[int] = []
        self._set_at: float | None = None
        self._closing = False

    def update(self) -> None:
        """Set the marks anew when they are old; a kernel that has none is told of in the log."""
        now = self._clock.monotonic()
        with self._lock:
            if self._closing or (self._set_at is not None and now - self._set_at < REFRESH_SECONDS):
                return
            self._set_at = now
            try:
                marks = self._marks()
                self._end_watches()
                for mark in marks:
                    self._watched.append(self._watch(mark))
            except OSError as error:
                _log.info("the kernel does not tell of memory that gets short: %s", error)

    def _marks(self) -> list[int]:
        """Return the uses of memory that are told of: files that nobody uses count, and can be dropped at once."""
        rows = (line.split() for line in (self._folder / "memory.stat").read_text().splitlines())
        inactive = next((int(row[1]) for row in rows if row[0] == "total_inactive_file"), 0)
        return [self._capacity - amount + inactive for amount in self._amounts]

    def _watch(self, mark: int) -> int:
        """Have the kernel tell when the use passes `mark`; return the descriptor that ends the watch."""
        usage = os.open(self._folder / "memory.usage_in_bytes", os.O_RDONLY)
        event = os.eventfd(0, os.EFD_CLOEXEC)
        try:
            (self._folder / "cgroup.event_control").write_text(f"{event} {usage} {mark}")
        except OSError:
            os.close(event)
            raise
        finally:
            os.close(usage)
        end = os.eventfd(0, os.EFD_CLOEXEC)
        threading.Thread(target=self._wait, args=(event, end), name="memory-notifier", daemon=True).start()
        return end

    def _wait(self, event: int, end: int) -> None:
        """Tell of each passing until the watch is ended; closes both descriptors."""
        both = select.poll()
        both.register(event, select.POLLIN)
        both.register(end, select.POLLIN)
        try:
            while end not in dict(both.poll()):
                os.eventfd_read(event)
                self._crossed()
        finally:
            os.close(event)
            with self._lock:
                if end in self._watched:
                    self._watched.remove(end)
                os.close(end)

    def _end_watches(self) -> None:
        """End all watches; the caller holds the lock, so that no descriptor is closed in between."""
        watched, self._watched = self._watched, []
        for end in watched:
            with suppress(OSError):
                os.eventfd_write(end, 1)

    def close(self) -> None:
        """Watch no more."""
        with self._lock:
            self._closing = True
            self._end_watches()
