"""How many frames a peer may send that carry nothing: pings, settings, resets, empty pieces.

Each costs the reader more than the sender, and none is held back by flow control (RFC 9113 section 10.5). A connection
has a budget of them, which grows with time, and with every frame of use. A peer that overdraws it is sent away with
ENHANCE_YOUR_CALM.
"""

from __future__ import annotations

from collections.abc import Callable

from h2.exceptions import DenialOfServiceError
from h2.frame_buffer import FrameBuffer
from hyperframe.frame import DataFrame, Frame, HeadersFrame, RstStreamFrame

MOST = 2000.0
"""The whole budget."""

PER_SECOND = 200.0

RESET_COST = 10.0
"""Of a stream that is reset: it may have begun work that nobody waits for any more (CVE-2023-44487)."""

USE = 4.0
"""What a frame of use adds; a client opens windows up to so often for each frame that it gets."""

SMALL = 1024
"""Bytes below which a frame that a small window has cut off is of no use."""


class FrameBudget:
    """The budget of one connection.

    Args:
        monotonic: the time in seconds.
    """

    __slots__ = ("_left", "_monotonic", "_since")

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._since = monotonic()
        self._left = MOST

    def earn(self) -> None:
        """A frame of use has come or gone."""
        self._left += USE

    def spend(self, cost: float) -> None:
        """Pay for a frame that carries nothing.

        Raises:
            DenialOfServiceError: the budget is overdrawn.
        """
        self._left = min(self._left, MOST)
        self._left -= cost
        if self._left < 0:
            now = self._monotonic()
            self._left = min(MOST, self._left + (now - self._since) * PER_SECOND)
            self._since = now
            if self._left < 0:
                raise DenialOfServiceError("too many frames that carry nothing")


class CountedFrames(FrameBuffer):
    """Reads frames, and has each paid for; the peer of a client or a server."""

    def __init__(self, budget: FrameBudget, *, server: bool) -> None:
        super().__init__(server=server)
        self._budget = budget

    def __next__(self) -> Frame:
        """Return the next frame.

        Raises:
            ProtocolError: it is none, or one too many.
        """
        frame = super().__next__()
        if isinstance(frame, DataFrame) and (frame.data or "END_STREAM" in frame.flags):
            self._budget.earn()
        elif isinstance(frame, RstStreamFrame):
            self._budget.spend(RESET_COST)
        elif not isinstance(frame, HeadersFrame):
            self._budget.spend(1.0)
        return frame
