"""Writes that take turns on one thread, and go to the store together.

A write of a few hundred microseconds does not pay for a thread of its own: to hand it over, to wake the one who
commits, and to be woken again is as dear as the work. So one thread takes all writes that wait, runs each up to the
point where the store is to keep something, has all of that committed at once, and lets each go on from there. The code
of a write stays as straight as on its own thread: each runs on a stack of its own (a greenlet). Every few turns the
thread waits until the loop that carries the answers has done what it has to.

A commit waits for the disk, mostly without the interpreter. Of several writes it is made on a second thread, while this
one begins those that have come since; these are committed together when it has ended. Clients that were answered
together come back together: so the first of them waits a moment for the others, and who is alone never waits.

Between two pauses a turn has the thread alone, so it must not wait there for anything else: others would wait with it.
What may wait is done `elsewhere`, on a thread of a pool, while the others go on. A lock that is held across a write to
the store would be found locked by the same thread: nothing on a turn does that.

Calls have their turns in the order in which they come, those of one `Priority`. Where more come than can be handled
no priority takes all: of the high ones one goes before each usual one, of the low ones one after every third. What a
high one writes is committed at once, without the others that are expected.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from hyperkube_lib.serving.priority import Priority, next_of
from hyperkube_lib.serving.workers import WorkerPool

from hyperkube.machinery.clock import SystemClock
from hyperkube.storage.store import QueuesWrites

if TYPE_CHECKING:
    from greenlet import greenlet
    from hyperkube_lib.serving.loop import EdgeLoop

Result = TypeVar("Result")
_monotonic = SystemClock().monotonic  # of the machine, whatever the cluster's time
_Item: TypeAlias = "Callable[[], None] | greenlet | Priority | None"
"""What arrives: a usual call to begin, a turn that comes back from elsewhere, or the end; a priority says that there is
something of that one: turns that are committed have a high one."""

MOST_AT_ONCE = 64
"""Calls that are begun before what they write is committed."""

_ALONE = 2
"""So few writes are committed right here: a hand-over costs more than it gains."""

PATIENCE_SECONDS = 0.002
"""How long a commit is put off for the next of those who are expected."""

SLICE_SECONDS = 0.001
"""For so long turns follow each other before the loop has its own: it asks for the interpreter several times a request,
and would wait for the switch interval each time."""

LINGER_SECONDS = 30.0
"""How long the thread waits for another call before it ends: longer than kubelets take to renew their leases."""

_USUAL_BEFORE_LOW = 3
"""Usual calls between two of low priority, where both wait."""

_ELSEWHERE = 64
"""Threads for what may wait; a pool of them grows when all hang."""


class Turns:
    """Runs calls by turns on one thread, which comes with the first and goes when there are no more.

    Args:
        store: keeps what the turns write until it is taken (see `QueuesWrites`).
        limit: calls that may wait to be begun.
        name: of the threads.
        linger: seconds after the last call at which the thread ends.
    """

    def __init__(
        self, store: QueuesWrites, *, limit: int, name: str, logger: logging.Logger, linger: float = LINGER_SECONDS
    ) -> None:
        self._store = store
        self._limit = limit
        self._name = name
        self._logger = logger
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
        self._workers = WorkerPool(_ELSEWHERE, queue=limit, name=f"{name}-elsewhere", logger=logger)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._ident = 0
        self._closed = False
        self._steps = self._steps_before = 0
        # Of the thread alone:
        self._usual = 0  # calls since the last of low priority
        self._hurries = False  # whether one of high priority has begun that is not committed yet
        self._hub: greenlet | None = None
        self._getcurrent: Callable[[], greenlet]
        self._idle: list[greenlet] = []
        self._paused: list[greenlet] = []
        self._away = 0
        self._committing = False
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

    def give_way_to(self, loop: EdgeLoop) -> None:
        """Have a loop, with which calls leave their answers, woken behind the turns; all that run wait for it at times.

        Called before the first call is submitted.
        """
        if loop not in self._loops:
            self._loops += (loop,)

    def is_here(self) -> bool:
        """Tell whether the caller is on a turn."""
        return threading.get_ident() == self._ident

    def elsewhere(self, call: Callable[[], Result]) -> Result:
        """Return what `call` returns, or raise what it raises: it may wait, and others have their turns meanwhile.

        Off the turns it is called at once.
        """
        if not self.is_here():
            return call()
        from greenlet import getcurrent

        me, results, errors = getcurrent(), list[Result](), list[BaseException]()

        def work() -> None:
            try:
                results.append(call())
            except BaseException as error:  # noqa: BLE001  raised again on the turn
                errors.append(error)
            self._arrived.put(me)

        self._away += 1
        self._workers.submit(work, begun=True)
        self._leave()
        self._away -= 1
        if errors:
            raise errors[0]
        return results[0]

    def relieve(self, take: Callable[[Callable[[], None]], bool]) -> None:
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
        from greenlet import getcurrent

        self._getcurrent = getcurrent
        self._hub = getcurrent()
        self._ident = threading.get_ident()
        self._store.queue_writes(self._pause)
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
        self._store.queue_no_more()
        self._ident = 0
        if self._has_committer:
            self._has_committer = False
            self._commits.put(None)
        idle, self._idle = self._idle, []
        for turn in idle:
            turn.switch(None)

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
            commit = self._store.take_queued()
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
            if self._usual >= _USUAL_BEFORE_LOW and (call := next_of(self._low)) is not None:
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
        turn = self._idle.pop() if self._idle else self._new_turn()
        self._steps += 1
        turn.switch(call)
        self._give_way()

    def _new_turn(self) -> greenlet:
        from greenlet import greenlet

        return greenlet(self._live, self._hub)

    def _go_on(self, turn: greenlet) -> None:
        self._steps += 1
        turn.switch()
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

    def _live(self, call: Callable[[], None] | None) -> None:
        """Make one call after the other on a stack of its own: a new stack for each would cost twice as much."""
        from greenlet import getcurrent

        me = getcurrent()
        while call is not None:
            try:
                call()
            except Exception:
                self._logger.exception("a call on a turn failed")
            self._idle.append(me)
            call = self._leave()

    def _pause(self) -> None:
        """Go on after the next commit; called by the store, on a turn."""
        self._paused.append(self._getcurrent())
        self._leave()

    def _leave(self) -> Callable[[], None] | None:
        assert self._hub is not None  # noqa: S101  set before the first turn
        call: Callable[[], None] | None = self._hub.switch()
        return call
