"""Parts that start in order, run until a signal, and close in reverse: the frame of every server process."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Protocol, Self

_log = logging.getLogger("hyperkube.lifecycle")

PARENT = "HYPERKUBE_PARENT"
_PR_SET_PDEATHSIG = 1


class Part(Protocol):
    """Something that is started once and closed once."""

    def start(self) -> None:
        """Begin; returns when it works."""

    def close(self) -> None:
        """End; returns when it has ended."""


class Lifecycle:
    """Starts parts as they are added and closes them, last first, when its ``with`` block ends."""

    def __init__(self) -> None:
        self._closers: list[tuple[str, Callable[[], None]]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        failures: list[Exception] = []
        while self._closers:
            name, close = self._closers.pop()
            try:
                close()
            except Exception as error:  # noqa: BLE001  the other parts must be closed all the same; it is raised below
                _log.exception("closing %s failed", name)
                failures.append(error)
        if failures:
            raise failures[0]

    def start(self, name: str, part: Part) -> None:
        """Start a part; from now on it will be closed, also if its start fails half-way."""
        self._closers.append((name, part.close))
        part.start()

    def on_close(self, name: str, close: Callable[[], None]) -> None:
        """Remember something to be done at the end."""
        self._closers.append((name, close))


@contextlib.contextmanager
def signals_set(event: threading.Event) -> Iterator[None]:
    """Let SIGINT and SIGTERM set `event` while the block runs; a second one ends the process at once."""

    def stop(number: int, _frame: FrameType | None) -> None:
        if event.is_set():
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        event.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def end_with_parent() -> None:
    """Have the kernel send SIGTERM here when the process that ``$HYPERKUBE_PARENT`` names dies, however it dies.

    So a server that `up` started does not outlive an `up` that was killed. Linux only; elsewhere nothing happens.
    """
    parent = os.environ.get(PARENT)
    libc = ctypes.CDLL(None)
    if not parent or not hasattr(libc, "prctl"):
        return
    libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != int(parent):
        signal.raise_signal(signal.SIGTERM)


def ends(*events: threading.Event) -> Callable[[], None]:
    """Return a function that sets all the events."""

    def set_all() -> None:
        for event in events:
            event.set()

    return set_all
