"""Let the garbage collector rest while modules are imported or a server is built.

All that is made in that time is there to stay, so looking through it finds nothing; with many clusters in one process
that looking costs several times as much as building them.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class CollectorPause:
    """Several threads may pause the collector at once; it goes on with the last of them, if it was on before."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._was_on = False

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Collect nothing in the context, unless another part of the program asks for it."""
        with self._lock:
            if not self._depth:
                self._was_on = gc.isenabled()
                gc.disable()
            self._depth += 1
        try:
            yield
        finally:
            with self._lock:
                self._depth -= 1
                if not self._depth and self._was_on:
                    gc.enable()


collector_paused = CollectorPause()
"""The collector is the process's, so there is one of these."""
