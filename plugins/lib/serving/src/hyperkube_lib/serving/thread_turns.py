"""Turns on a thread beside the loop: for a store in another process, where what a turn reads may come late.

Every few turns the thread waits until the loop that carries the answers has done what it has to.

A commit waits for the disk, mostly without the interpreter. Of several writes it is made on a second thread, while this
one begins those that have come since; these are committed together when it has ended. Clients that were answered
together come back together: so the first of them waits a moment for the others, and who is alone never waits.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias

from hyperkube_lib.serving.priority import USUAL_BEFORE_LOW, Priority, next_of
from hyperkube_lib.serving.turns import MOST_AT_ONCE, PATIENCE_SECONDS, Take, Turns

from hyperkube.machinery.clock import SystemClock
from hyperkube.storage.store import QueuesWrites

if TYPE_CHECKING:
    from greenlet import greenlet
    from hyperkube_lib.serving.loop import EdgeLoop

_monotonic = SystemClock().monotonic  # of the machine, whatever the cluster's time
_Item: TypeAlias = "Callable[[], None] | greenlet | Priority | None"
"""What arrives: a usual call to begin, a turn that comes back from elsewhere, or the end; a priority says that there is
something of that one: turns that are committed have a high one."""

_ALONE = 2
"""So few writes are committed right here: a hand-over costs more than it gains."""

SLICE_SECONDS = 0.001
"""For so long turns follow each other before the loop has its own: it asks for the interpreter several times a request,
and would wait for the switch interval each time."""

LINGER_SECONDS = 30.0
"""How long the thread waits for another call before it ends: longer than kubelets take to renew their leases."""


class ThreadTurns(Turns):
    """Runs calls by turns on a thread that comes with the first and goes when there are no more.

    Args:
        store: keeps what the turns write until it is taken (see `QueuesWrites`).
        limit: calls that may wait to be begun.
        name: of the threads.
        linger: seconds after the last call at which the thread ends.
    """

    def __init__(
        self, store: QueuesWrites, *, limit: int, name: str, logger: logging.Logger, linger: float = LINGER_SECONDS
    ) -> None:
        super().__init__(store, limit=limit, name=name, logger=logger)
        self._linger = linger
        self._arrived: SimpleQueue[_Item] = SimpleQueue()
        # Each high one has a `Priority.HIGH` in `_arrived`, and has begun when that is taken. All low ones have
        # one together, which goes to the end again as long as anything else or another low one is there.
        self._high: deque[Callable[[], None]] = deque()
        self._low: deque[Callable[[], None]] = deque()
        self._has_low = False  # whether `Priority.LOW` is in `_arrived`; under the lock
        # Who is committed goes on before anything begins: of what has begun the answer is waited for.
        self._committed: deque[list[greenlet]] = deque()
        self._commits: SimpleQueue[tuple[Callable[[], None], list[greenlet]] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._steps_before = 0
        # Of the thread alone:
        self._usual = 0  # calls since the last of low priority
        self._hurries = False  # whether one of high priority has begun that is not committed yet
        self._has_committer = False
        self._ending = False
        self._loops: tuple[EdgeLoop, ...] = ()
        self._until = 0.0
        self._together = 0
        """Who wrote, or waited to, when the last commit ended."""

    def submit(self, call: Callable[[], None], *, begun: bool = False, priority: Priority = Priority.USUAL) -> bool:
        """Have `call` made on a turn; tell False when too many wait already. From any thread.

        With `begun` the call goes on with one that was let in before, so that there is always room for it.
        """
        if self._closed or (self._arrived.qsize() + len(self._low) >= self._limit and not begun):
            return False
        if priority is Priority.USUAL:
            self._arrived.put(call)
        elif priority is Priority.HIGH:
            self._high.append(call)
            self._arrived.put(priority)
        else:
            with self._lock:
                self._low.append(call)
                if not self._has_low:
                    self._has_low = True
                    self._arrived.put(priority)
        if self._thread is None:
            self._start()
        return True

    def join(self, loop: EdgeLoop) -> None:
        """Have a loop, with which calls leave their answers, woken behind the turns; all that run wait for it at times.

        Called before the first call is submitted.
        """
        if loop not in self._loops:
            self._loops += (loop,)

    def answer(self, loop: EdgeLoop, call: Callable[..., object], *args: Any) -> None:
        """Leave a call with a loop, which is woken for several of them."""
        loop.leave(call, *args)

    def _come_back(self, turn: greenlet) -> None:
        self._arrived.put(turn)

    def relieve(self, take: Take) -> None:
        """Give calls that wait behind one that hangs to `take`. Called about once a second, from one thread."""
        self._wake()  # a call that hangs keeps the answers of those before it no longer than this
        stuck, self._steps_before = self._steps == self._steps_before, self._steps
        if not stuck:
            return
        for calls in (self._high, self._low):
            while (call := next_of(calls)) is not None:
                if not take(call):
                    calls.appendleft(call)
                    break
        for _ in range(self._arrived.qsize()):
            try:
                item = self._arrived.get_nowait()
            except Empty:
                return
            if not callable(item) or not take(item):
                self._arrived.put(item)

    def close(self) -> None:
        """Take no more calls; end the threads after those that were let in. Waits for none of them."""
        with self._lock:
            self._closed = True
            if self._thread is not None:
                self._arrived.put(None)
            else:
                self._workers.close()

    def _start(self) -> None:
        with self._lock:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()

    def _run(self) -> None:
        self._enter()
        while not self._ending or self._away or self._committing:
            try:
                item = self._arrived.get(timeout=self._linger)
            except Empty:
                if self._is_over():
                    return
                continue
            self._until = _monotonic() + SLICE_SECONDS
            self._round(item)
            self._wake()
        self._leave_store()
        self._workers.close()  # only now: who was let in may still go elsewhere

    def _is_over(self) -> bool:
        """Tell whether this thread ends, as nothing has come for long; the next call is then given to another."""
        with self._lock:
            # `submit` puts a call before it looks for a thread: either it is seen here, or the thread is missed there.
            # Who closes has seen a thread, and puts its end.
            if self._away or self._committing or self._closed or not self._arrived.empty():
                return False
            # Under the lock: the next thread must not be known to the store before this one is forgotten.
            self._leave_store()
            self._thread = None
            return True

    def _leave_store(self) -> None:
        """End the one who commits and all stacks, and have the store forget this thread."""
        if self._has_committer:
            self._has_committer = False
            self._commits.put(None)
        self._depart()

    def _round(self, item: _Item) -> None:
        """Begin or continue what has arrived, then have committed what it writes."""
        self._take(item)
        for _ in range(MOST_AT_ONCE - 1):
            if self._hurries and not self._committing:
                break
            try:
                self._take(self._arrived.get_nowait())
            except Empty:
                break
        while self._paused and not self._committing:
            self._gather()
            paused, self._paused, self._hurries = self._paused, [], False
            commit = self.store.take_queued()
            if len(paused) > _ALONE:
                self._committing = True
                self._hand_over(commit, paused)
                return
            commit()
            self._together = len(paused)
            self._until = _monotonic() + SLICE_SECONDS  # what waits for the disk does not compute
            self._resume(paused)

    def _gather(self) -> None:
        """Take up more while fewer write than did when the last commit ended, as long as they come quickly.

        A commit takes long on a busy disk: two for half of them each would take twice as long.
        """
        if len(self._paused) < self._together:
            self._wake()  # those who are expected wait for their answers
        while len(self._paused) < self._together and not self._hurries:
            try:
                self._take(self._arrived.get(timeout=PATIENCE_SECONDS))
            except Empty:
                return

    def _hand_over(self, commit: Callable[[], None], paused: list[greenlet]) -> None:
        if not self._has_committer:
            self._has_committer = True
            threading.Thread(target=self._commit, name=f"{self._name}-commit", daemon=True).start()
        self._commits.put((commit, paused))

    def _commit(self) -> None:
        """Commit what the turns have written, and let them go on."""
        while (work := self._commits.get()) is not None:
            commit, paused = work
            commit()
            self._committed.append(paused)
            self._arrived.put(Priority.HIGH)  # to wake the thread

    def _resume(self, turns: list[greenlet]) -> None:
        for turn in turns:
            self._go_on(turn)

    def _take(self, item: _Item) -> None:
        while (turns := next_of(self._committed)) is not None:
            self._committing = False
            self._together = len(turns) + len(self._paused)
            self._resume(turns)
        if (call := next_of(self._high)) is not None:
            self._hurries = True
            self._begin(call)
        if item is None:
            self._end()
        elif isinstance(item, Priority):
            if item is Priority.LOW:
                self._take_low()
        elif callable(item):
            self._begin(item)
            self._usual += 1
            if self._usual >= USUAL_BEFORE_LOW and (call := next_of(self._low)) is not None:
                self._usual = 0
                self._begin(call)
        else:
            self._go_on(item)

    def _take_low(self) -> None:
        """Begin a call of low priority if nothing else has come, and see to it that the next one is not forgotten."""
        if self._arrived.empty() and (call := next_of(self._low)) is not None:
            self._usual = 0
            self._begin(call)
        with self._lock:
            self._has_low = bool(self._low)
            if self._has_low:
                self._arrived.put(Priority.LOW)

    def _end(self) -> None:
        """Begin what was let in, and then no more."""
        self._ending = True
        for calls in (self._high, self._low):
            while (call := next_of(calls)) is not None:
                self._begin(call)

    def _begin(self, call: Callable[[], None]) -> None:
        super()._begin(call)
        self._give_way()

    def _go_on(self, turn: greenlet) -> None:
        super()._go_on(turn)
        self._give_way()

    def _give_way(self) -> None:
        """Let the loops have the interpreter alone, if the turns have had it for a while."""
        if _monotonic() < self._until:
            return
        for loop in self._loops:
            loop.give_way()
        self._until = _monotonic() + SLICE_SECONDS

    def _wake(self) -> None:
        for loop in self._loops:
            loop.wake()
