"""The one watch of the store, from which the caches of all resources are fed.

A thread per resource would be seventy of them: here one watch of the whole prefix is taken apart by key. A resource is
loaded when it is first read. With a store in this process there is not even one thread: it calls the cache before it
answers the write (see `feed`), so a read after a write finds it done.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence

from hyperkube_lib.watch_cache.cache_state import CacheState, Inherited
from hyperkube_lib.watch_cache.cached_object import Transform
from hyperkube_lib.watch_cache.caches_by_prefix import CachesByPrefix
from hyperkube_lib.watch_cache.cold_objects import ColdObjects
from hyperkube_lib.watch_cache.decoding import a_few_at_a_time
from hyperkube_lib.watch_cache.event_history import HistoryLimits
from hyperkube_lib.watch_cache.object_table import IndexFunction
from hyperkube_lib.watch_cache.resource_cache import ResourceCache
from hyperkube_lib.watch_cache.uncached_resource import UncachedResource
from hyperkube_lib.watch_cache.waiting_readers import Reached, RemoteReaders, WaitingReaders

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError, Expired, StorageReadError
from hyperkube.storage.store import (
    Compacted,
    EventBatch,
    RangeResult,
    Store,
    StoreEvent,
    StoreUnavailable,
    StoreWatch,
    prefix_end,
)
from hyperkube.storage.subscriptions import Subscribable, Subscription

DEFAULT_TIMEOUT = 3.0
"""Seconds that a read waits for the cache. Source: kubernetes apiserver ``pkg/storage/cacher`` (blockTimeout)."""

RETRY_SECONDS = 1.0
"""Seconds between attempts to watch a remote store again."""

PAGE = 1000
"""Objects that are read from the store at a time while a resource is loaded."""

MOST_INHERITED_CHANGES = 1000
"""Changes that are kept of a resource that was never read; with more of them it is read from the store when needed."""

logger = logging.getLogger("hyperkube.storage")


def _unknown() -> int:
    return 0


def _at_once() -> None:
    """Go on."""


def _log_damaged(_key: str, error: StorageReadError) -> None:
    logger.error("%s", error)


class StoreCache:
    """Caches of the resources under one prefix of a store.

    One thread at a time delivers changes: the writer's under the lock of a store in this process, or the thread that
    follows a remote store. The invariant for readers: when `applied` is N, every loaded resource has all its changes up
    to N. So a batch is applied to its resources first, and `applied` moves afterwards. `_resources` is replaced and
    never changed, so that delivering takes no lock to look a resource up.

    Args:
        store: `close` of the cache does not close it.
        clock: for time-outs.
        prefix: with a slash at the end; everything below is watched.
        timeout: seconds that a read waits until the cache is fresh enough.
        limits_of: how much history the resource with a prefix keeps, unless `resource` is told.
        report_damaged: is told of keys whose values the store has lost; must not block.
        state: what the cache of another store had, of which this one is a fork: it is not read again if `store` calls
            its readers and is still at that revision.
        rest: called now and then while a resource is read from the store, without any lock that a write needs.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        prefix: str = "/registry/",
        timeout: float = DEFAULT_TIMEOUT,
        limits_of: Callable[[str], HistoryLimits] | None = None,
        report_damaged: Callable[[str, StorageReadError], None] | None = None,
        state: CacheState | None = None,
        rest: Callable[[], None] = _at_once,
    ) -> None:
        self.store = store
        self.newest = store.revision if isinstance(store, Subscribable) else _unknown
        self.report_damaged = report_damaged or _log_damaged
        self._clock = clock
        self._prefix = prefix
        self._limits_of, self._rest = limits_of, rest
        self._resources = CachesByPrefix({})
        self._uncached: tuple[UncachedResource, ...] = ()
        self._state = state
        self._inherited: dict[str, Inherited] = {}
        self._inherited_lock = threading.Lock()
        self._applied = 0
        self._readers = WaitingReaders(clock, lambda: self._applied, timeout)
        self._remote: RemoteReaders | None = None
        self._closed = threading.Event()
        self._cold = ColdObjects(clock, lambda: self._applied, self._pack_cold)
        self._subscription: Subscription | None = None
        self._watch: StoreWatch | None = None
        self._thread: threading.Thread | None = None

    @property
    def applied(self) -> int:
        """The revision up to which every loaded resource has all changes."""
        return self._applied

    def start(self) -> None:
        """Begin to follow the store; returns when the position is known.

        Raises:
            StoreUnavailable: the store does not answer.
        """
        end = prefix_end(self._prefix)
        if isinstance(self.store, Subscribable):
            self._subscription = self.store.subscribe(self._prefix, end, self._deliver, previous=self._wants_previous)
            self._advance(self._subscription.revision)
            self._inherit(self._subscription.revision)
        else:
            # The watch begins after this revision, so that no change is missed between the two calls.
            self._applied = self.store.revision()
            self._watch = self.store.watch(self._prefix, end, revision=self._applied)
            self._remote = RemoteReaders(
                self._readers, self._clock, self.store.revision, lambda: self._applied, self._request_progress
            )
            self._thread = threading.Thread(target=self._follow, name="watch-cache", daemon=True)
            self._thread.start()
        self._cold.start()

    def resource(
        self,
        prefix: str,
        transform: Transform,
        *,
        indexes: Mapping[str, IndexFunction] | None = None,
        limits: HistoryLimits | None = None,
        expires: bool = False,
    ) -> ResourceCache:
        """Return a new cache for a resource; nothing is read before its first use; see `ResourceCache` and `caches`.

        Raises:
            ValueError: the prefix is outside the cache's own, or has a cache already.
        """
        if not prefix.startswith(self._prefix) or not prefix.endswith("/"):
            raise ValueError(f"prefix {prefix!r} is not a folder of {self._prefix!r}")
        if prefix in self._resources:
            raise ValueError(f"prefix {prefix!r} has a cache already")
        limits = limits or (self._limits_of(prefix) if self._limits_of is not None else None)
        made = ResourceCache if self.caches(prefix, limits, expires=expires) else UncachedResource
        cache = made(self, prefix, transform, clock=self._clock, indexes=indexes, limits=limits)
        # The lock closes the race with a change that is delivered now: it is either kept with what is inherited, and
        # applied here, or it finds the cache. It cannot come between the two.
        with self._inherited_lock:
            inherited = self._inherited.pop(prefix, None)
            if inherited is not None:
                cache.begin_loading()
                cache.apply(inherited.changes)
            self._resources = CachesByPrefix({**self._resources, prefix: cache})
            self._uncached = tuple(each for each in self._resources.values() if isinstance(each, UncachedResource))
        if inherited is not None and self._state is not None:
            cache.take_over(inherited.objects.copy(), self._state.revision)
        return cache

    def caches(self, prefix: str, limits: HistoryLimits | None = None, *, expires: bool = False) -> bool:
        """Tell whether the objects of a resource are cached.

        Those that expire by themselves are many, and few are read again: as in Kubernetes they stay in the store,
        unless `limits` is all the history that is wanted, as do those of which none is.
        """
        limits = limits or (self._limits_of(prefix) if self._limits_of is not None else None)
        return limits.events > 0 if limits is not None and limits.is_all else not expires

    def state(self) -> CacheState:
        """Return what is cached, for the cache of a fork.

        A fork that is made afterwards and has the state's revision has exactly these objects.
        """
        # Read first: the tables may be newer than the revision, and a fork takes them over only if its store is still
        # at the revision, in which case nothing was written in between.
        revision = self._applied
        copies = {prefix: cache.copy_objects() for prefix, cache in self._resources.items()}
        return CacheState(revision, {prefix: table for prefix, table in copies.items() if table is not None})

    def forget(self, cache: ResourceCache, error: ApiError | None = None) -> None:
        """Drop a resource that is not served any more and end its watches."""
        others = {prefix: other for prefix, other in self._resources.items() if other is not cache}
        self._resources = CachesByPrefix(others)
        self._uncached = tuple(other for other in self._uncached if other is not cache)
        cache.close(error)

    def wait_for(self, cache: ResourceCache, revision: int | None) -> None:
        """Block until `cache` is loaded and has reached `revision`; None for the store's current one.

        Raises:
            Timeout: not in time.
            StoreUnavailable: the store's revision is needed and it does not answer.
        """
        if not cache.loaded:
            self._load(cache)
        if self._remote is not None and (revision is None or cache.revision < revision):
            self._remote.wait(revision)
            return
        wanted = self.newest() if revision is None else revision  # that of a store in this process
        if wanted and cache.revision < wanted:
            self._readers.wait(wanted)

    def when_current(self, reader: Reached) -> None:
        """Tell a reader when the caches have all that the store had when this was called; from any thread, soon.

        It is told at once where the store calls the cache before it answers a write.
        """
        if self._remote is not None:
            self._remote.when_current(reader)
        else:
            reader(None)

    def read_range(self, start: str, end: str, revision: int, most: int = 0) -> Iterator[RangeResult]:
        """Read a whole range from the store in pages of one revision (0: the current one).

        `most` is how many will do (0: all), and a page's size unless that is large.

        Raises:
            Compacted: the revision is compacted.
        """
        while True:
            page = self.store.range(start, end, limit=min(most or PAGE, PAGE), revision=revision)
            yield page
            if not page.more:
                return
            revision = revision or page.revision
            start = page.items[-1].key + "\x00"

    def require_retained(self, prefix: str, revision: int) -> None:
        """Ask the store, by the smallest read that there is, whether its history reaches back to a revision.

        Raises:
            Compacted: it does not.
        """
        self.store.range(prefix, prefix + "\x00", limit=1, revision=revision, keys_only=True)

    def read_changes(self, start: str, end: str, after: int, until: int) -> Sequence[StoreEvent]:
        """Read a range's changes after one revision up to another, both in the past, from the store's own history.

        Raises:
            Expired: that history is compacted.
        """
        events: list[StoreEvent] = []
        watch = self.store.watch(start, end, revision=after)
        try:
            watch.request_progress()
            for batch in watch:
                events += (event for event in batch.events if event.revision <= until)
                if batch.revision >= until:
                    break
        except Compacted as error:
            raise Expired(f"too old resource version: {after} ({error.compact_revision})") from error
        finally:
            watch.close()
        return events

    def close(self) -> None:
        """End all watches and stop to follow the store; idempotent."""
        self._closed.set()
        self._cold.close()
        if self._subscription is not None:
            self._subscription.close()
        if self._watch is not None:
            self._watch.close()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        for cache in self._resources.values():
            cache.close()
        self._readers.close()
        if self._remote is not None:
            self._remote.close()

    def _inherit(self, revision: int) -> None:
        """Give the resources that were made before the start what is known of them; keep the rest for the others."""
        if self._state is None or self._state.revision != revision:
            self._state = None
            return
        for prefix, objects in self._state.tables.items():
            cache = self._resources.get(prefix)
            if cache is None:
                self._inherited[prefix] = Inherited(objects)
            else:
                cache.begin_loading()
                cache.take_over(objects.copy(), revision)

    def _load(self, cache: ResourceCache) -> None:
        with cache.load_lock:
            if cache.loaded:
                return
            # Before the first page is read: what is delivered while pages are read is kept, and applied on top.
            cache.begin_loading()
            while True:
                try:
                    pages = self.read_range(cache.prefix, prefix_end(cache.prefix), 0)
                    cache.load(a_few_at_a_time(pages, self._rest))
                except Compacted:
                    continue  # compacted between two pages: read again from the start
                return

    def _deliver(self, batch: EventBatch) -> None:
        """Apply a batch to the resources it concerns, then let the readers that wait for it go on."""
        if batch.events:  # applied to all resources before `applied` moves: see the invariant
            for cache, events in self._by_resource(batch).items():
                cache.apply(events)
        self._advance(batch.revision)

    def _pack_cold(self, revision: int) -> Iterator[None]:
        for cache in self._resources.values():
            yield from cache.pack_cold(revision)

    def _wants_previous(self, key: str) -> bool:
        """Tell whether what a key was before is neither cached here nor of no interest."""
        return any(resource.watchers and key.startswith(resource.prefix) for resource in self._uncached)

    def _by_resource(self, batch: EventBatch) -> dict[ResourceCache, list[StoreEvent]]:
        events: dict[ResourceCache, list[StoreEvent]] = {}
        for event in batch.events:
            cache = self._resources.of(event.key)
            if cache is None and self._inherited:
                cache = self._keep_inherited(event)
            if cache is not None:
                events.setdefault(cache, []).append(event)
        return events

    def _keep_inherited(self, event: StoreEvent) -> ResourceCache | None:
        """Keep a change of an inherited resource that has no cache yet; return the cache if it has one by now."""
        with self._inherited_lock:
            # Looked up again under the lock: `resource` may have made the cache since.
            cache = self._resources.of(event.key)
            for prefix, inherited in [] if cache is not None else list(self._inherited.items()):
                if event.key.startswith(prefix):
                    inherited.changes.append(event)
                    # Given up: the resource is read from the store when it is first needed.
                    if len(inherited.changes) > MOST_INHERITED_CHANGES:
                        del self._inherited[prefix]
            return cache

    def _advance(self, revision: int) -> None:
        if revision > self._applied:
            self._applied = revision
            if self._readers.waiting:
                self._readers.reach()

    def _request_progress(self) -> None:
        watch = self._watch
        if watch is not None:  # else it is being opened again
            watch.request_progress()

    def _follow(self) -> None:
        """Feed the caches from a remote store's watch until closed; a watch that breaks is made again."""
        relist = False
        while not self._closed.is_set():
            try:
                watch = self._watch or self._watch_again(relist=relist)
                for batch in watch:
                    self._deliver(batch)
            except Compacted:
                logger.warning("the watch of the store fell behind its history: all caches are loaded again")
                self._watch, relist = None, True
            except StoreUnavailable as error:
                logger.warning("the watch of the store broke off: %s", error)
                self._watch = None
                self._clock.wait(self._closed, RETRY_SECONDS)
            else:
                return

    def _watch_again(self, *, relist: bool) -> StoreWatch:
        """Open another watch from where the last one was, or with `relist` from now, dropping what is cached."""
        revision = self.store.revision() if relist else self._applied
        watch = self.store.watch(self._prefix, prefix_end(self._prefix), revision=revision)
        if relist:
            # Changes between the last delivery and this revision are lost: what is cached may be out of date. It is
            # dropped once the new watch is open, so that a load from now on misses nothing, and before `applied` moves.
            for cache in self._resources.values():
                cache.close()
            self._advance(revision)
        self._watch = watch
        if self._closed.is_set():  # `close` may have looked for a watch just before there was this one
            watch.close()
        return watch
