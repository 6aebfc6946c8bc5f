"""Waiting in tests for what other threads or processes do: look until it is so, never sleep and hope."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hyperkube.machinery.clock import SystemClock

SECONDS = 60.0
"""How long, unless said: a busy machine needs much longer than an idle one, and a test that succeeds does not wait."""
_PAUSE = 0.02
_LONGEST_PAUSE = 1.0

Found = TypeVar("Found")


def eventually(look: Callable[[], Found], seconds: float = SECONDS, *, why: str = "") -> Found:
    """Call `look` until it returns something true; return that.

    Args:
        look: called at least once.
        seconds: how long to go on.
        why: what the failure says was waited for.

    Raises:
        AssertionError: it did not happen in time.
    """
    clock = SystemClock()
    began = clock.monotonic()
    while True:
        before = clock.monotonic()
        found = look()
        if found:
            return found
        now = clock.monotonic()
        if now >= began + seconds:
            raise AssertionError(f"not within {seconds:.0f} s: {why or look}")
        # Looking may cost a process (kubectl), and it takes from the others the time that they need to make it so.
        clock.sleep(min(max(_PAUSE, 4 * (now - before), (now - began) / 10), _LONGEST_PAUSE))
