"""A few threads that give turns to many: what has nothing to do costs no thread.

An in-process informer never waits for a network: it looks what there is, hands it on, and is done until something
rings. A hundred of them as a hundred threads cost their stacks, and wakings that take the interpreter from whoever
caused them. Here each has a `Seat`; of one seat never two turns at a time, so what it hands on stays in order.

A turn that takes long (it should not) holds up nobody for long: when others have waited for `PATIENCE` seconds, one
more thread is started.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
from collections.abc import Callable

from hyperkube.machinery.clock import Clock, SystemClock

THREADS = 2
MOST_THREADS = 16
PATIENCE = 0.5
"""Seconds that a seat waits for a thread before there is one more."""
LEAVE_SECONDS = 5.0

Turn = Callable[[], float | None]
"""Does what there is to do without waiting; returns the seconds of rest before its next turn, None until it is rung."""

_logger = logging.getLogger("hyperkube.informer")


class Turns:
    """The threads; they start with the first ring and end with `close`. All methods are thread-safe.

    Args:
        name: what the threads' names begin with.
        clock: has the thread on which it is seen that turns take long.
    """

    def __init__(self, name: str, clock: Clock) -> None:
        self._name = name
        self._clock = clock
        self._time = SystemClock()  # rests are the machine's time, whatever the cluster's is
        self._changed = threading.Condition()
        self._due: list[tuple[float, int, Seat]] = []
        self._order = itertools.count()
        self._idle = 0
        self._looking = False
        self._threads: list[threading.Thread] = []
        self._closed = False

    def seat(self, turn: Turn) -> Seat:
        """Return a seat whose `Seat.ring` asks for a turn."""
        return Seat(self, turn)

    def close(self) -> None:
        """Give no more turns and end the threads; idempotent."""
        with self._changed:
            self._closed = True
            self._due.clear()
            self._changed.notify_all()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(LEAVE_SECONDS)

    def queue(self, seat: Seat, seconds: float = 0.0) -> None:
        """Give `seat` a turn after so many seconds; for seats only."""
        due = self._time.monotonic() + seconds
        with self._changed:
            if self._closed:
                return
            heapq.heappush(self._due, (due, next(self._order), seat))
            if self._idle:
                self._changed.notify()
            elif len(self._threads) < THREADS:
                self._add_thread()
            else:
                self._look_later()

    def _add_thread(self) -> None:
        thread = threading.Thread(target=self._run, name=f"{self._name}-{len(self._threads)}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _look_later(self) -> None:
        if not self._looking and len(self._threads) < MOST_THREADS:
            self._looking = True
            self._clock.call_later(PATIENCE, self._look)

    def _look(self) -> None:
        """Add a thread if all have been busy while somebody waited."""
        with self._changed:
            self._looking = False
            if self._closed or self._idle or not self._due:
                return
            if self._time.monotonic() - self._due[0][0] >= PATIENCE / 2:
                self._add_thread()
            self._look_later()

    def _run(self) -> None:
        while (seat := self._next()) is not None:
            seat.take_turn()

    def _next(self) -> Seat | None:
        with self._changed:
            while not self._closed:
                wait = self._due[0][0] - self._time.monotonic() if self._due else None
                if wait is not None and wait <= 0:
                    seat = heapq.heappop(self._due)[2]
                    if self._due and not self._idle:
                        self._look_later()
                    return seat
                self._idle += 1
                self._changed.wait(wait)
                self._idle -= 1
            return None


class Seat:
    """One of the many: rung from any thread, called on one at a time."""

    def __init__(self, turns: Turns, turn: Turn) -> None:
        self._turns = turns
        self._turn = turn
        self._lock = threading.Lock()
        self._queued = False
        self._rung = False
        self._left = False
        self._at_work: int | None = None
        self._resting = threading.Event()
        self._resting.set()

    def ring(self) -> None:
        """Ask for a turn: soon, and after the present one if there is one; many rings may be answered by one turn."""
        with self._lock:
            if self._queued or self._left:
                return
            if self._at_work is not None:
                self._rung = True
                return
            self._queued = True
        self._turns.queue(self)

    def leave(self) -> None:
        """Have no more turns; returns when the present one has ended, unless it is what calls this. Idempotent."""
        with self._lock:
            self._left = True
            within = self._at_work == threading.get_ident()
        if not within:
            self._resting.wait(LEAVE_SECONDS)

    def take_turn(self) -> None:
        """Do it; for the threads."""
        with self._lock:
            self._queued = False
            if self._left:
                return
            self._at_work = threading.get_ident()
            self._resting.clear()
        rest: float | None = None
        try:
            rest = self._turn()
        except Exception:  # one seat's bug must not take the thread from the others
            _logger.exception("a turn failed")
        finally:
            with self._lock:
                self._at_work = None
                self._resting.set()
                if self._rung and rest is None:
                    rest = 0.0
                self._rung = False
                self._queued = rest is not None and not self._left
                again = self._queued
            if again and rest is not None:
                self._turns.queue(self, rest)
