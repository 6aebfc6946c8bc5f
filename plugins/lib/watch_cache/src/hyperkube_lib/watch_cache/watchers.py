"""The watches of a resource: event records, the buffers they wait in, and which watch wants which.

A watch costs no thread: it has a buffer and a notification. The applier of changes puts shared records into the
buffers; the reader of a watch (an event loop for thousands, or a thread of its own) is notified once per burst and
drains.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from hyperkube_lib.watch_cache.cached_object import CachedObject

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError

ADDED, MODIFIED, DELETED, BOOKMARK = "ADDED", "MODIFIED", "DELETED", "BOOKMARK"

DEFAULT_BUFFER = 4096
"""Records that may wait for a watcher before it counts as too slow."""

Predicate: TypeAlias = Callable[[CachedObject], bool]
Index: TypeAlias = tuple[str, str]
"""A declared index and the value asked for, e.g. ``("spec.nodeName", "node-1")``."""


class CacheEvent:
    """What a watcher is told; shared by all of them.

    Attributes:
        kind: ``ADDED``, ``MODIFIED``, ``DELETED`` or ``BOOKMARK``.
        revision: of the change; of the whole cache for a bookmark.
        object: the new state; for a deletion the last state with the deletion's revision; None for a bookmark.
        previous: the state before, None for a creation.
        initial_end: for the bookmark that ends the initial events.
        at: when a history took it, in seconds of a monotonic clock; there only for what one has taken.
    """

    __slots__ = ("at", "initial_end", "kind", "object", "previous", "revision")
    at: float

    def __init__(
        self,
        kind: str,
        revision: int,
        obj: CachedObject | None,
        previous: CachedObject | None = None,
        *,
        initial_end: bool = False,
    ) -> None:
        self.kind = kind
        self.revision = revision
        self.object = obj
        self.previous = previous
        self.initial_end = initial_end

    def __repr__(self) -> str:
        return f"<CacheEvent {self.kind} {self.revision} {self.object!r}>"


class Transitions:
    """One event as seen through selectors, worked out once for all watchers.

    An object that comes to match a selector was added as far as its watcher can tell, one that ceases to was deleted.
    """

    __slots__ = ("_added", "_deleted", "event")

    def __init__(self, event: CacheEvent) -> None:
        self.event = event
        self._added: CacheEvent | None = None
        self._deleted: CacheEvent | None = None

    def seen_by(self, accepts: Predicate | None) -> CacheEvent | None:
        """Return the event for a watcher with this predicate, None when it does not see it."""
        event = self.event
        if accepts is None:
            return event
        previous, obj = event.previous, event.object
        before = previous is not None and accepts(previous)
        after = event.kind != DELETED and obj is not None and accepts(obj)
        if before and after:
            return event
        if after:
            return event if event.kind == ADDED else self._as_added()
        if before:
            return event if event.kind == DELETED else self._as_deleted()
        return None

    def _as_added(self) -> CacheEvent:
        if self._added is None:
            self._added = CacheEvent(ADDED, self.event.revision, self.event.object)
        return self._added

    def _as_deleted(self) -> CacheEvent:
        if self._deleted is None:
            previous = self.event.previous
            gone = previous.at(self.event.revision) if previous else None
            self._deleted = CacheEvent(DELETED, self.event.revision, gone, previous)
        return self._deleted


class Scope(NamedTuple):
    """What part of a resource is watched; everything empty means all of it."""

    namespace: str = ""
    name: str = ""
    indexed: Index | None = None

    @property
    def shape(self) -> _Shape:
        """Whether it has a namespace and a name, and which index."""
        return bool(self.namespace), bool(self.name), self.indexed[0] if self.indexed is not None else None

    def covers(self, obj: CachedObject) -> bool:
        """Tell whether the object is in the watched namespace and has the watched name."""
        return (not self.namespace or obj.namespace == self.namespace) and (not self.name or obj.name == self.name)


_Key: TypeAlias = tuple[str, str, Index | None]
"""What a scope is equal to."""

_Shape: TypeAlias = tuple[bool, bool, str | None]
"""Whether a scope has a namespace and a name, and the name of its index."""


class CacheWatch:
    """One watcher's buffer. `drain` from one thread; `close` from any.

    The cache offers records under its lock, the reader drains without it: a list is safe for one that appends and
    one that pops. `_armed` makes notifications rare: the cache disarms it with the first record of a burst, and the
    reader arms it again when it finds nothing. The invariant: a record in the buffer has a reader that will come, as it
    was notified and has not found the buffer empty since.

    Attributes:
        error: why the cache ended the watch; None when it was closed, or ended because its reader was too slow or the
            cache had to start afresh (the client then watches again from where it was).
    """

    __slots__ = (
        "_accepts", "_after", "_armed", "_buffer", "_capacity", "_clock", "_ended", "_event", "_forget", "_initial",
        "_notify", "_position", "error", "scope",
    )  # fmt: skip

    def __init__(
        self,
        scope: Scope,
        accepts: Predicate | None,
        *,
        clock: Clock,
        position: Callable[[], int],
        forget: Callable[[CacheWatch], None],
        notify: Callable[[CacheWatch], None] | None = None,
        capacity: int = DEFAULT_BUFFER,
    ) -> None:
        self.scope = scope
        self.error: ApiError | None = None
        self._accepts = accepts
        self._clock = clock
        self._position = position
        self._forget = forget
        self._event = threading.Event() if notify is None else None
        self._notify = notify
        self._capacity = capacity
        self._buffer: list[CacheEvent] = []  # mostly empty, and an empty deque takes ten times as much
        self._initial: Iterator[CacheEvent] | None = None
        self._after = 0
        self._armed = True
        self._ended = False

    @property
    def ended(self) -> bool:
        """Tell whether no more records come; what is buffered can still be drained, except after a slow reader."""
        return self._ended

    def begin_with(self, initial: Iterator[CacheEvent], *, after: int = 0) -> None:
        """Let `drain` yield these records first; called before the watch is handed out.

        Nothing up to the revision `after` is offered: the reader knows it from another server, whose cache was ahead.
        """
        self._initial = initial
        self._after = after
        self._notify_reader()

    def select(self, events: Iterator[CacheEvent]) -> Iterator[CacheEvent]:
        """Yield what this watch would have seen of the events."""
        for event in events:
            if event.object is not None and self.scope.covers(event.object):
                record = Transitions(event).seen_by(self._accepts)
                if record is not None:
                    yield record

    def offer(self, transitions: Transitions) -> None:
        """Buffer an event if it is wanted; called by the cache with its lock held."""
        record = transitions.seen_by(self._accepts)
        if record is None or self._ended or record.revision <= self._after:
            return
        if len(self._buffer) >= self._capacity:
            # The writer cannot wait for a slow reader. Ended without an error, the client watches again from where it
            # was, and learns then whether the history still reaches that far.
            self.end()
            return
        self._buffer.append(record)
        self._notify_reader()

    def drain(self, most: int = 1000, *, size: int = sys.maxsize, arms: bool = False) -> list[CacheEvent]:
        """Return up to `most` records in order; the reader is notified again only after an empty answer.

        So a reader drains until it gets nothing, then waits to be notified.

        Args:
            most: records.
            size: bytes of their objects after which no other record is added.
            arms: have the reader notified again behind an answer, too, if the watch `is_drained` then.
        """
        records = self._pop(most, size)
        if records:
            if arms and self.is_drained:
                self._armed = True  # before the reader looks whether the watch is still drained
        else:
            self._armed = True
            # A record that came after the buffer was found empty, and before it was armed, notified no reader: look
            # again. One that comes after this look does.
            if self._buffer:
                records = self._pop(most, size)
        return records

    @property
    def is_drained(self) -> bool:
        """Tell whether nothing waits to be drained."""
        return self._initial is None and not self._buffer

    def bookmark(self) -> CacheEvent | None:
        """Return a bookmark for what was drained so far, None while something waits to be drained."""
        # The position is read before the buffer is looked at: a change that is applied in between is in the buffer, and
        # then there is no bookmark. The other way round, a bookmark could be ahead of a change that was not drained.
        position = max(self._position(), self._after)
        if self._ended or not self.is_drained:
            return None
        return CacheEvent(BOOKMARK, position, None)

    def wait(self, timeout: float | None = None) -> bool:
        """Block until there is something to drain or the watch ended; for readers without a `notify` of their own."""
        if self._event is None:
            raise RuntimeError("this watch notifies its reader, so there is nothing to wait for")
        notified = self._clock.wait(self._event, timeout)
        # Cleared before the reader drains: what comes from now on is notified again, if the drain did not find it.
        self._event.clear()
        return notified

    def end(self, error: ApiError | None = None) -> None:
        """Let no more records come and tell the reader."""
        self.error = error  # before `_ended`: a reader that sees the end must see why
        self._ended = True
        self._forget(self)
        self._armed = True  # the end is told even to a reader that was notified before and has not drained yet
        self._notify_reader()

    def close(self) -> None:
        """End the watch for its reader's own reasons; idempotent."""
        if not self._ended:
            self.end()
        self._buffer.clear()
        self._initial = None

    def _notify_reader(self) -> None:
        if not self._armed:
            return
        self._armed = False
        if self._event is not None:
            self._event.set()
        elif self._notify is not None:
            self._notify(self)

    def _pop(self, most: int, size: int) -> list[CacheEvent]:
        buffer = self._buffer
        if self._initial is None and len(buffer) == 1:  # as mostly; one that reads, so that it stays there
            return [buffer.pop(0)] if most > 0 else []
        records: list[CacheEvent] = []
        if self._initial is not None:
            for record in self._initial:
                records.append(record)
                size -= len(record.object.body) if record.object is not None else 0
                if len(records) >= most or size <= 0:
                    return records
            self._initial = None
        while buffer and len(records) < most and size > 0:
            record = buffer.pop(0)
            records.append(record)
            size -= len(record.object.body) if record.object is not None else 0
        return records


