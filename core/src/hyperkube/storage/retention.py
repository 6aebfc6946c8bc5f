"""Which history may be forgotten by now: what was replaced longer ago than the time to keep it."""

from __future__ import annotations

from collections import deque

DEFAULT_SECONDS = 300.0
"""Kubernetes compacts etcd every five minutes. Source: kubernetes apiserver ``pkg/storage/etcd3/compact.go``."""


class Retention:
    """Remembers which revision was current when.

    Args:
        seconds: how long history is kept at least; asked every so often, it is kept at most about twice as long.
    """

    def __init__(self, seconds: float = DEFAULT_SECONDS) -> None:
        self.seconds = seconds
        self._seen: deque[tuple[float, int]] = deque()

    def pass_over(self, now: float, revision: int) -> int:
        """Note that `revision` is current at `now` (monotonic seconds); return the one to compact, 0 for none yet."""
        self._seen.append((now, revision))
        old = 0
        while self._seen and self._seen[0][0] <= now - self.seconds:
            _, old = self._seen.popleft()
        return old
