"""One informer: a list and a watch that keep a cache of one view of one resource.

Source of the protocol (list, watch from there, bookmarks, relist on 410): client-go ``tools/cache/reflector.go``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from random import Random
from typing import cast

from hyperkube.client.client import Client, QuietWatch, Taken, Watch, WatchEvent
from hyperkube.client.handlers import Handler, Handlers, UpdateHandler, no_update, nothing
from hyperkube.client.object_cache import CachedObjects, ObjectCache
from hyperkube.client.projected_list import ListOptions, projected_pages
from hyperkube.client.shared_threads import SharedTask, SharedThreads
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.clock import Clock, Timer
from hyperkube.machinery.condition import Event
from hyperkube.machinery.errors import ApiError, Expired, Gone, from_status
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, metadata, name_of, namespace_of, resource_version_of, uid_of

Projection = Callable[[Object], Object]

WATCH_SECONDS = (600, 1200)
"""A watch is renewed after a random time in this range, so that a dead peer is noticed."""
RETRY = Backoff(initial=0.2, cap=30.0, jitter=1.0)
_SHORT_WATCH = 1.0


def without_managed_fields(obj: Object) -> Object:
    """Drop ``metadata.managedFields``, which no controller reads; the projection used by default."""
    metadata(obj).pop("managedFields", None)
    return obj


class Informer(CachedObjects):
    """The cache of one view of one resource; get it from an `InformerFactory`.

    It is fed by a thread of its own or, where the client never waits for a network, on threads that it shares.
    """

    def __init__(
        self,
        client: Client,
        clock: Clock,
        resource: GroupVersionResource,
        *,
        namespace: str = "",
        field_selector: str = "",
        label_selector: str = "",
        project: Projection = without_managed_fields,
        random: Random | None = None,
        cache: ObjectCache | None = None,
        pause: float = 0.0,
    ) -> None:
        super().__init__(ObjectCache() if cache is None else cache)
        self.resource = resource
        self.namespace = namespace
        self.field_selector = field_selector
        self.label_selector = label_selector
        self._client = client
        self._clock = clock
        self._project, self._pause = project, pause
        self._random = random
        self._logger = logging.getLogger("hyperkube.informer")
        self._delivery = threading.RLock()
        self._handlers: list[Handlers] = []
        self._synced = False
        self._when_synced: list[Callable[[], None]] = []
        self._synced_or_stopped = Event()
        self._is_stopping = False
        # A thread's rest, which `stop` ends; on shared threads nothing rests, and a kilobyte counts.
        self._stopping: threading.Event | None = None
        self._version = ""
        self._watch: Watch | None = None
        self._watch_began = 0.0
        self._heard = False
        self._failures = 0
        self._told = ""
        self._thread: threading.Thread | None = None
        self._task: SharedTask | None = None
        self._taken = Taken([])
        self._timer: Timer | None = None
        self._timer_due = 0.0

    def add_handler(
        self, on_add: Handler = nothing, on_update: UpdateHandler = no_update, on_delete: Handler = nothing
    ) -> None:
        """Subscribe; what the cache holds already is delivered by `on_add` before this returns.

        Handlers run one event at a time in order, on a thread that may be shared with other informers; they must be
        short (enqueue a key) and must not change the object.
        """
        with self._delivery:
            handlers = Handlers(on_add, on_update, on_delete)
            self._handlers.append(handlers)
            for obj in self._cache.each():
                self._call(handlers.on_add, obj)

    def has_synced(self) -> bool:
        """Tell whether the first list is in the cache and was delivered."""
        return self._synced

    def when_synced(self, call: Callable[[], None]) -> None:
        """Make `call` once `has_synced` holds: now, or later on the informer's thread; it must be short."""
        with self._delivery:
            if not self._synced:
                self._when_synced.append(call)
                return
        call()

    def wait_synced(self, timeout: float | None = None) -> bool:
        """Wait for `has_synced`: at most `timeout` seconds of the clock, and until `stop`; tell whether it holds."""
        self._clock.wait(self._synced_or_stopped, timeout)
        return self._synced

    @property
    def resource_version(self) -> str:
        """The version up to which the cache has seen the resource; empty before the first list."""
        return self._version

    def start(self) -> None:
        """Begin to list and watch, on the client's shared threads if it has some, else on a thread; idempotent."""
        if self._thread is not None or self._task is not None:
            return
        threads: SharedThreads | None = getattr(self._client, "shared_threads", None)
        if threads is not None:
            self._task = threads.task(self._step)
            self._task.wake()
            return
        stopping = self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(stopping,), name=f"informer-{self.resource.resource}", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """End the watch and the thread; the cache stays readable; idempotent, from any thread."""
        # First the flag, then the watch: a thread that opens a watch meanwhile looks at the flag once more before it
        # waits for events, so that a watch is either closed here or never waited for.
        self._is_stopping = True
        if self._stopping is not None:
            self._stopping.set()
        self._synced_or_stopped.set()
        if self._task is not None:
            self._task.stop()
        watch = self._watch
        if watch is not None:
            watch.close()
        if self._timer is not None:
            self._timer.cancel()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(5)

    def refresh(self) -> None:
        """List now, on this thread, and deliver the differences: what the informer's thread does first.

        Raises:
            ApiError: the server refuses the list.
            ConnectionError: there is no server.
        """
        options = ListOptions(self.resource, self.namespace, self.label_selector, self.field_selector)
        listed: set[str] = set()
        version = ""
        for page in projected_pages(self._client, options, lambda obj: self._cache.keep(self._project(obj))):
            version = page.resource_version
            self._take_in(page.items, listed)
        with self._delivery:
            for key in [key for key in self._cache.held if key not in listed]:
                self._remove(cast("Object", self._cache.at(key)))
            # The version is taken once the cache has the list: should a handler or projection fail before, the next
            # attempt lists again instead of watching from a state that the cache does not have.
            self._version = version
            self._synced = True
            waiting, self._when_synced = self._when_synced, []
        self._synced_or_stopped.set()
        for call in waiting:
            self._call(call)

    def _take_in(self, items: list[Object], listed: set[str]) -> None:
        """Deliver the differences of a page, and put its keys into `listed`: those that are in no page are gone."""
        with self._delivery:
            for new in items:
                key = f"{namespace_of(new)}/{name_of(new)}"
                held, version = self._cache.at(key), resource_version_of(new)
                listed.add(key)
                if held is not None and version and resource_version_of(held) == version:
                    continue
                # Deleted and made again between two lists: handlers hear of both, as a watch would have told them.
                if held is not None and uid_of(new) != uid_of(held):
                    self._remove(held)
                self._put(new, rests=True)

    def _run(self, stopping: threading.Event) -> None:
        while not self._is_stopping:
            pause = self._attempt(self._list_and_follow)
            if pause:
                self._clock.wait(stopping, pause)

    def _step(self) -> float | None:
        """Do what there is to do without waiting, and see to it that there is a next step when there is more."""
        if self._is_stopping:
            return None
        pause = self._attempt(self._list_and_look)
        if self._watch is not None:
            if self._taken.events:
                return max(self._taken.seconds, self._pause)
            self._wake_after(self._taken.seconds)
        elif pause:
            self._wake_after(pause)
        else:
            return 0.0
        return None

    def _attempt(self, step: Callable[[], None]) -> float:
        """Make a step; return for how many of the cluster's seconds to pause before the next."""
        try:
            step()
        except (Expired, Gone):
            # The history from that version on is compacted: only a new list can tell what was missed.
            self._version = ""
        except (ApiError, OSError) as error:
            self._failures += 1
            # Of failures alike the second, fourth, eighth … is a warning: told at once, then ever more seldom.
            told, self._told = self._told, str(error)
            is_news = self._failures > 1 and (told != self._told or self._failures & (self._failures - 1) == 0)
            level = logging.WARNING if is_news else logging.DEBUG
            self._logger.log(level, "informer of %s: %s", self.resource.group_resource, error)
        except Exception:  # a bug in a projection or index must not end the cache for all others
            self._failures += 1
            self._version = ""
            self._logger.exception("informer of %s failed", self.resource.group_resource)
        return RETRY.delay(self._failures, self._chance()) if self._failures else 0.0

    def _chance(self) -> Random:
        """Return what spreads load; not kept where none was given: its 2.5 KB times thousands of informers."""
        return self._random or Random()  # noqa: S311  guards nothing

    def _list_and_follow(self) -> None:
        """List if need be, then watch until the server ends it."""
        if not self._version:
            self.refresh()
        watch = self._open()
        try:
            for event in () if self._is_stopping else watch:
                self._apply(event)
                if self._is_stopping:
                    break
        finally:
            self._end_watch()
        self._judge_watch()

    def _list_and_look(self) -> None:
        """List if need be, watch if nothing does, and take what there is."""
        if not self._version:
            self.refresh()
        watch = cast("QuietWatch | None", self._watch)
        try:
            if watch is None:
                watch = cast("QuietWatch", self._open())
                watch.connect(self._wake)
            self._taken = watch.take()
            for event in self._taken.events:
                if self._is_stopping:
                    break
                self._apply(event)
        except BaseException:
            self._end_watch()
            raise
        if self._taken.ended or self._is_stopping:  # `stop` may have come while the server was waited for
            self._end_watch()
            self._judge_watch()

    def _open(self) -> Watch:
        self._watch_began = self._clock.monotonic()
        self._heard = False
        self._watch = self._client.watch(
            self.resource,
            self.namespace,
            label_selector=self.label_selector,
            field_selector=self.field_selector,
            resource_version=self._version,
            timeout_seconds=self._chance().randint(*WATCH_SECONDS),
        )
        return self._watch

    def _end_watch(self) -> None:
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.close()
            if self._heard:  # what breaks a watch that worked is the first failure of a new row
                self._failures = 0

    def _judge_watch(self) -> None:
        """Count a watch that ended at once, having brought nothing, as a failure: the next one has to wait."""
        short = self._clock.monotonic() - self._watch_began < _SHORT_WATCH
        self._failures = self._failures + 1 if short and not self._heard and not self._is_stopping else 0

    def _wake(self) -> None:
        if self._task is not None:
            self._task.wake()

    def _wake_after(self, seconds: float) -> None:
        """Ask for the next step after so many of the cluster's seconds, if nothing asks before."""
        now = self._clock.monotonic()
        if now < self._timer_due <= now + seconds:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_due = now + seconds
        self._timer = self._clock.call_later(seconds, self._wake)

    def _apply(self, event: WatchEvent) -> None:
        if event.type == "ERROR":
            raise from_status(event.object)
        version = resource_version_of(event.object)
        if event.type != "BOOKMARK":
            obj = self._project(event.object)
            with self._delivery:
                if event.type == "DELETED":
                    self._remove(obj)
                else:
                    self._put(self._cache.keep(obj))
        # After the cache and the handlers: a watch that begins here again repeats an event rather than skip one.
        self._version = version or self._version
        self._heard = True

    def _put(self, new: Object, *, rests: bool = False) -> None:
        old = self._cache.put(new, rests=rests)
        for handlers in self._handlers:
            if old is None:
                self._call(handlers.on_add, new)
            else:
                self._call(handlers.on_update, old, new)

    def _remove(self, obj: Object) -> None:
        held = self._cache.remove(namespace_of(obj), name_of(obj))
        if held is not None:
            for handlers in self._handlers:
                self._call(handlers.on_delete, obj)

    def _call(self, handler: Callable[..., None], *objects: Object) -> None:
        try:
            handler(*objects)
        except Exception:  # one subscriber's bug must not keep the event from the others
            self._logger.exception("handler %r of %s failed", handler, self.resource.group_resource)
