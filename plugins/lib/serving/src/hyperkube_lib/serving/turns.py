"""Writes that take turns on one thread, and go to the store together.

A write of a few hundred microseconds does not pay for a thread of its own: to hand it over, to wake the one who
commits, and to be woken again is as dear as the work. So one thread takes all writes that wait, runs each up to the
point where the store is to keep something, has all of that committed at once, and lets each go on from there. The code
of a write stays as straight as on its own thread: each runs on a stack of its own (a greenlet).

Between two pauses a turn has the thread alone, so it must not wait there for anything else: others would wait with it.
What may wait is done `elsewhere`, on a thread of a pool, while the others go on. A lock that is held across a write to
the store would be found locked by the same thread: nothing on a turn does that.

Calls have their turns in the order in which they come, those of one `Priority`. Where more come than can be handled
no priority takes all: of the high ones one goes before each usual one, of the low ones one after every second. What a
high one writes is committed at once, without the others that are expected.

Which thread it is depends on the store. With one in this process nothing on a turn waits, and it is the loop's own
(`loop_turns`); what is read from another process may come late, and has a thread beside the loop (`thread_turns`).
"""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from hyperkube_lib.serving.priority import Priority
from hyperkube_lib.serving.workers import WorkerPool

from hyperkube.storage.store import QueuesWrites

if TYPE_CHECKING:
    from greenlet import greenlet
    from hyperkube_lib.serving.loop import EdgeLoop

Result = TypeVar("Result")
Take: TypeAlias = Callable[[Callable[[], None]], bool]
"""Takes a call that was let in; tells whether it did."""

MOST_AT_ONCE = 64
"""Calls that are begun before what they write is committed."""

PATIENCE_SECONDS = 0.002
"""How long a commit is put off for the next of those who are expected."""

_ELSEWHERE = 64
"""Threads for what may wait; a pool of them grows when all hang."""


class Turns(ABC):
    """Calls on stacks of their own, which one thread runs by turns; subclasses say which thread, and when.

    Args:
        store: keeps what the turns write until it is taken (see `QueuesWrites`).
        limit: calls that may wait to be begun.
        name: of the threads.

    Attributes:
        store: the same.
    """

    def __init__(self, store: QueuesWrites, *, limit: int, name: str, logger: logging.Logger) -> None:
        self.store = store
        self._limit = limit
        self._name = name
        self._logger = logger
        self._workers = WorkerPool(_ELSEWHERE, queue=limit, name=f"{name}-elsewhere", logger=logger)
        self._ident = 0
        self._closed = False
        self._steps = 0
        # Of the thread alone:
        self._hub: greenlet | None = None
        self._getcurrent: Callable[[], greenlet]
        self._idle: list[greenlet] = []
        self._paused: list[greenlet] = []
        self._away = 0
        self._committing = False

    @abstractmethod
    def submit(self, call: Callable[[], None], *, begun: bool = False, priority: Priority = Priority.USUAL) -> bool:
        """Have `call` made on a turn; tell False when too many wait already.

        With `begun` the call goes on with one that was let in before, so that there is always room for it.
        """

    @abstractmethod
    def join(self, loop: EdgeLoop) -> None:
        """Have calls leave their answers with a loop; called before the first one is submitted."""

    @abstractmethod
    def answer(self, loop: EdgeLoop, call: Callable[..., object], *args: Any) -> None:
        """Have a loop that has joined make a call soon; on a turn."""

    @abstractmethod
    def relieve(self, take: Take) -> None:
        """Look after calls that hang. Called about once a second, from one thread."""

    @abstractmethod
    def close(self) -> None:
        """Take no more calls; end the threads after those that were let in. Waits for none of them."""

    def is_here(self) -> bool:
        """Tell whether the caller is on a turn."""
        return threading.get_ident() == self._ident and self._getcurrent() is not self._hub

    def elsewhere(self, call: Callable[[], Result]) -> Result:
        """Return what `call` returns, or raise what it raises: it may wait, and others have their turns meanwhile.

        Off the turns it is called at once.
        """
        if not self.is_here():
            return call()
        me, results, errors = self._getcurrent(), list[Result](), list[BaseException]()

        def work() -> None:
            try:
                results.append(call())
            except BaseException as error:  # noqa: BLE001  raised again on the turn
                errors.append(error)
            self._come_back(me)

        self._away += 1
        self._workers.submit(work, begun=True)
        self._leave()
        self._away -= 1
        if errors:
            raise errors[0]
        return results[0]

    @abstractmethod
    def _come_back(self, turn: greenlet) -> None:
        """Let a turn that was elsewhere go on, on the thread; from any."""

    def _enter(self) -> None:
        """Let turns run on this thread from now on."""
        from greenlet import getcurrent

        self._getcurrent = getcurrent
        self._hub = getcurrent()
        self._ident = threading.get_ident()
        self.store.queue_writes(self._pause)

    def _depart(self) -> None:
        """End all stacks, and have the store forget this thread."""
        self.store.queue_no_more()
        self._ident = 0
        self._end_stacks()

    def _end_stacks(self) -> None:
        idle, self._idle = self._idle, []
        for turn in idle:
            turn.switch(None)

    def _begin(self, call: Callable[[], None]) -> None:
        turn = self._idle.pop() if self._idle else self._new_turn()
        self._steps += 1
        turn.switch(call)

    def _new_turn(self) -> greenlet:
        from greenlet import greenlet

        return greenlet(self._live, self._hub)

    def _go_on(self, turn: greenlet) -> None:
        self._steps += 1
        turn.switch()

    def _live(self, call: Callable[[], None] | None) -> None:
        """Make one call after the other on a stack of its own: a new stack for each would cost twice as much."""
        me = self._getcurrent()
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
