"""``--really-crash-for-testing``: a bug ends the process, where it would be logged and the work be tried again.

Source: kubernetes ``pkg/util/runtime`` (ReallyCrash, HandleCrash) of 1.x.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import Generic, TypeVar

EXIT_CODE = 2
"""That of a Go program that panics."""
Key = TypeVar("Key")


def end_process() -> None:
    """End this process at once, as a crash does: nothing is closed."""
    logging.shutdown()
    os._exit(EXIT_CODE)


class Crashing(Generic[Key]):
    """Work of a pool of which any exception is a crash."""

    def __init__(self, work: Callable[[Key], None], end: Callable[[], None] = end_process) -> None:
        """Do `work`; when it raises, write the traceback to the log and call `end`."""
        self._work = work
        self._end = end

    def __call__(self, key: Key) -> None:
        """Do the work of one key."""
        try:
            self._work(key)
        except Exception:  # whatever it is: a pool would go on with the next key
            logging.getLogger("hyperkube.kubelet").exception("crash on %r", key)
            self._end()
            raise
