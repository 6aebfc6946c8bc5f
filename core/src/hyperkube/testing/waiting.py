"""Waiting in tests for what other threads or processes do: look until it is so, never sleep and hope."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hyperkube.machinery.clock import SystemClock

SECONDS = 60.0
"""How long, unless said: a busy machine needs much longer than an idle one, and a test that succeeds does not wait."""
_PAUSE = 0.02

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
    deadline = clock.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        if clock.monotonic() >= deadline:
            raise AssertionError(f"not within {seconds:.0f} s: {why or look}")
        clock.sleep(_PAUSE)
