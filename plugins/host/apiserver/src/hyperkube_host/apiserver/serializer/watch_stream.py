"""A watch as a growing body: frames of events for the edge's loop to send, at no thread's cost.

Source: kubernetes apiserver ``pkg/endpoints/handlers/watch.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import orjson
from hyperkube_host.apiserver.request.results import OpenedWatch
from hyperkube_host.apiserver.resources.meta_types import meta_schema
from hyperkube_host.apiserver.resources.served import ServedResource
from hyperkube_host.apiserver.serializer.coarse_timers import CoarseTimers
from hyperkube_host.apiserver.serializer.encodings import ObjectEncoder
from hyperkube_host.apiserver.serializer.negotiation import JSON, PROTOBUF, YAML, Format
from hyperkube_host.apiserver.serializer.tables import (
    META_VERSION,
    ColumnDefinitions,
    check_include,
    partial,
    partial_schema,
    row,
    table_bytes,
)
from hyperkube_lib.protobuf import Protobuf, enveloped, watch_frame
from hyperkube_lib.serving.exchange import AllChunks
from hyperkube_lib.watch_cache.cached_object import CachedObject
from hyperkube_lib.watch_cache.watchers import ADDED, DELETED, MODIFIED, CacheEvent

from hyperkube.machinery.clock import Clock, Timer
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object
from hyperkube.machinery.schema import CompiledSchema

BOOKMARK_SECONDS = 60.0
LAST_BOOKMARK_SECONDS = 2.0
"""How long before its end a watch gets its last bookmark, so that the next one has hardly anything to catch up with.

Source: ``apiserver/pkg/storage/cacher/cache_watcher.go`` (``nextBookmarkTime``).
"""
_INITIAL_END = {"k8s.io/initial-events-end": "true"}


class FrameWriter(Protocol):
    """Writes events in one format."""

    def event(self, event: CacheEvent) -> bytes:
        """Return the frame of an event."""

    def error(self, status: Object) -> bytes:
        """Return the frame of an ERROR event."""


def bookmark_object(served: ServedResource, revision: int, *, initial_end: bool, zero_values: bool = True) -> Object:
    """Return the object of a bookmark: empty but for its version.

    Args:
        served: the resource.
        revision: what has been told so far.
        initial_end: whether it ends the list that a watch began with.
        zero_values: whether to have the empty members that Go writes, for which the schema is loaded.
    """
    meta: Object = {"resourceVersion": str(revision)}
    if initial_end:
        meta["annotations"] = _INITIAL_END
    return {
        "kind": served.kind.kind,
        "apiVersion": served.kind.api_version,
        **(served.empty if zero_values else {}),
        "metadata": meta,
    }


class JsonFrames:
    """Frames of JSON, one line each; the object's bytes are the cache's own."""

    def __init__(self, served: ServedResource) -> None:
        self._served = served

    def event(self, event: CacheEvent) -> bytes:
        """Return the line of an event."""
        if event.object is None:
            body = orjson.dumps(bookmark_object(self._served, event.revision, initial_end=event.initial_end))
        else:
            body = self._served.body(event.object)
        return b'{"type":"%s","object":%s}\n' % (event.kind.encode(), body)

    def error(self, status: Object) -> bytes:
        """Return the line of an ERROR event."""
        return orjson.dumps({"type": "ERROR", "object": status}) + b"\n"


class ShapedFrames:
    """Frames whose objects are shown as tables or partial objects, or in YAML."""

    def __init__(
        self,
        served: ServedResource,
        wanted: Format,
        include: str,
        clock: Clock,
        columns: ColumnDefinitions,
        objects: ObjectEncoder,
    ) -> None:
        self._served = served
        self._wanted = wanted
        self._include = include
        self._clock = clock
        self._columns: ColumnDefinitions | None = columns
        self._objects = objects

    def event(self, event: CacheEvent) -> bytes:
        """Return the frame of an event."""
        return self._frame(event.kind, self._shaped(event))

    def error(self, status: Object) -> bytes:
        """Return the frame of an ERROR event."""
        return self._frame("ERROR", orjson.dumps(status))

    def _shaped(self, event: CacheEvent) -> bytes:
        served, wanted, cached = self._served, self._wanted, event.object
        if wanted.kind == "Table":
            return self._table(event)
        if cached is None:
            obj = bookmark_object(served, event.revision, initial_end=event.initial_end)
            return orjson.dumps(partial(served, obj, wanted.version) if wanted.kind else obj)
        if not wanted.kind:
            return served.body(cached)
        if served.waits:
            return orjson.dumps(partial(served, served.parsed(cached), wanted.version))
        return self._objects.partial(served, cached, wanted.version)

    def _table(self, event: CacheEvent) -> bytes:
        """Return an event's table: one row, or none for a bookmark; the first of a watch describes the columns."""
        served, now, version, cached = self._served, self._clock.now(), self._wanted.version, event.object
        check_include(self._include)
        if cached is None:
            rows = []
        elif served.waits:
            rows = [orjson.dumps(row(served, served.parsed(cached), now, include=self._include, version=version))]
        else:
            rows = [self._objects.row(served, cached, now, include=self._include, version=version)]
        columns, self._columns = self._columns, None
        return table_bytes(served, rows, {"resourceVersion": str(event.revision)}, version, columns)

    def _frame(self, kind: str, obj: bytes) -> bytes:
        frame = b'{"type":"%s","object":%s}\n' % (kind.encode(), obj)
        if self._wanted.media_type != YAML:
            return frame
        from hyperkube_lib.serving import yaml

        return b"---\n" + yaml.dumps(orjson.loads(frame))


