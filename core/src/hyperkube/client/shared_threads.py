"""A few threads that many tasks share: what has nothing to do costs no thread.

An in-process informer never waits for a network: it looks what there is, hands it on, and is done until it is woken.
A hundred of them as a hundred threads cost their stacks, and wake-ups that take the interpreter from the thread that
caused them. Here each is a `SharedTask`; of one task never two steps run at a time, so what it hands on stays in order.

A step that takes long (it should not) does not hold up the others for long: when a task has waited for `PATIENCE`
seconds, one more thread is started. It goes when it finds nothing to do and `THREADS` others at rest.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
from collections.abc import Callable
from math import inf

from hyperkube.machinery.clock import Clock, SystemClock

THREADS = 2
MOST_THREADS = 16
PATIENCE = 0.5
"""Seconds that a task waits for a thread before there is one more."""
LEAVE_SECONDS = 5.0

Step = Callable[[], float | None]
"""Does what there is to do without waiting; returns the seconds until the next step, None to rest until it is woken."""

_logger = logging.getLogger("hyperkube.informer")


class SharedThreads:
    """The threads; they start with the first wake-up and end with `close`. All methods are thread-safe.

    Args:
        name: what the threads' names begin with.
        clock: has the thread on which it is noticed that steps take long.
        linger: after how many seconds of the machine's time without anything to do the last threads end, too.
    """

    def __init__(self, name: str, clock: Clock, *, linger: float | None = None) -> None:
        self._linger = linger
        self._name = name
        self._clock = clock
        self._time = SystemClock()  # rests are the machine's time, whatever the cluster's is
        self._changed = threading.Condition()
        self._due: list[tuple[float, int, SharedTask]] = []
        self._order = itertools.count()
        self._idle = 0
        self._alarms: list[float] = []
        self._looking = self._closed = False
        self._threads: list[threading.Thread] = []
        self._numbers = itertools.count()

    def task(self, step: Step) -> SharedTask:
        """Return a task that does `step` after each `SharedTask.wake`."""
        return SharedTask(self, step)

    def close(self) -> None:
        """Run no more steps and end the threads; idempotent."""
        with self._changed:
            self._closed = True
            self._due.clear()
            self._changed.notify_all()
            threads = self._threads.copy()
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(LEAVE_SECONDS)

    def queue(self, task: SharedTask, seconds: float = 0.0) -> None:
        """Run `task` after so many seconds; for tasks only."""
        due = self._time.monotonic() + seconds
        with self._changed:
            if self._closed:
                return
            heapq.heappush(self._due, (due, next(self._order), task))
            if self._idle:
                self._changed.notify()
            elif len(self._threads) < THREADS:
                self._add_thread()
            else:
                self._look_later()

    def requeue(self, task: SharedTask, seconds: float) -> None:
        """Run `task` again after so many seconds; on one of the threads only, when it is done with the last step.

        No other thread is woken, which costs more than many a step: this one looks what is due next.
        """
        due = self._time.monotonic() + seconds
        with self._changed:
            if not self._closed:
                heapq.heappush(self._due, (due, next(self._order), task))

    def _add_thread(self) -> None:
        thread = threading.Thread(target=self._run, name=f"{self._name}-{next(self._numbers)}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _look_later(self) -> None:
        if not self._looking and len(self._threads) < MOST_THREADS:
            self._looking = True
            self._clock.call_later(PATIENCE, self._look)

    def _look(self) -> None:
        """Add a thread if all have been busy while a task waited."""
        with self._changed:
            self._looking = False
            if self._closed or self._idle or not self._due:
                return
            if self._time.monotonic() - self._due[0][0] >= PATIENCE / 2:
                self._add_thread()
            self._look_later()

    def _run(self) -> None:
        while (task := self._next()) is not None:
            task.run()

    def _next(self) -> SharedTask | None:
        with self._changed:
            while not self._closed:
                wait = self._due[0][0] - self._time.monotonic() if self._due else None
                if wait is not None and wait <= 0:
                    task = heapq.heappop(self._due)[2]
                    if self._due and not self._idle:
                        self._look_later()
                    elif self._due and min(self._alarms, default=inf) > self._due[0][0]:
                        # This thread may be long with its task, and none that rests knows when the next one is due.
                        self._changed.notify()
                    return task
                if self._idle >= THREADS:
                    # A task that is due later woke one thread, so that it waits no longer than that: if it was this
                    # one, another must look how long.
                    self._threads.remove(threading.current_thread())
                    self._changed.notify()
                    return None
                alarm = inf if wait is None else self._due[0][0]
                self._idle += 1
                self._alarms.append(alarm)
                woken = self._changed.wait(self._linger if wait is None else wait)
                self._alarms.remove(alarm)
                self._idle -= 1
                if not (woken or self._due or self._closed) and wait is None:
                    self._threads.remove(threading.current_thread())
                    return None
            return None


class SharedTask:
    """One of the many: woken from any thread, run on one at a time."""

    def __init__(self, threads: SharedThreads, step: Step) -> None:
        self._threads = threads
        self._step = step
        self._lock = threading.Lock()
        self._queued = self._woken = self._left = False
        self._at_work: int | None = None
        # Who stops the task waits for it; made for that, as a kilobyte counts where there are thousands of tasks.
        self._rested: threading.Event | None = None

    def wake(self) -> None:
        """Ask for a step: soon, and after the present one if there is one; one step may answer many wake-ups."""
        with self._lock:
            if self._queued or self._left:
                return
            if self._at_work is not None:
                # The step under way may have looked before the news came: it is followed by another one.
                self._woken = True
                return
            self._queued = True
        self._threads.queue(self)

    def stop(self) -> None:
        """Run no more; returns when the present step has ended, unless that is what calls this. Idempotent."""
        with self._lock:
            self._left = True
            if self._at_work is None or self._at_work == threading.get_ident():
                return
            # Under the lock that the end of the step takes: the step either finds the event, or has ended already.
            rested = self._rested = self._rested or threading.Event()
        rested.wait(LEAVE_SECONDS)

    def run(self) -> None:
        """Do one step; for the threads."""
        with self._lock:
            self._queued = False
            if self._left:
                return
            self._at_work = threading.get_ident()
        rest: float | None = None
        try:
            rest = self._step()
        except Exception:  # one task's bug must not take the thread from the others
            _logger.exception("a step of a task failed")
        finally:
            with self._lock:
                self._at_work = None
                if self._rested is not None:
                    self._rested.set()
                # Queued under the same lock that `wake` takes: a wake-up either sees the step at work and is
                # answered here, or sees it at rest and queues the task itself. None is lost, none queues twice.
                if self._woken and rest is None:
                    rest = 0.0
                self._woken = False
                self._queued = rest is not None and not self._left
                again = self._queued
            if again and rest is not None:
                self._threads.requeue(self, rest)
