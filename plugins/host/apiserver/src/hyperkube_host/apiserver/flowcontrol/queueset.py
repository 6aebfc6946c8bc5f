"""One priority level at work: which requests have a seat, which wait, and which is next; no clock, no threads.

Fair queuing: while a level has free seats, only their number is counted. Once requests wait, each queue's next
dispatch is reckoned in virtual time: the seat-seconds that each busy queue would have had if all had been served at
once and alike. The next request comes from the queue whose next dispatch would come first.

Invariants, each kept by every method under the lock of `FlowControl`:

- ``requests_waiting`` is the number of requests in all queues.
- a queue is active if and only if it has a request that waits or one that executes; only active queues share the
  virtual time that passes.
- virtual time is brought up to date (`_advance`) before a queue becomes active or inactive, and before a request out
  of a queue takes or frees a seat: the rate at which it passes depends on both. Requests that never wait skip this:
  they are the most by far, and the account of an uncontended level need not be exact.

Source: kubernetes apiserver ``pkg/util/flowcontrol/fairqueuing/queueset``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Generic, Protocol, TypeVar

from hyperkube_host.apiserver.flowcontrol.priority_levels import LevelSettings

from hyperkube.machinery.dataclass import dataclass

INITIAL_ESTIMATE = 0.003
"""Seconds that a request is taken to execute until it is known; source: ``pkg/server/config.go``."""


class Arrived(Protocol):
    """A request that can wait in a queue."""

    @property
    def arrived(self) -> float:
        """When it came, in the clock's monotonic seconds."""


R = TypeVar("R", bound=Arrived)


@dataclass(slots=True, eq=False)
class Queue(Generic[R]):
    """Requests that wait, in the order in which they came.

    Attributes:
        next_dispatch: the virtual time at which its next request would begin (upstream's ``nextDispatchR``).
        executing: requests out of it that have a seat.
        waiting: a list, as it is short, and an empty deque takes ten times as much: there are hundreds of queues.
    """

    index: int
    waiting: list[R] = field(default_factory=list)
    next_dispatch: float = 0.0
    executing: int = 0


class QueueSet(Generic[R]):
    """A level's seats and queues; callers hold the lock that all levels share.

    Attributes:
        executing: seats in use.
        requests_waiting: requests in its queues.
        quiescing: its object is gone; it ends with its last request.
    """

    def __init__(self, settings: LevelSettings) -> None:
        self.settings = settings
        self.is_exempt = settings.is_exempt
        self.nominal = settings.nominal
        self.executing = 0
        self.requests_waiting = 0
        self.quiescing = False
        self.queues: list[Queue[R]] = []
        self._active: dict[int, Queue[R]] = {}
        self._virtual_time = 0.0
        self._last_advance = 0.0
        self._last_dispatched = -1
        self.adopt(settings)

    def adopt(self, settings: LevelSettings) -> None:
        """Take up changed settings; requests that wait stay in their queues."""
        self.settings = settings
        self.is_exempt, self.nominal = settings.is_exempt, settings.nominal
        self.quiescing = False
        # Queues are never taken away: requests may wait in them. With fewer queues in the settings, none of the later
        # ones is dealt to a flow any more, and they run empty.
        while len(self.queues) < settings.queues:
            self.queues.append(Queue(len(self.queues)))

    def shortest(self, hand: tuple[int, ...]) -> Queue[R]:
        """Return the queue of a hand with the least before a newcomer."""
        return min((self.queues[card] for card in hand), key=lambda queue: len(queue.waiting) + queue.executing)

    def enqueue(self, request: R, queue: Queue[R], now: float) -> None:
        """Let a request wait."""
        self._advance(now)
        if queue.index not in self._active:
            self._active[queue.index] = queue
            # A queue that was idle gets no credit for that time: it starts level with the others.
            queue.next_dispatch = self._virtual_time
        queue.waiting.append(request)
        self.requests_waiting += 1

    def dispatch(self, now: float) -> R | None:
        """Return the request that is next, with its seat taken; None when none waits."""
        self._advance(now)
        ready = [queue for queue in self._active.values() if queue.waiting]
        if not ready:
            return None
        size = len(self.queues)
        queue = min(
            ready,  # equal in virtual time and in arrival: round robin, beginning after the last one served
            key=lambda one: (one.next_dispatch, one.waiting[0].arrived, (one.index - self._last_dispatched - 1) % size),
        )
        self._last_dispatched = queue.index
        request = queue.waiting.pop(0)
        self.requests_waiting -= 1
        # How long it will execute is not known yet; `finish` puts the true time in the estimate's place.
        queue.next_dispatch += INITIAL_ESTIMATE
        queue.executing += 1
        self.executing += 1
        return request

    def remove(self, request: R, queue: Queue[R], now: float) -> bool:
        """Take a request out that has waited too long; tell whether it still waited.

        The time-out and the dispatch of a request may come at the same moment on two threads: the one that takes the
        request out of its queue decides, and the other finds it gone.
        """
        try:
            queue.waiting.remove(request)
        except ValueError:
            return False
        self._advance(now)
        self.requests_waiting -= 1
        self._deactivate_if_idle(queue)
        return True

    def finish(self, queue: Queue[R] | None, now: float, seconds: float) -> None:
        """Free a seat that was in use for so long; `queue` is None for a request that never waited."""
        if queue is None:
            self.executing -= 1
            return
        self._advance(now)
        self.executing -= 1
        queue.executing -= 1
        queue.next_dispatch += seconds - INITIAL_ESTIMATE
        self._deactivate_if_idle(queue)

    def _deactivate_if_idle(self, queue: Queue[R]) -> None:
        if not queue.waiting and not queue.executing:
            self._active.pop(queue.index, None)

    def _advance(self, now: float) -> None:
        """Let virtual time pass up to now, at the rate at which each active queue was served since it last did."""
        passed, self._last_advance = now - self._last_advance, now
        if self._active:
            busy = min(self.nominal, self.executing + self.requests_waiting)
            self._virtual_time += passed * busy / len(self._active)


def idle_seats(levels: Iterable[QueueSet[R]]) -> int:
    """Return the seats that may be borrowed now, less those that are borrowed already."""
    idle = lent = 0
    for level in levels:
        idle += min(level.settings.lendable, max(0, level.nominal - level.executing))
        if not level.is_exempt:
            lent += max(0, level.executing - level.nominal)
    return idle - lent
