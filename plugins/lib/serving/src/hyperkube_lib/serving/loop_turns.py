"""Turns on the loop's own thread: for a store in this process, of which nothing on a turn waits for.

A thread beside the loop takes the interpreter from it, and each hand-over from one to the other waits for a processor
of a busy machine. So turns run between what the loop does for its sockets, for a millisecond each time, and their
answers are written where they are. Commits, which wait for the disk, are made on a thread of their own; turns that have
come since are begun meanwhile, and committed together when it has ended. Answers go out when the streams that
their commit has rung are flushed. Clients that were answered together come back together: so right after a commit the
next one is put off for a moment while fewer write than did in that.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from hyperkube_lib.serving.priority import Priority, WaitingCalls
from hyperkube_lib.serving.turns import MOST_AT_ONCE, PATIENCE_SECONDS, Take, Turns
from hyperkube_lib.serving.workers import WorkerPool

from hyperkube.machinery.clock import SystemClock
from hyperkube.storage.store import QueuesWrites

if TYPE_CHECKING:
    from greenlet import greenlet
    from hyperkube_lib.serving.loop import EdgeLoop

_monotonic = SystemClock().monotonic  # of the machine, whatever the cluster's time

SLICE_SECONDS = 0.001
"""For so long turns follow each other before the loop looks at its sockets again."""

EVENTS_SECONDS = 0.05
"""How long the answer to a write waits at most for its events to be sent: its client may see them first, and where many
watch, who writes one object after the other does not run ahead of them."""

LINGER_TICKS = 30
"""Calls of `relieve` without a turn after which the stacks end: longer than kubelets take to renew their leases."""


class LoopTurns(Turns):
    """Runs calls by turns on the thread of the first loop that joins, from which all but `close` is called."""

    def __init__(self, store: QueuesWrites, *, limit: int, name: str, logger: logging.Logger) -> None:
        super().__init__(store, limit=limit, name=name, logger=logger)
        self._waiting: WaitingCalls[Callable[[], None]] = WaitingCalls()
        self._returned: deque[greenlet] = deque()
        """Turns that go on before calls begin: the answer to what has begun is waited for."""
        self._commits = WorkerPool(1, queue=1, name=f"{name}-commit", logger=logger)
        self._loop: EdgeLoop | None = None
        self._is_due = False
        self._together = 0
        """Who wrote, or came, while the last commit was made."""
        self._expected_until = 0.0
        self._put_off = False
        self._hurries = False
        """Whether one of high priority has begun that is not committed yet."""
        self._steps_before = 0
        self._idle_ticks = 0

    def submit(self, call: Callable[[], None], *, begun: bool = False, priority: Priority = Priority.USUAL) -> bool:
        """Have `call` made on a turn; tell False when too many wait already."""
        if self._closed or (len(self._waiting) >= self._limit and not begun):
            return False
        self._waiting.put(call, priority)
        self._come_soon()
        return True

    def join(self, loop: EdgeLoop) -> None:
        """Run on this loop if it is the first one."""
        if self._loop is None:
            self._loop = loop

    def answer(self, loop: EdgeLoop, call: Callable[..., object], *args: Any) -> None:
        """Make the call here if the turns run on that loop, behind the events that are to be sent."""
        if loop is self._loop:
            loop.after_flushes(EVENTS_SECONDS, call, *args)
        else:
            loop.post(call, *args)

    def relieve(self, take: Take) -> None:
        """End stacks that have not been used for long, and let more threads come for calls that hang elsewhere."""
        self._workers.relieve()
        self._idle_ticks = self._idle_ticks + 1 if self._steps == self._steps_before else 0
        self._steps_before = self._steps
        if self._idle_ticks >= LINGER_TICKS:
            self._end_stacks()

    def close(self) -> None:
        """Take no more calls; those that were let in go on while the loop runs. Waits for none of them."""
        self._closed = True
        if self._ident and self._on.runs:
            self._on.post(self._run)
        else:
            self._leave_store()

    def _come_soon(self) -> None:
        if not self._is_due:
            self._is_due = True
            self._on.asyncio.call_soon(self._run)

    @property
    def _on(self) -> EdgeLoop:
        if self._loop is None:
            raise RuntimeError("no loop has joined the turns")
        return self._loop

    def _come_back(self, turn: greenlet) -> None:
        self._on.post(self._resume, (turn,))

    def _resume(self, turns: list[greenlet] | tuple[greenlet, ...]) -> None:
        self._returned.extend(turns)
        self._come_soon()

    def _run(self) -> None:
        """Let turns run for a while, and have committed what they have written."""
        self._is_due = False
        if not self._ident:
            self._enter()
        waiting, returned, until = self._waiting, self._returned, _monotonic() + SLICE_SECONDS
        while returned or waiting:
            if returned:
                self._go_on(returned.popleft())
            else:
                call, priority = waiting.take()
                self._hurries = self._hurries or priority is Priority.HIGH
                self._begin(call)
            if _monotonic() >= until:
                break
        if self._paused and not self._committing:
            self._commit_or_wait()
        if returned or waiting:
            self._come_soon()
        elif self._closed and not (self._away or self._paused or self._committing):
            self._leave_store()

    def _commit_or_wait(self) -> None:
        """Begin a commit unless more are about to write."""
        count = len(self._paused)
        if count < MOST_AT_ONCE and (self._returned or self._waiting) and not self._hurries:
            return
        patience = self._expected_until - _monotonic()
        if count >= self._together or patience <= 0 or self._hurries:
            self._commit_now()
        elif not self._put_off:
            self._put_off = True
            self._on.asyncio.call_later(patience, self._commit_now)

    def _commit_now(self) -> None:
        self._put_off = False
        if self._committing or not self._paused:
            return
        paused, self._paused, self._hurries = self._paused, [], False
        self._committing = True
        self._commits.submit(partial(self._commit, self.store.take_queued(), paused), begun=True)

    def _commit(self, commit: Callable[[], None], paused: list[greenlet]) -> None:
        """Commit what turns have written; on the thread for that."""
        try:
            commit()
        finally:
            self._on.post(self._committed, paused)

    def _committed(self, paused: list[greenlet]) -> None:
        self._committing = False
        self._together = len(paused) + len(self._paused)
        self._expected_until = _monotonic() + PATIENCE_SECONDS
        self._resume(paused)

    def _leave_store(self) -> None:
        """End the threads and all stacks, and have the store forget this thread."""
        if self._ident == threading.get_ident():
            self._depart()
        self._workers.close()  # only now: who was let in may still go elsewhere
        self._commits.close()
