"""How fast bytes may pass: a connection that has sent more than a second allows rests until the average is right again.

Source of the behaviour: kubernetes ``pkg/capabilities`` (PerConnectionBandwidthLimitBytesPerSec), go-flowrate.
"""

from __future__ import annotations


class BandwidthLimit:
    """One way of one connection.

    Attributes:
        resting: whether its reader was told to wait; kept by the reader.
    """

    __slots__ = ("_free_at", "_rate", "resting")

    def __init__(self, rate: int) -> None:
        """Allow `rate` bytes per second; 0 for any number."""
        self._rate = rate
        self._free_at = 0.0
        self.resting = False

    def spend(self, size: int, now: float) -> float:
        """Count bytes that passed at `now`; return the seconds to wait before the next."""
        if not self._rate:
            return 0.0
        self._free_at = max(self._free_at, now) + size / self._rate
        return self._free_at - now
