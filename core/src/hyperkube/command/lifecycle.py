"""Parts that start in order, run until a signal, and close in reverse: the frame of every server process."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import logging
import os
import select
import signal
import socket
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Protocol, Self

from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.collector_pause import collector_paused
from hyperkube.plugin.loader import one_look

_log = logging.getLogger("hyperkube.lifecycle")

PARENT = "HYPERKUBE_PARENT"
COLLECTOR_THRESHOLDS = (20_000, 5, 20)
"""Of a running server, see `gc.set_threshold` (Python's: 700, 10, 10): 30 updates under way have 5,000 objects."""
_PR_SET_PDEATHSIG = 1
_PARENT_DIED = signal.SIGUSR1


class StopSignal:
    """An event that a signal's handler may set, and that a waiting main thread never misses.

    ``threading.Event`` is neither. A handler runs between two steps of the main thread: inside ``Event.wait`` that
    thread holds the lock that ``Event.set`` waits for. And the kernel may hand a signal to another thread, or just
    before the main thread falls asleep on a lock: Python notes it and nothing wakes. Hence a pipe, which
    ``signal.set_wakeup_fd`` writes to at once, whichever thread was hit.
    """

    def __init__(self) -> None:
        self._is_set = False
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)

    def fileno(self) -> int:
        """Return the file descriptor for ``signal.set_wakeup_fd``."""
        return self._writer.fileno()

    def set(self) -> None:
        """Wake the waiting threads, now and later."""
        self._is_set = True
        with contextlib.suppress(OSError):  # full or closed: no thread sleeps there
            self._writer.send(b"\0")

    def is_set(self) -> bool:
        """Tell whether it was set."""
        return self._is_set

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is set, at most `timeout` seconds; tell whether it was set."""
        clock = SystemClock()
        deadline = None if timeout is None else clock.monotonic() + timeout
        while not self._is_set:
            left = None if deadline is None else deadline - clock.monotonic()
            if left is not None and left <= 0:
                break
            select.select([self._reader], [], [], left)
            if not self._is_set:
                self._forget_other_signals()
        return self._is_set

    def close(self) -> None:
        """Give its pipe back; it can still be set and asked."""
        self._reader.close()
        self._writer.close()

    def _forget_other_signals(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._reader.recv(4096)
        if self._is_set:
            self.set()


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
def stop_signal() -> Iterator[StopSignal]:
    """Give an event that SIGINT and SIGTERM set while the block runs; a second one ends the process at once.

    The death of the parent (see `end_with_parent`) sets it too, however often it is told: the kernel may repeat that
    for each thread of the parent.
    """
    event = StopSignal()

    def stop(number: int, _frame: FrameType | None) -> None:
        if event.is_set():
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        event.set()

    def parent_died(_number: int, _frame: FrameType | None) -> None:
        event.set()

    handlers = {signal.SIGINT: stop, signal.SIGTERM: stop, _PARENT_DIED: parent_died}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    wakeup = signal.set_wakeup_fd(event.fileno(), warn_on_full_buffer=False)
    try:
        yield event
    finally:
        signal.set_wakeup_fd(wakeup)
        for number, handler in before.items():
            signal.signal(number, handler)
        event.close()


@contextlib.contextmanager
def start_up() -> Iterator[None]:
    """Let the garbage collector rest while a server starts, and afterwards leave alone what is there by then.

    Modules, schemas and caches are made to stay: looking through them again and again takes a sixth of a start, and
    each full collection later on would touch, and so unshare, their memory for nothing. What is installed is looked
    at once: a start asks dozens of times.

    From then on the collector comes less often than Python has it come: objects of the API are trees, which go without
    it, and a server makes so many of them that each request would be searched for cycles several times.
    """
    with collector_paused(), one_look():
        try:
            yield
        finally:
            gc.freeze()
            gc.set_threshold(*COLLECTOR_THRESHOLDS)


def end_with_parent() -> None:
    """Have the kernel send a signal here when the process that ``$HYPERKUBE_PARENT`` names dies, however it dies.

    So a server that `up` started does not outlive an `up` that was killed. Linux only; elsewhere nothing happens.
    """
    parent = os.environ.get(PARENT)
    libc = ctypes.CDLL(None)
    if not parent or not hasattr(libc, "prctl"):
        return
    libc.prctl(_PR_SET_PDEATHSIG, int(_PARENT_DIED), 0, 0, 0)
    if os.getppid() != int(parent):
        signal.raise_signal(_PARENT_DIED)