class ProtobufFrames:
    """Frames of protobuf, each after its length; `shown` tells apart what is shown of an object."""

    shown = "whole"

    def __init__(
        self, served: ServedResource, schema: CompiledSchema, protobuf: Protobuf, objects: ObjectEncoder
    ) -> None:
        self._served = served
        self._schema = schema
        self._protobuf = protobuf
        self._objects = objects
        self._keys = {kind: (served.mark, f"frame {kind} {self.shown}") for kind in (ADDED, MODIFIED, DELETED)}

    def event(self, event: CacheEvent) -> bytes:
        """Return the frame of an event; it is made once for all watches of this sort."""
        served, kind, cached = self._served, event.kind, event.object
        if cached is None:
            mark = bookmark_object(served, event.revision, initial_end=event.initial_end)
            return watch_frame(kind, self._mark(mark))
        if served.waits:
            return watch_frame(kind, self._body(cached))
        key, known = self._keys[kind], cached.encodings
        frame: bytes | None = known.get(key) if known is not None else None
        return frame or self._objects.keep(cached, key, watch_frame(kind, self._body(cached)))

    def error(self, status: Object) -> bytes:
        """Return the frame of an ERROR event."""
        return watch_frame("ERROR", self._protobuf.encode(status, meta_schema("Status")))

    def _mark(self, mark: Object) -> bytes:
        return self._protobuf.encode(mark, self._schema)

    def _body(self, cached: CachedObject) -> bytes:
        served = self._served
        if served.waits:
            return self._protobuf.encode(served.parsed(cached), self._schema)
        kind = served.kind
        return enveloped(kind.api_version, kind.kind, self._objects.message(served, cached, self._schema))


class PartialProtobufFrames(ProtobufFrames):
    """Frames of protobuf whose objects are partial."""

    def __init__(self, served: ServedResource, wanted: Format, protobuf: Protobuf, objects: ObjectEncoder) -> None:
        self.shown = f"partial {wanted.version}"
        super().__init__(served, partial_schema(wanted), protobuf, objects)
        self._wanted = wanted

    def _mark(self, mark: Object) -> bytes:
        return self._protobuf.encode(partial(self._served, mark, self._wanted.version), self._schema)

    def _body(self, cached: CachedObject) -> bytes:
        served, wanted = self._served, self._wanted
        if served.waits:
            return self._mark(served.parsed(cached))
        message = self._objects.partial_message(served, cached, self._schema)
        return enveloped(f"{META_VERSION}/{wanted.version}", "PartialObjectMetadata", message)


_BYTES_AT_ONCE = 64 * 1024
"""Bytes of objects that are written at once: with TLS a connection keeps buffers of the size of its largest write, and
a watch is open for hours after the burst that it begins with."""


