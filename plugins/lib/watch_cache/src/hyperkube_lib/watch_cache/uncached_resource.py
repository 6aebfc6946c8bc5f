"""A resource that stays in the store: reads go there, and of changes only what is watched or read again is decoded.

Events are most of what a busy cluster stores, and hardly any of them is read again: in a cache they would take as much
memory as the pods that they are about. What is read is kept for a minute or two, and up to date, within a few MiB: who
reads it again, as a console or a loop of a script does, has it as from a cache. Source: kubernetes
``pkg/registry/core/event/storage`` over apiserver ``pkg/storage/etcd3``, as the API server gives events no watch cache
(its size is 0).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from hyperkube_lib.watch_cache.cache_source import Source, too_large
from hyperkube_lib.watch_cache.cached_object import CachedObject, Transform
from hyperkube_lib.watch_cache.decoding import DamagedObject
from hyperkube_lib.watch_cache.event_history import HistoryLimits
from hyperkube_lib.watch_cache.kept_ranges import KeptRanges
from hyperkube_lib.watch_cache.listing import Part
from hyperkube_lib.watch_cache.object_table import IndexFunction, ObjectTable, only
from hyperkube_lib.watch_cache.resource_cache import ANY_REVISION, ResourceCache
from hyperkube_lib.watch_cache.watchers import ADDED, BOOKMARK, CacheEvent, CacheWatch, Index

from hyperkube.machinery.clock import Clock
from hyperkube.storage.store import RangeResult, StoreEvent, prefix_end
from hyperkube.storage.subscriptions import Subscribable


class UncachedResource(ResourceCache):
    """The resource's watchers, and what was read lately; there is no history. It is never `loaded`.

    A watch begins at the revision up to which changes were delivered when it was added: the store is asked what there
    was then, or what has changed up to then, and what comes later is offered. So each change is in one of the two. The
    store is never asked with the lock held: its writer waits for that lock with the store's own.

    What is read is kept if nothing of the resource was changed between the reading and the keeping; from then on the
    changes are applied to it. That is done only with a store that calls its readers before it answers its writers: what
    is kept is then as new as what the store has, or the store's revision says that it is not.
    """

    is_cached = False

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
        super().__init__(source, prefix, transform, clock=clock, indexes=indexes, limits=limits)
        self._kept = KeptRanges()
        self._keeps = isinstance(source.store, Subscribable)
        self._all_since = 0
        """The revision from which on all changes were applied; 0 before the first read."""

    @property
    def revision(self) -> int:
        """The revision up to which changes were offered to the watches."""
        return max(self._revision, self._source.applied)

    def get(self, namespace: str, name: str, *, resource_version: int | None = None) -> CachedObject | None:
        """Return one object as the store has it now, None when there is none."""
        self._wait(resource_version)
        key = self.key(namespace, name)
        kept = self.peek(key)
        if kept is not None:
            return kept
        revision = self._revision
        item = self._source.store.get(key)
        if item is None:
            return None
        obj = self._decoder.object(item)
        if self._keeps:
            with self._lock:
                if self._revision == revision:
                    self._kept.keep(obj)
        return obj

    def peek(self, key: str) -> CachedObject | None:
        """Return an object that was read lately, None if it was not, or there is one that has to be waited for."""
        return self._kept.find(key) if self._is_current() else None

    def _is_current(self) -> bool:
        return self._keeps and self._source.store.revision() <= self.revision

    def begin_loading(self) -> None:
        """Do nothing."""

    def load(self, pages: Iterator[RangeResult]) -> None:
        """Read nothing."""

    def take_over(self, objects: ObjectTable, revision: int) -> bool:
        """Leave them."""
        return False

    def apply(self, events: Sequence[StoreEvent]) -> None:
        """Offer a batch's events to the watches, if there are any, and bring what is kept up to date."""
        ended: Sequence[CacheWatch] = ()
        with self._lock:
            for event in events if self._unreadable else ():
                self._unreadable.pop(event.key, None)
            for event in events if self._kept else ():
                self._kept.apply(event, self._decoder.object)
            if self._watchers:
                ended = self._offer([event for event in events if event.revision > self._revision])
            if events:
                self._revision = max(self._revision, events[-1].revision)
        for watch in ended:
            watch.end()

    def _offer(self, events: Iterable[StoreEvent]) -> Sequence[CacheWatch]:
        """Offer events to the watches; return those that have to end.

        A change that was being committed when the first watch was added came without what was there before, which tells
        additions from modifications, and what a deletion is to show. Then all watches end without an error, and begin
        again from where they were.
        """
        for event in events:
            before = event.previous
            if before is not None and not before.value and not before.unreadable:
                return self._watchers.clear()
            record = self._decoder.event(event)
            if record is not None:
                self._watchers.dispatch(record)
        return ()

    def _wait(self, resource_version: int | None) -> None:
        if resource_version and resource_version > (current := self._source.store.revision()):
            raise too_large(resource_version, current)

    def _read(self, low: str, high: str, index: Index | None, revision: int, most: int, holds: bytes) -> Part:
        most = most if index is None else 0
        part = self._read_kept(low, high, revision, most, holds) or self._read_store(low, high, revision, most, holds)
        return only(self._indexes, index, part)

    def _read_kept(self, low: str, high: str, revision: int, most: int, holds: bytes) -> Part | None:
        """Return the first objects of a range where they are kept, else None."""
        if not self._kept or not self._is_current():
            return None
        with self._lock:
            found, now = self._kept.first(low, high, most, revision), self.revision
        if found is None:
            return None
        objects, end = found
        total = len(objects)
        if end:
            store = self._source.store
            past = revision and store.range(low, high, limit=1, revision=revision, keys_only=True).count
            total = past or store.count(low, high)
        return Part(objects, revision or now, total, end).holding(holds)

    def _read_store(self, low: str, high: str, revision: int, most: int, holds: bytes) -> Part:
        self._all_since = self._all_since or self._source.store.revision()
        pages = self._pages(low, high, revision, most)
        first = next(pages)
        pages = chain((first,), pages)
        if not self._keeps or not self._kept.may_hold(min(most or first.count, first.count)):
            return self._decoder.part(pages, revision, most, holds=holds)
        part = self._decoder.part(pages, revision, most)
        with self._lock:
            if self._all_since <= part.revision >= self._revision and not self._unreadable:
                since = max(self._revision, self._all_since)
                self._kept.keep_range(low, part.end or high, part.objects, since)
        return part.holding(holds)

    def pack_cold(self, revision: int) -> Iterator[None]:
        """Forget what was not read since the last time."""
        with self._lock:
            self._kept.forget_unread()
        return iter(())

    def _pages(self, low: str, high: str, revision: int, most: int) -> Iterator[RangeResult]:
        """Yield pages of the store, noting which keys it has lost."""
        for page in self._source.read_range(low, high, revision, most):
            for item in page.items:
                if not item.damaged:
                    self._unreadable.pop(item.key, None)
                elif item.key not in self._unreadable:
                    self._note_lost(item.key, item.unreadable)
            yield page

    def _note_lost(self, key: str, why: str) -> None:
        error = self._unreadable[key] = DamagedObject(f'the value of key "{key}" is lost: {why}')
        self._source.report_damaged(key, error)

    def _begin_with_state(self, watch: CacheWatch, resource_version: int | None, *, bookmark: bool) -> None:
        self._source.wait_for(self, resource_version)
        revision = self._attach(watch)
        try:
            records = list(self._state(watch, revision))
        except BaseException:
            watch.close()
            raise
        if bookmark:
            records.append(CacheEvent(BOOKMARK, revision, None, initial_end=True))
        watch.begin_with(iter(records), after=revision)

    def _state(self, watch: CacheWatch, revision: int) -> Iterator[CacheEvent]:
        """Yield what there was in a watch's scope, packed: it may wait for a slow reader."""
        low = f"{self.prefix}{watch.scope.namespace}/" if watch.scope.namespace else self.prefix
        for page in self._pages(low, prefix_end(low), revision, 0):
            part = self._decoder.part([page], revision, 0)
            for record in watch.select(CacheEvent(ADDED, obj.revision, obj) for obj in part.objects):
                if record.object is not None:
                    self._pack(record.object, stays=True)
                yield record

    def _begin_after(self, watch: CacheWatch, revision: int | None) -> None:
        self._source.wait_for(self, ANY_REVISION if revision else revision)
        position = self._attach(watch)
        if not revision:
            return
        missed: list[CacheEvent] = []
        try:
            if revision < position:
                events = self._source.read_changes(self.prefix, prefix_end(self.prefix), revision, position)
                missed = [record for event in events if (record := self._decoder.event(event)) is not None]
        except BaseException:
            watch.close()
            raise
        watch.begin_with(watch.select(iter(missed)), after=max(position, revision))

    def _attach(self, watch: CacheWatch) -> int:
        """Offer changes to a watch from now on; return the revision after which."""
        with self._lock:
            position = self.revision
            watch.begin_with(iter(()), after=position)
            self._watchers.add(watch)
            return position
