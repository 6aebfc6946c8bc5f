"""A store whose values are kept in another form than the one they are used in: encrypted, or in an older encoding.

The form is changed between the codec and the store, so that neither knows of it, whichever backend there is. A value
that cannot be read spoils nothing but itself: it arrives as it is stored, marked with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from hyperkube.hookspecs.storage import Unreadable
from hyperkube.storage.store import (
    Compare,
    Delete,
    EventBatch,
    KeyValue,
    Put,
    QueuesWrites,
    RangeResult,
    Store,
    StoreEvent,
    StoreWatch,
    TxnResult,
)
from hyperkube.storage.subscriptions import Subscribable, Subscription, WantsPrevious


class Transformer(Protocol):
    """How values are kept; safe to use from many threads."""

    def transform_from_storage(self, key: str, stored: bytes) -> tuple[bytes, bool]:
        """Return the value of a stored form, and whether it should be stored anew.

        Raises:
            Unreadable: it has none.
        """

    def transform_to_storage(self, key: str, value: bytes) -> bytes:
        """Return the form in which a value is stored."""


class Transformers:
    """Several forms, one around the other; the first is the outermost, next to the store."""

    def __init__(self, forms: Sequence[Transformer]) -> None:
        self._forms = tuple(forms)

    def transform_from_storage(self, key: str, stored: bytes) -> tuple[bytes, bool]:
        """Take off one form after the other; stale if any of them is."""
        any_stale = False
        for form in self._forms:
            stored, stale = form.transform_from_storage(key, stored)
            any_stale = any_stale or stale
        return stored, any_stale

    def transform_to_storage(self, key: str, value: bytes) -> bytes:
        """Put the forms on again."""
        for form in reversed(self._forms):
            value = form.transform_to_storage(key, value)
        return value


class TransformedWatch:
    """A watch whose values are transformed back."""

    def __init__(self, watch: StoreWatch, from_storage: Callable[[EventBatch], EventBatch]) -> None:
        self._watch = watch
        self._from_storage = from_storage
        self.request_progress = watch.request_progress
        self.close = watch.close

    def __iter__(self) -> Iterator[EventBatch]:
        """Yield the batches of the watch."""
        return map(self._from_storage, iter(self._watch))


class TransformedStore:
    """A `Store` around another one, whose values have another form.

    Args:
        store: is closed with this one.
        form: turns values into what is stored, and back.
    """

    def __init__(self, store: Store, form: Transformer) -> None:
        self.store = store
        self._form = form
        self.revision = store.revision
        self.count = store.count
        self.grant_lease = store.grant_lease
        self.compact = store.compact
        self.close = store.close

    def get(self, key: str, *, revision: int = 0) -> KeyValue | None:
        """Return one key with its value transformed back."""
        item = self.store.get(key, revision=revision)
        return self._from_storage(item) if item is not None else None

    def range(self, start: str, end: str, *, limit: int = 0, revision: int = 0, keys_only: bool = False) -> RangeResult:
        """Return keys with their values transformed back."""
        found = self.store.range(start, end, limit=limit, revision=revision, keys_only=keys_only)
        if keys_only:
            return found
        return RangeResult([self._from_storage(item) for item in found.items], found.revision, found.count, found.more)

    def txn(self, compare: Sequence[Compare], success: Sequence[Put | Delete]) -> TxnResult:
        """Store values in their form."""
        transform_to_storage = self._form.transform_to_storage
        operations = [
            Put(operation.key, transform_to_storage(operation.key, operation.value), operation.lease)
            if isinstance(operation, Put)
            else operation
            for operation in success
        ]
        result = self.store.txn(compare, operations)
        if not result.current:
            return result
        current = [self._from_storage(item) if item is not None else None for item in result.current]
        return TxnResult(result.succeeded, result.revision, current)

    def watch(self, start: str, end: str, *, revision: int) -> StoreWatch:
        """Watch with values transformed back."""
        return TransformedWatch(self.store.watch(start, end, revision=revision), self._batch)

    def _batch(self, batch: EventBatch) -> EventBatch:
        return EventBatch(tuple(self._event(event) for event in batch.events), batch.revision)

    def _event(self, event: StoreEvent) -> StoreEvent:
        current, previous = event.current, event.previous
        after = self._from_storage(current) if current is not None else None
        before = self._from_storage(previous) if previous is not None else None
        if after is current and before is previous:
            return event
        return StoreEvent(event.key, event.revision, after, before)

    def _from_storage(self, item: KeyValue) -> KeyValue:
        if not item.value:  # a subscription may leave previous values out
            return item
        try:
            value, stale = self._form.transform_from_storage(item.key, item.value)
        except Unreadable as error:
            return item._replace(unreadable=str(error))
        if value is item.value and not stale:
            return item
        return item._replace(value=value, stale=stale)


class SubscribableTransformedStore(TransformedStore):
    """The same around a store in this process, which calls its readers."""

    def subscribe(
        self, start: str, end: str, deliver: Callable[[EventBatch], None], *, previous: WantsPrevious = True
    ) -> Subscription:
        """Call `deliver` with values transformed back."""
        store = self.store
        if not isinstance(store, Subscribable):
            raise TypeError(f"{store!r} does not call its readers")
        return store.subscribe(start, end, lambda batch: deliver(self._batch(batch)), previous=previous)


class QueueingTransformedStore(TransformedStore):
    """The same around a store in another process that makes at once what requests of one thread write by turns."""

    def __init__(self, store: Store, form: Transformer) -> None:
        if not isinstance(store, QueuesWrites):
            raise TypeError(f"{store!r} does not queue writes")
        super().__init__(store, form)
        self.queue_writes = store.queue_writes
        self.queue_no_more = store.queue_no_more
        self.take_queued = store.take_queued


def transformed(store: Store, form: Transformer, *, may_wait: bool = True) -> Store:
    """Return a store around `store` that can do what it can.

    Requests take turns on one thread over it only where the store is in another process, and no form of a value
    `may_wait` for anything.
    """
    if isinstance(store, Subscribable):
        return SubscribableTransformedStore(store, form)
    if isinstance(store, QueuesWrites) and not may_wait:
        return QueueingTransformedStore(store, form)
    return TransformedStore(store, form)
