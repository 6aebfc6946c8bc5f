"""All objects of one resource as encoded bytes: the cache that every read and watch of the API is answered from.

Only `StoreCache` makes these and feeds them. Reads take no lock for longer than it takes to copy references; bodies are
shared and never changed.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence

from hyperkube_lib.watch_cache.cache_source import Source
from hyperkube_lib.watch_cache.cached_object import CachedObject, Transform
from hyperkube_lib.watch_cache.cold_objects import in_pieces
from hyperkube_lib.watch_cache.decoding import DamagedObject, Decoder, UnreadableKeys
from hyperkube_lib.watch_cache.event_history import Beside, EventHistory, HistoryLimits
from hyperkube_lib.watch_cache.listing import ListResult, Part, part_of, read_page
from hyperkube_lib.watch_cache.object_table import IndexFunction, ObjectTable, in_index, only
from hyperkube_lib.watch_cache.packing import Packer
from hyperkube_lib.watch_cache.watchers import (
    ADDED,
    DEFAULT_BUFFER,
    DELETED,
    MODIFIED,
    CacheEvent,
    CacheWatch,
    Index,
    Predicate,
    Scope,
    WatcherTable,
    events_of_state,
)

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError, Expired, StorageReadError
from hyperkube.storage.store import Compacted, KeyValue, RangeResult, StoreEvent, prefix_end

ANY_REVISION = 0
"""Read whatever the cache has (``resourceVersion=0``)."""

_EXTENSIONS = 5
"""Attempts to make the history reach back, while other watches do the same."""

TOO_OLD_TO_LIST = "The resourceVersion for the provided list is too old."
"""Kubernetes' text without a continue token (apiserver ``pkg/storage/etcd3/errors.go``); with one it adds another."""

logger = logging.getLogger("hyperkube.storage")