class WatcherTable:
    """All watches of a resource by scope: an event meets few that do not want it; used under the cache's lock.

    `_shapes` counts what scopes are made of (a namespace, a name, an index), so that an event is looked for in those
    that there are: mostly all objects and those of a node.
    """

    def __init__(self, indexes: Mapping[str, Callable[[CachedObject], tuple[str, ...]]]) -> None:
        self._indexes = indexes
        self._by_scope: dict[_Key, dict[CacheWatch, None]] = {}
        self._shapes: Counter[_Shape] = Counter()

    def __len__(self) -> int:
        return sum(len(watches) for watches in self._by_scope.values())

    def add(self, watch: CacheWatch) -> None:
        """Add a watch."""
        self._by_scope.setdefault(watch.scope, {})[watch] = None
        self._shapes[watch.scope.shape] += 1

    def remove(self, watch: CacheWatch) -> None:
        """Forget a watch; harmless when it is not there."""
        watches = self._by_scope.get(watch.scope, {})
        if watch not in watches:
            return
        del watches[watch]
        shape = watch.scope.shape
        self._shapes[shape] -= 1
        if not self._shapes[shape]:
            del self._shapes[shape]
        if not watches:
            del self._by_scope[watch.scope]

    def clear(self) -> list[CacheWatch]:
        """Forget all watches and return them."""
        watches = [watch for scope in self._by_scope.values() for watch in scope]
        self._by_scope.clear()
        self._shapes.clear()
        return watches

    def dispatch(self, event: CacheEvent) -> None:
        """Offer the event to the watches that may want it."""
        obj = event.object
        if obj is None or not self._by_scope:
            return
        transitions, by_scope = Transitions(event), self._by_scope
        for scope in self._scopes(obj, event.previous):
            if watches := by_scope.get(scope):
                for watch in tuple(watches):  # a copy: a watch that is too slow ends, and is removed meanwhile
                    watch.offer(transitions)

    def _scopes(self, obj: CachedObject, previous: CachedObject | None) -> Sequence[_Key]:
        """Return where those watch who may want a change of an object; plain tuples, which are made sooner."""
        scopes: list[_Key] = []
        for of_namespace, of_name, index in self._shapes:
            namespace, name = obj.namespace if of_namespace else "", obj.name if of_name else ""
            if of_namespace and not namespace:
                continue
            if index is None:
                scopes.append((namespace, name, None))
                continue
            values_of = self._indexes[index]
            values = values_of(obj)
            if previous is not None and (before := values_of(previous)) != values:
                values = tuple(dict.fromkeys((*values, *before)))
            scopes += [(namespace, name, (index, value)) for value in values]
        return scopes


def events_of_state(
    objects: Sequence[CachedObject], watch: CacheWatch, revision: int, *, bookmark: bool
) -> Iterator[CacheEvent]:
    """Yield what a watch from a state begins with; lazily, so that selecting is the reader's work."""
    yield from watch.select(CacheEvent(ADDED, obj.revision, obj) for obj in objects)
    if bookmark:
        yield CacheEvent(BOOKMARK, revision, None, initial_end=True)
