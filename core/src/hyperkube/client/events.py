"""Events: what a component did, for the people who run ``kubectl describe``.

An `EventRecorder` never blocks its caller and never fails: events wait in a bounded queue and are written by a thread
that ends when none has come for a while, or by several where they come to wait, those of one object in their order. The
same event again counts up the one that is there; many similar ones are combined; a source that talks too much about one
object is cut short. An event is tried again while the server is away or has no time. Source of the numbers: client-go
``tools/record/events_cache.go``, ``tools/record/event.go``.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from itertools import count
from random import random
from struct import Struct, pack

from hyperkube.client.client import Client
from hyperkube.kinds.resources import EVENTS
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.condition import Condition
from hyperkube.machinery.errors import ApiError, NotFound
from hyperkube.machinery.objects import Object, metadata, name_of, namespace_of
from hyperkube.machinery.recent import forgets
from hyperkube.machinery.times import format_time

QUEUE_LENGTH = 1000
CACHE_LENGTH, FEW, MOST_EVENTS = 4096, 256, 64
"""Objects, and events of each, that are remembered at the most; of more than a few objects nothing that is old."""
SIMILAR_LIMIT = 10
SIMILAR_SECONDS = 600.0
BURST = 25
REFILL_SECONDS = 300.0
MESSAGE_LIMIT = 1024
KEPT_SECONDS = 300.0
"""How long it is known what was written, when all rests: who tries again waits five minutes at most."""
_HEAD, _ROW, _TIME, _WRITTEN = Struct("<dI"), Struct("<8s8sIQi"), Struct("<I"), Struct("<Qi")
_NEW, _NONE = bytes(_HEAD.size), bytes(8)
_OBJECT = ("kind", "namespace", "name", "uid")
_ALIKE, _REFERENCE = (*_OBJECT, "apiVersion", "fieldPath"), (*_OBJECT, "apiVersion", "resourceVersion")
MAX_ATTEMPTS, RETRY_SECONDS = 12, 10.0
IDLE_SECONDS = 0.25
"""How long a writing thread waits for the next event: a burst would start one for each of them."""
WRITERS, LATE_SECONDS = 4, 0.05
"""Threads that write at once at the most, and how long an event waits before another one starts."""


def reference(obj: Object) -> Object:
    """Return the ``involvedObject`` of events about `obj`; objects without kind must be given one first."""
    about = {**metadata(obj), "kind": obj.get("kind"), "apiVersion": obj.get("apiVersion")}
    return {part: about[part] for part in _REFERENCE if about.get(part)}


class EventRecorder:
    """Writes core/v1 Events in the name of one component; safe to use from many threads."""

    def __init__(self, client: Client, clock: Clock, component: str, host: str = "", writers: int = WRITERS) -> None:
        self._client = client
        self._clock = clock
        self._component = component
        self._host = host
        self._logger = logging.getLogger("hyperkube.events")
        self._writers = writers
        self._lock = threading.RLock()
        self._condition, self._flushed = Condition(self._lock), Condition(self._lock)
        self._queue: deque[tuple[float, str, Object]] | tuple[()] = ()  # an empty deque is 650 bytes
        self._busy: set[str] = set()  # objects of which an event is being written: each one's are written in order
        self._threads = self._idle = 0
        self._told = count()  # two events of one microsecond have two names
        # By hashes of objects, the latest last: when its bucket is full and it had an event; then rows of its events'
        # digest, that without message, when, number and count as written. A dict of events would be megabytes.
        self._known: dict[int, bytes] = {}
        forgets(self)

    def event(
        self,
        obj: Object,
        event_type: str,
        reason: str,
        message: str,
        *,
        field_path: str = "",
        annotations: Mapping[str, str] | None = None,
        at: datetime | None = None,
    ) -> None:
        """Note that something happened to `obj`.

        Args:
            obj: the object, with kind and apiVersion, or a reference as `reference` makes it (with ``uid``).
            event_type: ``Normal`` or ``Warning``.
            reason: one CamelCase word.
            message: a sentence for people; cut at 1024 bytes.
            field_path: the part of the object, e.g. ``spec.containers{web}``.
            annotations: put on the event.
            at: when it happened, if not now.
        """
        about = reference(obj) if "metadata" in obj else dict(obj)
        if field_path:
            about["fieldPath"] = field_path
        event = self._event(about, event_type, reason, message[:MESSAGE_LIMIT], annotations, at or self._clock.now())
        now = self._clock.monotonic()
        with self._lock:
            if len(self._queue) >= QUEUE_LENGTH:
                self._logger.debug("dropped event %r of %s", reason, about.get("name"))
                return
            if self._takes_token(event, now):
                self._queue = self._queue or deque()
                self._queue.append((now, str(about.get("uid") or about.get("name")), event))
                self._summon(now)

    def flush(self, timeout: float = 5.0) -> bool:
        """Wait, in real time, until everything noted so far was written; tell whether it was."""
        with self._lock:
            return self._flushed.wait_for(lambda: not (self._queue or self._busy), timeout)

    def forget(self) -> None:
        """Forget what was written minutes ago, and the buckets that are half full again."""
        with self._lock:
            _trim(self._known, self._clock.monotonic(), KEPT_SECONDS, 0)
            self._known = {**self._known}

    def _event(
        self, about: Object, kind: str, reason: str, message: str, annotations: Mapping[str, str] | None, now: datetime
    ) -> Object:
        meta: Object = {
            "name": f"{about.get('name', '')}.{int(now.timestamp() * 1_000_000) * 1000 + next(self._told) % 1000:x}",
            "namespace": about.get("namespace") or "default",
            **({"annotations": dict(annotations)} if annotations else {}),
        }
        source = {"component": self._component} | ({"host": self._host} if self._host else {})
        return {
            "kind": "Event",
            "apiVersion": "v1",
            "metadata": meta,
            "involvedObject": about,
            "reason": reason,
            "message": message,
            "source": source,
            "firstTimestamp": format_time(now),
            "lastTimestamp": format_time(now),
            "count": 1,
            "type": kind,
            "reportingComponent": self._component,
            "reportingInstance": self._host,
        }

    def _summon(self, now: float) -> None:
        """Have a thread come for the first event, a further one only if that is late already; the lock is held."""
        if self._idle:
            self._condition.notify()
        elif self._queue and self._threads < (self._writers if now - self._queue[0][0] > LATE_SECONDS else 1):
            self._threads += 1
            threading.Thread(target=self._write_all, name=f"events-{self._component}", daemon=True).start()

    def _write_all(self) -> None:
        written = ""
        while (taken := self._next(written)) is not None:
            written, event = taken
            self._deliver(event)

    def _deliver(self, event: Object) -> None:
        """Write an event; where that fails, again at once, within ten seconds, and then every ten, as upstream does."""
        with self._lock:
            place = self._combine(event, self._clock.monotonic())
        for attempt in range(MAX_ATTEMPTS):
            if attempt > 1:
                self._clock.sleep(RETRY_SECONDS * (random() if attempt == 2 else 1))  # noqa: S311
            try:
                self._write(event, *place)
            except (ApiError, OSError) as error:
                # Events are for people and may get lost; what they tell of has happened all the same.
                self._logger.debug("could not write event %r: %s", event["reason"], error)
                if isinstance(error, OSError) or error.retry_after_seconds:
                    continue
            except Exception:  # it costs one event, not those that come after it
                self._logger.exception("event %r of %s", event["reason"], event["involvedObject"].get("name"))
            break

    def _next(self, written: str) -> tuple[str, Object] | None:
        """Return the next event and its object after one of another object, or None when the thread shall end."""
        with self._lock:
            self._busy.discard(written)
            if not self._queue and not self._busy:
                self._flushed.notify_all()
            if not (place := self._place()):
                self._idle += 1
                place = self._condition.wait_for(self._place, IDLE_SECONDS)
                self._idle -= 1
            if not place:
                self._threads -= 1
                return None
            assert self._queue  # noqa: S101  it has a place
            _, about, event = self._queue[place - 1]
            del self._queue[place - 1]
            self._queue = self._queue or ()
            self._busy.add(about)
            if self._queue:
                self._summon(self._clock.monotonic())
            return about, event

    def _place(self) -> int:
        """Return the place, from 1, of the first event of an object that is not busy, or 0; the lock is held."""
        return next((place for place, each in enumerate(self._queue, 1) if each[1] not in self._busy), 0)

    def _write(self, event: Object, key: int, digests: tuple[bytes, bytes], number: int, times: int) -> None:
        if times:
            change = {"count": times + 1, "lastTimestamp": event["lastTimestamp"], "message": event["message"]}
            name = f"{event['involvedObject'].get('name', '')}.{number:x}"
            with suppress(NotFound):  # expired meanwhile: tell it anew
                return self._remember(key, digests, self._client.patch(EVENTS, name, change, namespace_of(event)))
        return self._remember(key, digests, self._client.create(EVENTS, event, namespace_of(event)))

    def _takes_token(self, event: Object, now: float) -> bool:
        key = hash(tuple(map(event["involvedObject"].get, _OBJECT))) >> 4
        told = self._known.pop(key, _NEW)
        before: float = max(_HEAD.unpack_from(told)[0], now)
        is_taken = before - now <= (BURST - 1) * REFILL_SECONDS
        rows = told[max(_HEAD.size, len(told) - MOST_EVENTS * _ROW.size) :]
        self._known[key] = _HEAD.pack(before + REFILL_SECONDS * is_taken, int(now)) + rows
        _trim(self._known, now, SIMILAR_SECONDS)
        return is_taken

    def _combine(self, event: Object, now: float) -> tuple[int, tuple[bytes, bytes], int, int]:
        """Return where the same event is remembered, and as what; change its message when there are too many alike."""
        about = event["involvedObject"]
        key = hash(tuple(map(about.get, _OBJECT))) >> 4
        alike = pack("<q", hash((*map(about.get, _ALIKE), event["type"], event["reason"])))
        message, combined = pack("<q", hash((alike, event["message"]))), alike[::-1]
        told = self._known.get(key, _NEW)
        if (last := _row(told, alike, 8)) and now - _TIME.unpack_from(told, last + 16)[0] > SIMILAR_SECONDS:
            told = told.replace(alike, _NONE)
        messages = told.count(alike) - told.count(combined + alike) + (message + alike not in told)
        if messages <= SIMILAR_LIMIT:
            told = _with(told, message, alike, now)
        if messages >= SIMILAR_LIMIT:
            event["message"] = f"(combined from similar events): {event['message']}"
            told, message = _with(told, combined, alike, now), combined
        self._known[key] = told
        number, times = _WRITTEN.unpack_from(told, len(told) - _WRITTEN.size)
        return key, (message, alike), number, times

    def _remember(self, key: int, digests: tuple[bytes, bytes], written: Object) -> None:
        number = int(name_of(written).rpartition(".")[2], 16)
        with self._lock:
            told, now = self._known.get(key, _NEW), self._clock.monotonic()
            self._known[key] = _with(told, *digests, now, number, written.get("count", 1))


def _row(told: bytes, digest: bytes, offset: int = 0) -> int:
    """Return where the last row begins that has a digest at an offset; 0 where there is none."""
    start = told.rfind(digest, _HEAD.size) - offset
    return start if start > 0 and (start - _HEAD.size) % _ROW.size == 0 else 0


def _with(told: bytes, digest: bytes, alike: bytes, now: float, *written: int) -> bytes:
    """Return what was told with a row of now at its end, in place of that with its digest."""
    if start := _row(told, digest):
        written = written or _WRITTEN.unpack_from(told, start + 20)
        told = told[:start] + told[start + _ROW.size :]
    return told + _ROW.pack(digest, alike, int(now), *(written or (0, 0)))


def _trim(told: dict[int, bytes], now: float, seconds: float, few: int = FEW) -> None:
    """Forget objects without an event for so many seconds, but for buckets that are less than half full."""
    while (length := len(told)) > few:
        key, text = next(iter(told.items()))
        full, last = _HEAD.unpack_from(text)
        if length <= CACHE_LENGTH and last > now - seconds:
            return
        del told[key]
        if length <= CACHE_LENGTH and full > now + BURST / 2 * REFILL_SECONDS:
            told[key] = _HEAD.pack(full, int(now))
