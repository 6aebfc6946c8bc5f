"""MemoryStore: the Store without a disk, for tests and for clusters that may forget.

The complete twin: several versions of each key until compaction, reads and watches from any retained revision,
leases on the given clock.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from pathlib import Path

from hyperkube.machinery.clock import Clock, SystemClock, Timer
from hyperkube.storage.retention import Retention
from hyperkube.storage.sorted_keys import SortedKeys
from hyperkube.storage.store import (
    FIRST_REVISION,
    Compacted,
    Compare,
    Delete,
    EventBatch,
    FutureRevision,
    KeyValue,
    LeaseNotFound,
    Put,
    RangeResult,
    StoreEvent,
    StoreUnavailable,
    TxnResult,
    check_distinct,
)
from hyperkube.storage.subscriptions import QueueWatch, Subscription, Subscriptions, WantsPrevious, after_revision


class _Lease:
    """A lease that has not ended: when it will, and the keys that it takes along."""

    __slots__ = ("ends", "keys", "timer")

    def __init__(self, ends: float, timer: Timer, keys: Iterable[str] = ()) -> None:
        self.ends = ends
        self.timer = timer
        self.keys = set(keys)


class MemoryStore:
    """A `Store` in this process's memory; it also calls its readers (`Subscribable`) and can be forked (`Forkable`).

    A fork copies the tables of references and shares what they refer to; of a key's versions, which only ever grow,
    each store takes a copy of its own when it first writes the key.

    Args:
        clock: leases end by it.
        history_seconds: how long replaced versions are kept; 0 keeps them until `compact` is called.
    """

    def __init__(self, clock: Clock | None = None, *, history_seconds: float = 0) -> None:
        self._clock = clock or SystemClock()
        self._retention = Retention(history_seconds)
        self._lock = threading.RLock()
        self._revision = FIRST_REVISION
        self._compacted = 0
        self._current: dict[str, KeyValue] = {}
        self._versions: dict[str, list[StoreEvent]] = {}
        self._shared: set[str] = set()
        self._keys = SortedKeys()
        self._log: list[tuple[StoreEvent, ...]] = []
        self._leases: dict[int, _Lease] = {}
        self._next_lease = 1
        self._subscriptions = Subscriptions()
        self._watches: set[QueueWatch] = set()
        self._closed = False
        if history_seconds:
            self._clock.call_later(history_seconds, self._forget_history)

    def revision(self) -> int:
        """Return the revision of the last write."""
        self._check_open()
        return self._revision

    def get(self, key: str, *, revision: int = 0) -> KeyValue | None:
        """Return one key, now or at `revision`."""
        with self._lock:
            self._check_readable(revision)
            return self._at(key, revision) if revision else self._current.get(key)

    def range(self, start: str, end: str, *, limit: int = 0, revision: int = 0, keys_only: bool = False) -> RangeResult:
        """Return the keys in ``[start, end)`` in byte order, now or at `revision`."""
        with self._lock:
            self._check_readable(revision)
            at = revision or self._revision
            found = [item for key in self._keys.between(start, end) if (item := self._at(key, at)) is not None]
            items = found[:limit] if limit else found
            if keys_only:
                items = [_without_value(item) for item in items]
            return RangeResult(items, self._revision, len(found), more=len(items) < len(found))

    def count(self, start: str, end: str) -> int:
        """Return the number of live keys in ``[start, end)``."""
        with self._lock:
            self._check_open()
            return sum(key in self._current for key in self._keys.between(start, end))

    def txn(self, compare: Sequence[Compare], success: Sequence[Put | Delete]) -> TxnResult:
        """Compare, then apply all of `success` in one revision, or nothing."""
        check_distinct(success)
        with self._lock:
            self._check_open()
            current = [self._current.get(condition.key) for condition in compare]
            for condition, item in zip(compare, current, strict=True):
                if condition.mod_revision != (item.mod_revision if item else 0):
                    return TxnResult(succeeded=False, revision=self._revision, current=current)
            for operation in success:
                if isinstance(operation, Put) and operation.lease and operation.lease not in self._leases:
                    raise LeaseNotFound(f"lease {operation.lease} not found")
            self._apply(success)
            return TxnResult(succeeded=True, revision=self._revision)

    def queue_writes(self, pause: Callable[[], None]) -> None:
        """Pause no write of this thread: none takes long."""

    def queue_no_more(self) -> None:
        """Do nothing: no write has paused."""

    def take_queued(self) -> Callable[[], None]:
        """Return what does nothing: every write is committed at once."""
        return _committed_already

    def watch(self, start: str, end: str, *, revision: int) -> QueueWatch:
        """Watch ``[start, end)`` for changes after `revision`, also those that already happened."""
        with self._lock:
            self._check_open()
            failure = Compacted(revision, self._compacted) if revision < self._compacted else None
            watch = QueueWatch(progress=self._report_progress, closed=self._forget_watch, failure=failure)
            watch.subscription = subscription = self.subscribe(start, end, after_revision(revision, watch.put))
            self._watches.add(watch)
            first = bisect_right(self._log, revision, key=_revision_of)
            for events in self._log[first:]:
                subscription.offer(events, events[0].revision)
            return watch

    def subscribe(
        self, start: str, end: str, deliver: Callable[[EventBatch], None], *, previous: WantsPrevious = True
    ) -> Subscription:
        """Call `deliver` with every change after now, in the writer's thread."""
        with self._lock:
            self._check_open()
            subscription = Subscription(
                start, end, deliver, revision=self._revision, previous=previous, close=self._unsubscribe
            )
            self._subscriptions.add(subscription)
            return subscription

    def grant_lease(self, seconds: int) -> int:
        """Create a lease that ends `seconds` of the clock from now."""
        with self._lock:
            self._check_open()
            lease, self._next_lease = self._next_lease, self._next_lease + 1
            self._grant(lease, seconds)
            return lease

    def fork(self, folder: Path | None = None, clock: Clock | None = None) -> MemoryStore:
        """Return a store that begins as this one is now; `folder` is not needed.

        Takes some 50 ns for each key and each retained change. History is kept as long as here.
        """
        with self._lock:
            self._check_open()
            other = MemoryStore(clock or self._clock, history_seconds=self._retention.seconds)
            other._begin_as(self)
            return other

    def _begin_as(self, seed: MemoryStore) -> None:
        self._revision, self._compacted = seed._revision, seed._compacted
        self._current, self._keys, self._log = seed._current.copy(), seed._keys.copy(), seed._log.copy()
        self._versions = seed._versions.copy()
        seed._shared = set(seed._versions)
        self._shared = seed._shared.copy()
        self._next_lease = seed._next_lease
        now = seed._clock.monotonic()
        for number, lease in seed._leases.items():
            self._grant(number, max(lease.ends - now, 0.0), lease.keys)

    def _grant(self, lease: int, seconds: float, keys: Iterable[str] = ()) -> None:
        timer = self._clock.call_later(seconds, lambda: self._expire(lease))
        self._leases[lease] = _Lease(self._clock.monotonic() + seconds, timer, keys)

    def compact(self, revision: int) -> None:
        """Forget the versions that were replaced at or before `revision`."""
        with self._lock:
            if revision <= self._compacted:
                return
            self._check_readable(revision)
            self._compacted = revision
            for key in list(self._versions):
                self._compact_key(key, revision)
            del self._log[: bisect_right(self._log, revision, key=_revision_of)]

    def close(self) -> None:
        """End the watches and the leases' timers."""
        with self._lock:
            self._closed = True
            watches = list(self._watches)
            for lease in self._leases.values():
                lease.timer.cancel()
        for watch in watches:
            watch.close()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable("the store is closed")

    def _check_readable(self, revision: int) -> None:
        self._check_open()
        if revision > self._revision:
            raise FutureRevision(f"revision {revision} does not exist yet, the current one is {self._revision}")
        if 0 < revision < self._compacted:
            raise Compacted(revision, self._compacted)

    def _at(self, key: str, revision: int) -> KeyValue | None:
        versions = self._versions.get(key, [])
        place = bisect_right(versions, revision, key=attrgetter("revision"))
        return versions[place - 1].current if place else None

    def _apply(self, operations: Iterable[Put | Delete]) -> None:
        revision = self._revision + 1
        events = tuple(event for operation in operations if (event := self._event(operation, revision)) is not None)
        if not events:
            return
        for event in events:
            self._record(event)
        self._log.append(events)
        self._revision = revision
        self._subscriptions.publish(events, revision)

    def _event(self, operation: Put | Delete, revision: int) -> StoreEvent | None:
        key = operation.key
        previous = self._current.get(key)
        if isinstance(operation, Put):
            created, version = (previous.create_revision, previous.version + 1) if previous else (revision, 1)
            current = KeyValue(key, operation.value, created, revision, version, operation.lease)
            return StoreEvent(key, revision, current, previous)
        return StoreEvent(key, revision, None, previous) if previous else None

    def _record(self, event: StoreEvent) -> None:
        key, current, previous = event.key, event.current, event.previous
        if key not in self._versions:
            self._versions[key] = []
            self._keys.add(key)
        self._own_versions(key).append(event)
        if previous is not None and previous.lease in self._leases:
            self._leases[previous.lease].keys.discard(key)
        if current is None:
            del self._current[key]
            return
        self._current[key] = current
        if current.lease:
            self._leases[current.lease].keys.add(key)

    def _own_versions(self, key: str) -> list[StoreEvent]:
        """Return a key's versions for changing them: after a fork, the first time, a copy."""
        if key in self._shared:
            self._shared.discard(key)
            self._versions[key] = self._versions[key].copy()
        return self._versions[key]

    def _compact_key(self, key: str, revision: int) -> None:
        versions = self._own_versions(key)
        place = bisect_right(versions, revision, key=attrgetter("revision"))
        readable = place > 0 and versions[place - 1].current is not None
        del versions[: place - 1 if readable else place]
        if not versions:
            del self._versions[key]
            self._keys.remove(key)

    def _expire(self, lease: int) -> None:
        with self._lock:
            if self._closed:
                return
            self._apply([Delete(key) for key in sorted(self._leases[lease].keys)])
            del self._leases[lease]

    def _forget_history(self) -> None:
        with self._lock:
            if self._closed:
                return
            old = self._retention.pass_over(self._clock.monotonic(), self._revision)
            if old > self._compacted:
                self.compact(old)
            self._clock.call_later(self._retention.seconds, self._forget_history)

    def _report_progress(self, watch: QueueWatch) -> None:
        with self._lock:
            watch.report(self._revision)

    def _unsubscribe(self, subscription: Subscription) -> None:
        with self._lock:
            self._subscriptions.remove(subscription)

    def _forget_watch(self, watch: QueueWatch) -> None:
        with self._lock:
            self._watches.discard(watch)
            if watch.subscription is not None:
                self._subscriptions.remove(watch.subscription)


def _revision_of(events: tuple[StoreEvent, ...]) -> int:
    return events[0].revision


def _without_value(item: KeyValue) -> KeyValue:
    return KeyValue(item.key, b"", item.create_revision, item.mod_revision, item.version, item.lease)


def _committed_already() -> None:
    pass