class ResourceCache:
    """The objects under one key prefix, their recent history and their watchers.

    The lock covers objects, history, watchers and what is pending as one: what a watch begins with is taken, and the
    watch is added, in one critical section, so that each change is either in what it begins with or offered to it, and
    never both. Single objects are read without the lock: a dict's look-up is atomic, and objects are never changed.
    The lock is reentrant: a watch that is too slow ends, and is removed, while a change is dispatched.

    Args:
        prefix: ends with ``/``; keys below are ``NAMESPACE/NAME`` or ``NAME``; `transform` decodes what is stored.
        indexes: by name (usually the field's path), see `by_field` and `by_owner`.
        limits: how much history is kept for watchers that come back.
    """

    is_cached = True

    def __init__(
        self,
        source: Source[ResourceCache],
        prefix: str,
        transform: Transform,
        *,
        clock: Clock,
        indexes: Mapping[str, IndexFunction] | None = None,
        limits: HistoryLimits | None = None,
    ) -> None:
        self.prefix = prefix
        self.when_current = source.when_current
        self._source = source
        self._decoder = Decoder(transform)
        self._clock = clock
        self._indexes = dict(indexes or {})
        self._lock = threading.RLock()
        self._objects = ObjectTable(self._indexes)
        self._unreadable = UnreadableKeys()
        self._packer = Packer()
        self._history = EventHistory(limits or HistoryLimits(), self._packer, beside=Beside(self._lock, clock))
        self._watchers = WatcherTable(self._indexes)
        self._pending: list[StoreEvent] | None = None
        self._revision = 0
        self.loaded = False
        self.load_lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._objects)

    @property
    def revision(self) -> int:
        """The revision that the cache's content stands for; every change of the resource up to it is in."""
        return max(self._revision, self._source.applied) if self.loaded else 0

    @property
    def lost(self) -> Sequence[str]:
        """The keys whose values the store has lost: lists go on without them."""
        return self._unreadable.lost() if self._unreadable else ()

    @property
    def watchers(self) -> int:
        """The number of open watches."""
        return len(self._watchers)

    def key(self, namespace: str, name: str) -> str:
        """Return the store key of an object."""
        return f"{self.prefix}{namespace}/{name}" if namespace else self.prefix + name

    def get(self, namespace: str, name: str, *, resource_version: int | None = None) -> CachedObject | None:
        """Return one object, None when there is none.

        Args:
            namespace: empty for cluster-scoped objects.
            name: of the object.
            resource_version: None for a consistent read, 0 for whatever is cached, N for at least that fresh.

        Raises:
            StorageReadError: its value cannot be decoded.
            Timeout: the cache does not reach the resource version in time.
        """
        self._wait(resource_version)
        key = self.key(namespace, name)
        if self._unreadable and (error := self._unreadable.get(key)) is not None:
            raise error
        return self._objects.get(key)

    def peek(self, key: str) -> CachedObject | None:
        """Return what answers a consistent read that has waited for a remote store; None: it has to, or has none."""
        is_behind = not self.loaded or self._source.newest() > self.revision
        return None if is_behind or self._unreadable else self._objects.get(key)

    def list(
        self,
        *,
        namespace: str = "",
        name: str = "",
        index: Index | None = None,
        matches: Predicate | None = None,
        limit: int = 0,
        start: str = "",
        resource_version: int | None = None,
        exact: bool = False,
        holds: bytes = b"",
    ) -> ListResult:
        """Return objects in the order of their keys.

        Args:
            namespace: empty for all of them.
            name: only the object of this name in the namespace, or of no namespace: no other one is looked at.
            index: only objects with this value in a declared index.
            matches: only objects that this accepts (label and field selectors).
            limit: at most so many (0: all).
            start: `ListResult.next_start` of the page before.
            resource_version: as for `get`.
            exact: list as it was at `resource_version` (``resourceVersionMatch=Exact`` and all further pages).
            holds: in the JSON of all that `matches` accepts; spares decoding what is not cached.

        Raises:
            Expired: the exact revision is not retained any more.
            StorageReadError: an object in range cannot be decoded. What the store has lost is left out.
            Timeout: the cache does not reach the resource version in time.
        """
        self._wait(resource_version)
        low = self.key(namespace, name) if name else self.prefix + (f"{namespace}/" if namespace else "")
        high = f"{low}\0" if name else prefix_end(low)
        low = max(low, self.prefix + start)
        wanted = resource_version if exact and resource_version else 0

        def read(first: str, revision: int, most: int) -> Part:
            return self._read(first, high, index, revision or wanted, most, holds)

        try:
            if wanted:
                # Also where it is cached: a page is expired for all servers alike, and for all resources at once.
                self._source.require_retained(self.prefix, wanted)
            return read_page(read, low, prefix=self.prefix, matches=matches, limit=limit)
        except Compacted as error:
            raise Expired(TOO_OLD_TO_LIST) from error

    def watch(
        self,
        *,
        namespace: str = "",
        name: str = "",
        index: Index | None = None,
        matches: Predicate | None = None,
        resource_version: int | None = None,
        initial_events: bool | None = None,
        notify: Callable[[CacheWatch], None] | None = None,
        capacity: int = DEFAULT_BUFFER,
    ) -> CacheWatch:
        """Watch objects from a revision on.

        Args:
            namespace: empty for all of them.
            name: empty for all of them.
            index: only objects with this value in a declared index (events cost nothing to the others).
            matches: only objects that this accepts; transitions become ADDED and DELETED.
            resource_version: N for the changes after N; None or 0 for ADDED events for what exists, then the changes.
            initial_events: True for ADDED events for what exists at `resource_version` or later and a bookmark with
                `initial_end`, then the changes; False for no such events even without a resource version.
            notify: called with the watch when there is something to drain, from the applier's thread: set a flag and
                return. Without it use `CacheWatch.wait`.
            capacity: records that may wait before the watcher counts as too slow and is ended.

        Raises:
            Expired: the changes since `resource_version` are not retained any more.
            Timeout: the cache does not reach the resource version in time, for initial events.
        """
        watch = CacheWatch(
            Scope(namespace, name, index),
            in_index(self._indexes, index, matches),
            clock=self._clock,
            position=lambda: self.revision,
            forget=self._forget_watch,
            notify=notify,
            capacity=capacity,
        )
        if initial_events or (initial_events is None and not resource_version):
            self._begin_with_state(watch, resource_version, bookmark=bool(initial_events))
        else:
            self._begin_after(watch, resource_version)
        return watch

    def _wait(self, resource_version: int | None) -> None:
        self._source.wait_for(self, resource_version)

    def _begin_with_state(self, watch: CacheWatch, resource_version: int | None, *, bookmark: bool) -> None:
        """Begin a watch with what there is, then what changes."""
        self._source.wait_for(self, resource_version)
        with self._lock:
            objects = self._objects.in_scope(self.prefix, watch.scope)
            watch.begin_with(events_of_state(objects, watch, self.revision, bookmark=bookmark))
            self._watchers.add(watch)

    def _begin_after(self, watch: CacheWatch, revision: int | None) -> None:
        """Begin a watch with what has changed since a revision; None or 0 for what changes from now on."""
        if revision:
            self._extend_history(revision)
        self._source.wait_for(self, ANY_REVISION if revision else revision)
        with self._lock:
            if revision:
                if revision < (complete_from := self._history.complete_from):
                    raise Expired(f"too old resource version: {revision} ({complete_from})")
                watch.begin_with(watch.select(iter(self._history.after(revision))), after=revision)
            self._watchers.add(watch)

    def begin_loading(self) -> None:
        """Keep the events that arrive from now on until `load`; called by the store's cache."""
        with self._lock:
            self._pending = []

    def load(self, pages: Iterator[RangeResult]) -> None:
        """Start afresh from what there was at the first page's revision, then apply what arrived meanwhile.

        Watches from before are ended without an error: their clients watch again and learn whether that is possible.
        """
        objects: list[CachedObject] = []
        revision = 0
        for page in pages:  # one by one: the values are as large as the cache
            revision = revision or page.revision
            objects += (obj for item in page.items if (obj := self._decode(item)) is not None)
        table = ObjectTable(self._indexes, objects)
        with self._lock:
            # What they were told last may lie before what was loaded, with changes in between that are not known.
            ended = self._watchers.clear()
            self._objects, self._revision = table, revision
            self._history.restart(revision)
            pending, self._pending = self._pending or [], None
            self.loaded = True
            self._apply(pending)
        for watch in ended:  # without the lock: their readers are notified, and may come back at once
            watch.end()

    def pack_cold(self, revision: int) -> Iterator[None]:
        """Pack what has not changed since a revision, a piece for each step; cut the history to its limits before."""
        yield from self._history.pack_cold(revision)
        yield from in_pieces(self._objects.all(), revision, self._pack)

    def copy_objects(self) -> ObjectTable | None:
        """Return a table of what is cached; None while there is nothing, or something that could not be decoded."""
        with self._lock:
            return self._objects.copy() if self.loaded and not self._unreadable else None

    def take_over(self, objects: ObjectTable, revision: int) -> bool:
        """Start with the objects of another cache, as they were at a revision, and apply what arrived meanwhile.

        Called in place of `load`, after `begin_loading`. Returns False, taking nothing, if their indexes are others.
        """
        with self._lock:
            if objects.index_names != self._indexes.keys():
                self._pending = None
                return False
            self._objects, self._revision = objects, revision
            self._history.restart(revision)
            pending, self._pending = self._pending or [], None
            self.loaded = True
            self._apply(pending)
            return True

    def apply(self, events: Sequence[StoreEvent]) -> None:
        """Apply one batch's events of this resource, whole revisions in order; called by the store's cache."""
        with self._lock:
            if self._pending is not None:
                self._pending += events
            elif self.loaded:
                self._apply(events)

    def close(self, error: ApiError | None = None) -> None:
        """End all watches and forget the objects; the cache loads again when it is read again."""
        with self._lock:
            self.loaded = False
            ended = self._watchers.clear()
            self._objects, self._unreadable = ObjectTable(self._indexes), UnreadableKeys()
            self._history.restart(0)
        for watch in ended:
            watch.end(error)

    def _apply(self, events: Sequence[StoreEvent]) -> None:
        reached = self._revision
        for event in events:
            # What was kept while pages were read may be in them already; and a watch that was opened again may repeat.
            if event.revision <= reached:
                continue
            record = self._change(event)
            if record is not None:
                self._history.append(record, self._clock.monotonic())
                self._watchers.dispatch(record)
        if events:
            self._revision = max(reached, events[-1].revision)

    def _pack(self, obj: CachedObject, *, stays: bool = False) -> None:
        bodies = obj.packed(self._packer, stays=stays)
        with self._lock:
            obj.exchange(bodies, self._packer)

    def _change(self, event: StoreEvent) -> CacheEvent | None:
        """Change the content by one event; return what watchers see, None for what they never saw."""
        previous = self._objects.get(event.key)
        self._unreadable.pop(event.key, None)
        if event.current is not None and (obj := self._decode(event.current)) is not None:
            self._objects.put(obj)
            return CacheEvent(MODIFIED if previous else ADDED, event.revision, obj, previous)
        if previous is None:
            return None
        self._objects.remove(previous)
        return CacheEvent(DELETED, event.revision, previous.at(event.revision), previous)

    def _decode(self, item: KeyValue) -> CachedObject | None:
        try:
            return self._decoder.object(item)
        except StorageReadError as error:
            self._unreadable[item.key] = error
            if isinstance(error, DamagedObject):
                self._source.report_damaged(item.key, error)
        except Exception as error:  # the writer's thread must survive a transform's bug: reads of this key report it
            logger.exception("the value of key %r cannot be transformed", item.key)
            self._unreadable[item.key] = StorageReadError(f"unable to transform key {item.key!r}: {error}")
        return None

    def _read(self, low: str, high: str, index: Index | None, revision: int, most: int, holds: bytes) -> Part:
        """Return the first objects of a key range at a revision (0: now), all of those in an index."""
        with self._lock:
            if not revision or revision >= self._revision:
                self._unreadable.check(low, high)
                objects = self._objects.between(low, high, index, most)
                count = self._objects.count(low, high) if most and index is None else len(objects)
                return part_of(objects, revision or self.revision, count)
            if revision >= self._history.complete_from and not self._unreadable:
                changed = {key: obj for key, obj in self._history.undone_to(revision).items() if low <= key < high}
                objects, count = self._objects.before(changed, low, high, most if index is None else 0)
                return only(self._indexes, index, part_of(objects, revision, count))
        most = 0 if index is not None else most
        pages = self._source.read_range(low, high, revision, most)
        return only(self._indexes, index, self._decoder.part(pages, revision, most, holds=holds))

    def _extend_history(self, revision: int) -> None:
        """Make the history reach back to `revision`, with the store's help: the cache may have been loaded later."""
        self._source.wait_for(self, ANY_REVISION)
        for _ in range(_EXTENSIONS):  # again when another watch made the history reach back, but not as far, meanwhile
            complete_from = self._history.complete_from
            if revision >= complete_from:
                return
            events = self._source.read_changes(self.prefix, prefix_end(self.prefix), revision, complete_from)
            past = [record for event in events if (record := self._decoder.event(event)) is not None]
            with self._lock:
                if self._history.prepend(past, revision, complete_from):
                    return

    def _forget_watch(self, watch: CacheWatch) -> None:
        with self._lock:
            self._watchers.remove(watch)
