"""Calls of etcd as things: made one by one, or those of several requests together, without a thread for each.

A thread on which requests take turns (`QueuesWrites`) brings the calls of all of them at once: they are sent one behind
the other on the same connection, and one thread waits for the last answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, TypeAlias

CALL_SECONDS = 4.0
"""Deadline of every call."""

Method: TypeAlias = Callable[[Any], Any]
"""Returns a method of the stubs of an etcd3 client."""

COMPACT: Method = attrgetter("kvstub.Compact")
GRANT: Method = attrgetter("leasestub.LeaseGrant")
RANGE: Method = attrgetter("kvstub.Range")
STATUS: Method = attrgetter("maintenancestub.Status")
TXN: Method = attrgetter("kvstub.Txn")


class Call:
    """One call.

    Args:
        method: of etcd.
        request: its message.
        repeats: whether it may be repeated though it may have been carried out.

    Attributes:
        answer: etcd's message, after it was made together with others and did not fail.
        failure: what became of it otherwise.
    """

    __slots__ = ("_method", "answer", "failure", "repeats", "request")

    def __init__(self, method: Method, request: Any, *, repeats: bool) -> None:
        self._method = method
        self.request = request
        self.repeats = repeats
        self.answer: Any = None
        self.failure: Exception | None = None

    def __call__(self, client: Any) -> Any:
        """Return the answer, or raise what grpc raises."""
        return self._method(client)(self.request, CALL_SECONDS, metadata=client.metadata)

    def begin(self, client: Any) -> Any:
        """Send it; return grpc's future of the answer.

        Raises:
            ValueError: the channel is closed.
        """
        return self._method(client).future(self.request, CALL_SECONDS, metadata=client.metadata)


class Countdown:
    """Waits for the last of so many futures; is told of each by itself, from any thread."""

    def __init__(self, count: int) -> None:
        self._left = count
        self._lock = threading.Lock()
        self._ended = threading.Lock()
        self._ended.acquire()

    def __call__(self, _future: Any) -> None:
        """Count one."""
        with self._lock:
            self._left -= 1
            last = not self._left
        if last:
            self._ended.release()

    def wait(self) -> None:
        """Return after the last one."""
        self._ended.acquire()


class QueuedCalls:
    """The calls of threads on which requests take turns, until they are taken.

    Args:
        together: makes calls, noting in each what became of it.
    """

    def __init__(self, together: Callable[[Sequence[Call]], None]) -> None:
        self._together = together
        self._queues: dict[int, tuple[Callable[[], None], list[Call]]] = {}

    def queue_here(self, pause: Callable[[], None]) -> None:
        """Keep the calls of this thread until they are taken; `pause` returns when they are made."""
        self._queues[threading.get_ident()] = pause, []

    def queue_no_more(self) -> None:
        """Let this thread make its calls itself again: its number may become another thread's."""
        self._queues.pop(threading.get_ident(), None)

    def add(self, call: Call) -> bool:
        """Have a call made with others of this thread, and return after that; tell False if it keeps none."""
        here = self._queues.get(threading.get_ident()) if self._queues else None
        if here is None:
            return False
        pause, calls = here
        calls.append(call)
        pause()
        return True

    def take(self) -> Callable[[], None]:
        """Return what makes the calls that this thread has kept since the last time; for any thread."""
        ident = threading.get_ident()
        pause, calls = self._queues[ident]
        self._queues[ident] = pause, []

        def make() -> None:
            try:
                if calls:
                    self._together(calls)
            except Exception as error:  # noqa: BLE001  raised again on the turns, which would wait for ever
                for call in calls:
                    call.failure = error

        return make
