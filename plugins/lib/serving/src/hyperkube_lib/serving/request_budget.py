"""What a request may cost: when its time is up, its work stops, too, instead of going on behind an answer of 504.

Python cannot stop a thread from outside, but it can raise an exception in one. That is safe only where nothing is
locked or half done, so the thread says when it is there: reading a body, applying a patch. There, and nowhere else, the
loop's tick ends it; a request whose time is up before it gets there does not begin.
"""

from __future__ import annotations

import ctypes
import os
import threading
from pathlib import Path
from types import TracebackType

from hyperkube.machinery.errors import EmptyDetails, Timeout

MOST_CPU_SECONDS = 15.0
"""Processor time for one stretch of such work; the largest body that is let in takes a fraction of it."""


_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class TimeUp(BaseException):
    """Raised in the worker's thread, where no handler of ordinary errors may take it for one.

    `RequestBudget` makes a `Timeout` of it, unless it comes between two lines of its own.
    """


class RequestBudget:
    """The time of one request. `stop` and `check` are called on the loop, the others on the request's worker."""

    __slots__ = ("_inside", "_lock", "_native", "_over", "_posted", "_since", "_thread")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread = 0
        self._native = 0
        self._since: float | None = None
        self._inside = False
        self._over = False
        self._posted = False

    @property
    def is_over(self) -> bool:
        """Whether the request's time is up."""
        return self._over

    def __enter__(self) -> None:
        """Begin work that may be broken off anywhere.

        Raises:
            Timeout: the request's time is up already.
        """
        with self._lock:
            if self._over:
                raise _timeout()
            self._thread = threading.get_ident()
            self._native = threading.get_native_id()
            self._since = None
            self._inside = True

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        """End it.

        Raises:
            Timeout: it was broken off.
        """
        try:
            with self._lock:
                self._inside = False
                pending, self._posted = self._posted and kind is not TimeUp, False
                if pending:  # not raised yet: it must not be raised any later
                    _raise_in(self._thread, None)
        except TimeUp:  # raised just now; there is only one
            pending = True
        if pending or kind is TimeUp:
            raise _timeout() from None

    def stop(self) -> None:
        """The request's time is up."""
        with self._lock:
            if not self._over:
                self._over = True
                self._posted = self._inside
                if self._inside:
                    _raise_in(self._thread, TimeUp)

    def check(self) -> None:
        """Stop work that has taken more processor time than any should, since it was looked at for the first time."""
        with self._lock:
            if not self._inside:
                return
            used = _processor_seconds(self._native)
            if self._since is None:
                self._since = used
            taken = used - self._since
        if taken > MOST_CPU_SECONDS:
            self.stop()


def _processor_seconds(thread: int) -> float:
    """Return what a thread has used of a processor, 0 where the system does not tell. Source: proc(5), ``stat``."""
    try:
        fields = Path(f"/proc/self/task/{thread}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _timeout() -> Timeout:
    return Timeout("Timeout: request did not complete within the allotted timeout", details=EmptyDetails())


def _raise_in(thread: int, kind: type[BaseException] | None) -> None:
    raised = ctypes.py_object(kind) if kind is not None else None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)
