"""One priority level at work: who has a seat, who waits, and who is next; no clock, no threads.

While a level has free seats no account is kept but their number. Once requests wait, each queue's turn is reckoned in
virtual time: the seat-seconds that each busy queue would have had if all had been served at once and alike. The next
request comes from the queue that would begin it first.
Source: kubernetes apiserver ``pkg/util/flowcontrol/fairqueuing/queueset``.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hyperkube_host.apiserver.flowcontrol.levels import LevelSettings

if TYPE_CHECKING:
    from hyperkube_host.apiserver.flowcontrol.turns import Turn

ESTIMATE = 0.003
"""Seconds that a request is taken to need until it is known; source: ``pkg/server/config.go``."""


@dataclass(slots=True, eq=False)
class Queue:
    """Requests that wait, in the order in which they came.

    Attributes:
        begins: the virtual time at which its next request would begin.
        executing: requests out of it that have a seat.
    """

    index: int
    waiting: deque[Turn] = field(default_factory=deque)
    begins: float = 0.0
    executing: int = 0


class Level:
    """A level's seats and queues; whoever calls holds the lock that all levels share.

    Attributes:
        executing: seats in use.
        waiting: requests in its queues.
        is_leaving: its object is gone; it ends with its last request.
    """

    def __init__(self, settings: LevelSettings) -> None:
        self.settings = settings
        self.is_exempt = settings.is_exempt
        self.nominal = settings.nominal
        self.executing = 0
        self.waiting = 0
        self.is_leaving = False
        self.queues: list[Queue] = []
        self._active: dict[int, Queue] = {}
        self._virtual = 0.0
        self._seen = 0.0
        self._last = -1
        self.adopt(settings)

    def adopt(self, settings: LevelSettings) -> None:
        """Take up changed settings; what waits stays in its queue."""
        self.settings = settings
        self.is_exempt, self.nominal = settings.is_exempt, settings.nominal
        self.is_leaving = False
        while len(self.queues) < settings.queues:
            self.queues.append(Queue(len(self.queues)))

    def shortest(self, hand: tuple[int, ...]) -> Queue:
        """Return the queue of a hand with the least before a newcomer."""
        return min((self.queues[card] for card in hand), key=lambda queue: len(queue.waiting) + queue.executing)

    def put(self, turn: Turn, queue: Queue, now: float) -> None:
        """Let a request wait."""
        self._progress(now)
        if queue.index not in self._active:
            self._active[queue.index] = queue
            queue.begins = self._virtual
        queue.waiting.append(turn)
        self.waiting += 1

    def take(self, now: float) -> Turn | None:
        """Return the request whose turn it is, with its seat taken; None when none waits."""
        self._progress(now)
        ready = [queue for queue in self._active.values() if queue.waiting]
        if not ready:
            return None
        size = len(self.queues)
        queue = min(ready, key=lambda one: (one.begins, one.waiting[0].arrived, (one.index - self._last - 1) % size))
        self._last = queue.index
        turn = queue.waiting.popleft()
        self.waiting -= 1
        queue.begins += ESTIMATE
        queue.executing += 1
        self.executing += 1
        return turn

    def drop(self, turn: Turn, queue: Queue) -> bool:
        """Take a request out that has waited too long; tell whether it still waited."""
        try:
            queue.waiting.remove(turn)
        except ValueError:
            return False
        self.waiting -= 1
        self._rest(queue)
        return True

    def finish(self, queue: Queue | None, now: float, seconds: float) -> None:
        """Free a seat that was in use for so long."""
        if queue is None:
            self.executing -= 1
            return
        self._progress(now)
        self.executing -= 1
        queue.executing -= 1
        queue.begins += seconds - ESTIMATE
        self._rest(queue)

    def _rest(self, queue: Queue) -> None:
        if not queue.waiting and not queue.executing:
            self._active.pop(queue.index, None)

    def _progress(self, now: float) -> None:
        passed, self._seen = now - self._seen, now
        if self._active:
            busy = min(self.nominal, self.executing + self.waiting)
            self._virtual += passed * busy / len(self._active)


def idle_seats(levels: list[Level]) -> int:
    """Return the seats that may be borrowed now, less those that are borrowed already."""
    idle = sum(min(level.settings.lendable, max(0, level.nominal - level.executing)) for level in levels)
    lent = sum(max(0, level.executing - level.nominal) for level in levels if not level.is_exempt)
    return idle - lent
