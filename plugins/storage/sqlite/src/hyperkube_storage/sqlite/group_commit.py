"""Group commit: one disk flush for everybody who waits for one.

There is no writer thread. A thread that finds no writer becomes the writer for all that are waiting; those that come
meanwhile wait, and the first of them is the next writer. Alone it costs no hand-over, in a crowd one flush serves many.

A flush is dear, also in time of the processor. So a writer who knows that others are about to come (`expecting`) waits
for them a little: who is alone never waits.

A thread on which several requests take turns brings what all of them write at once: see `queue_here`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Generic, TypeVar

Work = TypeVar("Work")

PATIENCE_SECONDS = 0.003
"""How long a writer waits for those who are expected."""


class _Waiter(Generic[Work]):
    """Pieces of work and the thread that waits for them."""

    __slots__ = ("done", "failure", "turn", "works")

    def __init__(self, works: Sequence[Work]) -> None:
        self.works = works
        self.done = False
        self.failure: BaseException | None = None
        self.turn = threading.Lock()
        self.turn.acquire()  # released when the work is done, or when this thread is to write


class _Queue(Generic[Work]):
    """What the requests of one thread have brought since its last commit; `failure` is that of this commit."""

    __slots__ = ("failure", "works")

    def __init__(self) -> None:
        self.works: list[Work] = []
        self.failure: BaseException | None = None


class GroupCommit(Generic[Work]):
    """Lets one thread at a time commit the work of many.

    Args:
        commit: does a batch of work in order, durably, and notes each piece's outcome in it; what it raises is a bug
            and reaches everybody in the batch.
        most: threads whose work is in one batch.
    """

    def __init__(self, commit: Callable[[Sequence[Work]], None], most: int = 256) -> None:
        self._commit = commit
        self._most = most
        self._mutex = threading.Lock()
        self._waiting: list[_Waiter[Work]] = []
        self._writing = False
        self._coming = 0
        self._announced = threading.local()
        self._queues: dict[int, tuple[Callable[[], None], _Queue[Work]]] = {}
        self._gathering = False
        self._gathered = threading.Lock()
        self._gathered.acquire()  # released when the writer who gathers may go on

    def expecting(self) -> AbstractContextManager[None]:
        """Say that this thread is about to bring work, if all goes well, before it leaves the context."""
        if threading.get_ident() in self._queues:  # it brings what it has when it has all of it
            return nullcontext()
        return self._expecting()

    @contextmanager
    def _expecting(self) -> Iterator[None]:
        with self._mutex:
            if not self._is_announced():
                self._announced.here = True
                self._coming += 1
        try:
            yield
        finally:
            with self._mutex:
                self._arrive()

    def queue_here(self, pause: Callable[[], None]) -> None:
        """Keep what this thread brings until it is taken and done; `pause` returns after that."""
        self._queues[threading.get_ident()] = pause, _Queue()

    def queue_no_more(self) -> None:
        """Let this thread wait for its work again: its number may become another thread's."""
        self._queues.pop(threading.get_ident(), None)

    def run(self, work: Work) -> None:
        """Return when the work is done, by this thread or another."""
        here = self._queues.get(threading.get_ident()) if self._queues else None
        if here is None:
            self._run((work,))
            return
        pause, queue = here
        queue.works.append(work)
        pause()
        if queue.failure is not None:
            raise RuntimeError("the commit crashed") from queue.failure

    def take_queued(self) -> Callable[[], None]:
        """Return what does what this thread has brought since the last time; for any thread."""
        ident = threading.get_ident()
        pause, queue = self._queues[ident]
        self._queues[ident] = pause, _Queue()

        def commit() -> None:
            try:
                if queue.works:
                    self._run(queue.works)
            except Exception as error:  # noqa: BLE001  raised again where the work came from
                queue.failure = error

        return commit

    def _run(self, works: Sequence[Work]) -> None:
        waiter = _Waiter(works)
        with self._mutex:
            self._waiting.append(waiter)
            self._arrive()
            follow, self._writing = self._writing, True
        if follow:
            waiter.turn.acquire()
            if waiter.done:
                if waiter.failure is not None:
                    raise RuntimeError("the commit crashed in another thread") from waiter.failure
                return
        self._write(waiter)

    def _is_announced(self) -> bool:
        return getattr(self._announced, "here", False)

    def _arrive(self) -> None:
        """Expect this thread no more, and let the writer who gathers go on if it was the last."""
        if self._is_announced():
            self._announced.here = False
            self._coming -= 1
        if self._gathering and self._is_complete():
            self._gathering = False
            self._gathered.release()

    def _is_complete(self) -> bool:
        return not self._coming or len(self._waiting) >= self._most

    def _gather(self) -> None:
        """Wait for those who are expected, for a moment."""
        with self._mutex:
            if self._is_complete():
                return
            self._gathering = True
        if self._gathered.acquire(timeout=PATIENCE_SECONDS):
            return
        with self._mutex:
            if self._gathering:
                self._gathering = False
                return
        self._gathered.acquire()  # it was released just now

    def _write(self, own: _Waiter[Work]) -> None:
        self._gather()
        with self._mutex:
            batch, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
        try:
            self._commit([work for waiter in batch for work in waiter.works])
        except BaseException as error:
            for waiter in batch:
                waiter.failure = error
            raise
        finally:
            with self._mutex:
                following = self._waiting[0] if self._waiting else None
                self._writing = following is not None
            if following is not None:
                following.turn.release()
            for waiter in batch:
                waiter.done = True
                if waiter is not own:
                    waiter.turn.release()
