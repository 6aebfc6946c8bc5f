"""How a store inside this process hands out its changes: in order, in the writer's thread, before it is answered.

A cache that subscribes this way has applied a change by the time its writer hears of it, so that a consistent read
after a write never waits. Stores in other processes cannot do that and offer only `Store.watch`.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias, runtime_checkable

from hyperkube.storage.store import EventBatch, StoreEvent

WantsPrevious: TypeAlias = bool | Callable[[str], bool]
"""Whether changes are to have the values before them, or of which keys: asked of each change, in the writing thread."""


class Subscription:
    """One receiver of a range's changes after `revision`; `close` it from any thread."""

    __slots__ = ("_close", "deliver", "end", "previous", "revision", "start")

    def __init__(
        self,
        start: str,
        end: str,
        deliver: Callable[[EventBatch], None],
        *,
        revision: int,
        previous: WantsPrevious,
        close: Callable[[Subscription], None],
    ) -> None:
        self.start = start
        self.end = end
        self.deliver = deliver
        self.revision = revision
        self.previous = previous
        self._close = close

    def close(self) -> None:
        """Deliver no more; a call under way is finished first by its own thread."""
        self._close(self)

    def offer(self, events: tuple[StoreEvent, ...], revision: int) -> None:
        """Deliver those of the events that are in range; none of them makes a progress report."""
        start, end = self.start, self.end
        self.deliver(EventBatch(tuple(event for event in events if start <= event.key < end), revision))


@runtime_checkable
class Subscribable(Protocol):
    """A Store that lives in this process and calls its readers."""

    def subscribe(
        self, start: str, end: str, deliver: Callable[[EventBatch], None], *, previous: WantsPrevious = True
    ) -> Subscription:
        """Call `deliver` with the changes after the subscription's revision, in order and one batch at a time.

        Called: in the writing thread, after the writes are durable and before they are answered: with those of one
            revision, or of several that were committed together; also if they changed nothing in range (a batch without
            events).
        Must: `deliver` is short, does not raise and does not write to the store. Without `previous` the events may
            lack the previous values, which spares a disk store from reading them. What is written while `previous`
            begins to want a key may still lack them.
        """


class Subscriptions:
    """The subscriptions of one store; every method is called with the store's own lock held."""

    def __init__(self) -> None:
        self._subscriptions: tuple[Subscription, ...] = ()

    def __bool__(self) -> bool:
        return bool(self._subscriptions)

    def needs_previous(self, key: str) -> bool:
        """Tell whether any subscription wants the previous value of a key in its range."""
        wanting = (each.previous for each in self._subscriptions if each.start <= key < each.end)
        return any(wants is True or (wants and wants(key)) for wants in wanting)

    def add(self, subscription: Subscription) -> None:
        """Deliver to `subscription` from the next `publish` on."""
        self._subscriptions = (*self._subscriptions, subscription)

    def remove(self, subscription: Subscription) -> None:
        """Deliver no more to `subscription`; harmless when it is not there."""
        self._subscriptions = tuple(other for other in self._subscriptions if other is not subscription)

    def publish(self, events: tuple[StoreEvent, ...], revision: int) -> None:
        """Hand the events of one commit, the last of which is at `revision`, to all subscriptions."""
        for subscription in self._subscriptions:
            subscription.offer(events, revision)


class QueueWatch:
    """A `StoreWatch` fed by a subscription through a queue.

    Args:
        progress: makes the store call `report` with its revision, in order with its events.
        closed: called when the watch is closed, to end the subscription.
        failure: raised by the iteration, for a watch that was impossible from the start.
    """

    def __init__(
        self,
        *,
        progress: Callable[[QueueWatch], None],
        closed: Callable[[QueueWatch], None],
        failure: Exception | None = None,
    ) -> None:
        self._queue: queue.SimpleQueue[EventBatch | None] = queue.SimpleQueue()
        self._closed = closed
        self._failure = failure
        self._backlog: EventBatch | None = None
        self._progress = progress
        self.subscription: Subscription | None = None

    def begin_with(self, backlog: EventBatch) -> None:
        """Yield what had already happened first; called before anybody iterates."""
        self._backlog = backlog

    def put(self, batch: EventBatch) -> None:
        """Queue a batch; batches without events are left out unless they were asked for."""
        if batch.events:
            self._queue.put(batch)

    def report(self, revision: int) -> None:
        """Queue a progress report."""
        self._queue.put(EventBatch((), revision))

    def __iter__(self) -> Iterator[EventBatch]:
        """Yield batches until closed; raise what made the watch impossible."""
        if self._failure is not None:
            raise self._failure
        if self._backlog is not None and self._backlog.events:
            backlog, self._backlog = self._backlog, None
            yield backlog
        while (batch := self._queue.get()) is not None:
            yield batch

    def request_progress(self) -> None:
        """Ask the store for a progress report in order with its events."""
        self._progress(self)

    def close(self) -> None:
        """End the iteration after what is queued."""
        self._closed(self)
        self._queue.put(None)


def after_revision(revision: int, deliver: Callable[[EventBatch], None]) -> Callable[[EventBatch], None]:
    """Return `deliver` without the batches up to `revision`: a watch may start in the future."""

    def deliver_later(batch: EventBatch) -> None:
        if batch.revision > revision:
            deliver(EventBatch([event for event in batch.events if event.revision > revision], batch.revision))

    return deliver_later
