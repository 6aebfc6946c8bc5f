"""How often rules are synced: some changes at once, and no more than one sync per period on average.

Source: kubernetes ``pkg/util/async/bounded_frequency_runner.go``.
"""

from __future__ import annotations

BURST = 2
"""Syncs that may follow each other at once after a quiet time."""


class SyncLimit:
    """A bucket of tokens, one for each sync; takes times, reads no clock."""

    def __init__(self, period: float) -> None:
        """Begin full; with a period of 0 nothing is limited."""
        self._period = period
        self._tokens = float(BURST)
        self._at = 0.0

    def delay(self, now: float) -> float:
        """Return in how many seconds a sync may begin."""
        if not self._period:
            return 0.0
        self._fill(now)
        return max(0.0, (1.0 - self._tokens) * self._period)

    def take(self, now: float) -> None:
        """Note that a sync begins."""
        if self._period:
            self._fill(now)
            self._tokens = max(0.0, self._tokens - 1.0)

    def _fill(self, now: float) -> None:
        self._tokens = min(float(BURST), self._tokens + (now - self._at) / self._period)
        self._at = now