class WatchStream:
    """The `ChunkSource` of one watch: drains its buffer, adds bookmarks, ends it at its deadline.

    Args:
        watching: the watch.
        frames: how its events are written.
        timers: for its bookmarks and its end.
        turn: the second of each minute in which its bookmarks are due; watches of one connection have the same, so that
            theirs are written together. None counts the minutes from its beginning.
    """

    def __init__(
        self, watching: OpenedWatch, frames: FrameWriter, timers: CoarseTimers, turn: int | None = None
    ) -> None:
        self._turn = turn
        self._watching = watching
        self._frames = frames
        self._put_off = timers
        self._notify: Callable[[], None] | None = None
        self._due = False
        self._over = False
        self._last_bookmark = 0.0
        self._timers: list[Timer] = []

    def subscribe(self, notify: Callable[[], None]) -> None:
        """Call `notify` whenever there may be something to drain."""
        self._notify = notify
        self._timers.append(self._put_off.call_later(self._watching.seconds, self._end))
        if self._watching.bookmarks:
            self._last_bookmark = self._put_off.monotonic() + self._watching.seconds - LAST_BOOKMARK_SECONDS
            self._next_bookmark()
        self._watching.signal.connect(notify)

    def drain(self) -> Sequence[bytes] | None:
        """Return the frames that are ready, or None at the end."""
        watch, frames = self._watching.watch, self._frames
        if watch is None:
            return self._last()
        while events := watch.drain(size=_BYTES_AT_ONCE, arms=True):
            written = self._written(events)
            # Looked at behind the drain, which has armed the watch: what is due since then notifies, or is seen here.
            if watch.is_drained and not (self._due or self._over or watch.ended):
                return AllChunks(written)
            if written:  # else none of them is for this client
                return written
        if self._due and not self._over:
            self._due = False
            mark = watch.bookmark()
            if mark is None:
                return []
            # The drain above has found nothing and armed the watch: what is due since then notifies.
            marks = [frames.event(mark)]
            return marks if self._over or watch.ended else AllChunks(marks)
        if watch.ended:
            return self._last()
        return None if self._over else []

    def _written(self, events: Sequence[CacheEvent]) -> Sequence[bytes]:
        """Return the frames of events; an object that cannot be shown in the watch's version ends it."""
        served = self._watching.served
        try:
            if served.waits:  # asks once for all of them; each is then known
                events = self._watching.selected(events)
                served.parsed_all([event.object for event in events if event.object is not None])
            if len(events) == 1:
                return [self._frames.event(events[0])]
            return [b"".join([self._frames.event(event) for event in events])] if events else []
        except ApiError as error:
            self._over = True
            return [self._frames.error(error.status())]

    def _last(self) -> Sequence[bytes] | None:
        """Return the error that ended the watch, once, then None."""
        watch = self._watching.watch
        error = self._watching.error or (watch.error if watch is not None else None)
        if self._over or error is None:
            return None
        self._over = True
        return [self._frames.error(error.status())]

    def close(self) -> None:
        """Let go of the watch and the timers; idempotent."""
        self._notify = None
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        if self._watching.watch is not None:
            self._watching.watch.close()

    def _end(self) -> None:
        self._over = True
        self._ring()

    def _next_bookmark(self) -> None:
        timers, turn = self._put_off, self._turn
        left = self._last_bookmark - timers.monotonic()
        if turn is not None and (second := timers.next_turn(turn, int(BOOKMARK_SECONDS))) < self._last_bookmark:
            self._timers[1:] = [timers.call_at(second, self._bookmark)]
        elif left > 0:
            self._timers[1:] = [timers.call_later(min(BOOKMARK_SECONDS, left), self._bookmark)]
        else:
            self._timers[1:] = []

    def _bookmark(self) -> None:
        if self._notify is None:  # closed meanwhile, on another thread
            return
        self._due = True
        self._next_bookmark()
        self._ring()

    def _ring(self) -> None:
        notify = self._notify
        if notify is not None:
            notify()


def frames_for(
    served: ServedResource,
    wanted: Format,
    include: str,
    clock: Clock,
    protobuf: Protobuf,
    columns: ColumnDefinitions,
    objects: ObjectEncoder,
) -> tuple[FrameWriter, str]:
    """Return the writer for a format and the content type of the stream."""
    if wanted.media_type == PROTOBUF and not wanted.kind and isinstance(served.codec, CompiledSchema):
        return ProtobufFrames(served, served.codec, protobuf, objects), f"{PROTOBUF};stream=watch"
    if wanted.media_type == PROTOBUF and wanted.kind:
        return PartialProtobufFrames(served, wanted, protobuf, objects), f"{PROTOBUF};stream=watch"
    if wanted.kind or wanted.media_type == YAML:
        return ShapedFrames(served, wanted, include, clock, columns, objects), wanted.media_type
    return JsonFrames(served), JSON
