"""What cached objects look like in other formats: made when first asked for, and shared until the object changes.

The watch cache holds JSON. Go's clients read protobuf, kubectl reads tables, metadata informers read partial objects:
each of these costs a parse and an encoding, which are paid once for a revision of an object, however many clients list
or watch it. Kubernetes shares encodings among watchers likewise (``pkg/storage/cacher/caching_object.go``).
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable, Hashable
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import orjson
from hyperkube_host.apiserver.resources.meta_types import meta_schema
from hyperkube_host.apiserver.resources.recurring import BUSY_TEMPLATES
from hyperkube_host.apiserver.resources.served import ServedResource
from hyperkube_host.apiserver.serializer.kept_rows import KeptRow, ObservedNow
from hyperkube_host.apiserver.serializer.tables import cells_of, conditions_of, partial
from hyperkube_host.apiserver.serializer.template_messages import TemplateMessage, message_in
from hyperkube_lib.protobuf import Protobuf, close_envelope, enveloped
from hyperkube_lib.protobuf.wire import delimited, read_length
from hyperkube_lib.watch_cache.cached_object import CachedObject

from hyperkube.machinery.objects import Object
from hyperkube.machinery.recent import Recent, exact, forgets
from hyperkube.machinery.schema import CompiledSchema

if TYPE_CHECKING:
    from hyperkube_host.apiserver.resources.echo import Echo

LIMIT = 64 << 20
"""Bytes of all encodings together; beyond it the oldest go."""

RAW_FIELD = 2
"""The number of the message's field in an envelope, and of the items in a list, so that both take the same bytes."""

_T = TypeVar("_T")


class Encodings:
    """Keeps encodings on the objects themselves, up to a number of bytes. Safe for use by several threads."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._oldest: deque[tuple[weakref.ref[CachedObject], Hashable, int]] = deque()
        self._size = 0
        forgets(self)

    def forget(self) -> None:
        """Forget all encodings."""
        with self._lock:
            for reference, key, _ in self._oldest:
                if (owner := reference()) is not None and owner.encodings is not None:
                    owner.encodings.pop(key, None)
            self._oldest.clear()
            self._size = 0

    @property
    def size(self) -> int:
        """The bytes of the encodings, also of objects that have changed since and are not yet discounted."""
        return self._size

    def find(self, cached: CachedObject, key: Hashable) -> Any:
        """Return an encoding that was kept with an object, or None."""
        found = cached.encodings
        return found.get(key) if found is not None else None

    def keep(self, cached: CachedObject, key: Hashable, encoding: _T, size: int) -> _T:
        """Keep an encoding with its object until the object changes or room is needed; return it."""
        with self._lock:
            if cached.encodings is None:
                cached.encodings = {}
            is_known = key in cached.encodings
            cached.encodings[key] = encoding = exact(encoding)
            if is_known:  # a row that is made anew is about as long as before
                return encoding
            self._oldest.append((weakref.ref(cached), key, size))
            self._size += size
            while self._size > self._limit:
                reference, old, freed = self._oldest.popleft()
                self._size -= freed
                if (owner := reference()) is not None and owner.encodings is not None:
                    owner.encodings.pop(old, None)
        return encoding

    def renew(self, cached: CachedObject, key: Hashable, encoding: object) -> None:
        """Put an encoding in the place of one that was kept, and took as many bytes, if that is kept still."""
        with self._lock:
            if cached.encodings is not None and key in cached.encodings:
                cached.encodings[key] = encoding


class ObjectEncoder:
    """Encodes cached objects, each once for a revision.

    Not for resources that another server converts (`ServedResource.waits`): it is asked for all objects in one go.
    """

    def __init__(self, protobuf: Protobuf, encodings: Encodings | None = None) -> None:
        self._protobuf = protobuf
        self._encodings = encodings or Encodings()
        self._templates: Recent[bytes, TemplateMessage] = Recent(BUSY_TEMPLATES)
        """What writes answers with new objects of a template, by its text."""

    def message(self, served: ServedResource, cached: CachedObject, schema: CompiledSchema) -> bytes:
        """Return an object's message as a field of an envelope or a list, with tag and length."""
        found: bytes | None = self._encodings.find(cached, (served.mark, "message"))
        if found is not None:
            return found
        made = delimited(RAW_FIELD, self._protobuf.write_message(served.parsed(cached), schema))
        return self._encodings.keep(cached, (served.mark, "message"), made, len(made))

    def kept_message(self, served: ServedResource, cached: CachedObject) -> bytes | None:
        """Return the same where it was made before, and is kept; else None."""
        found: bytes | None = self._encodings.find(cached, (served.mark, "message"))
        return found

    def written_body(
        self,
        served: ServedResource,
        cached: CachedObject | None,
        schema: CompiledSchema,
        obj: Object,
        template: bytes = b"",
    ) -> bytes:
        """Return the body with an object that was just written; its message is kept where a watch may be sent it next.

        `cached` is the cache's copy, if it has one; `template` the text of a template of which it is a new object.
        """
        kind = served.kind
        found = self.kept_message(served, cached) if cached is not None and cached.encodings is not None else None
        if found is not None:
            return enveloped(kind.api_version, kind.kind, found)
        writer = self._templates.get(template) if template else None
        if writer is not None:
            body = writer.body(obj["metadata"])
        else:
            body = close_envelope(kind.api_version, kind.kind, self._protobuf.write_message(obj, schema))
            if template:
                self._learn(template, served, schema, obj, body)
        if cached is not None and (cached.encodings is not None or served.stored().cache.watchers):
            self._share(served, cached, body)
        return body

    def echoed_body(self, served: ServedResource, cached: CachedObject | None, obj: Object, echo: Echo) -> bytes:
        """Return the same with a new object whose data are as they came."""
        body = echo.write(obj["metadata"])
        if cached is not None and (cached.encodings is not None or served.stored().cache.watchers):
            self._share(served, cached, body)
        return body

    def _share(self, served: ServedResource, cached: CachedObject, body: bytes) -> None:
        """Keep the message in a body for the watches that are sent it next."""
        message = message_in(body, served.kind)
        self._encodings.keep(cached, (served.mark, "message"), message, len(message))

    def _learn(self, template: bytes, served: ServedResource, schema: CompiledSchema, obj: Object, body: bytes) -> None:
        """Know how to write answers with the objects of a template, of one of which this is the body."""
        bare = self._protobuf.write_message({**obj, "metadata": {}}, schema)
        behind = bare[read_length(bare, 1, len(bare))[1] :]  # metadata are the first field of all kinds
        writer = TemplateMessage(served.kind, behind, self._cut)
        if writer.body(obj["metadata"]) == body:
            self._templates.keep(template, writer)

    def _cut(self, meta: Object) -> tuple[bytes, ...]:
        return self._protobuf.cut_message(meta, self._meta)

    @cached_property
    def _meta(self) -> CompiledSchema:
        return meta_schema("ObjectMeta")

    def partial_message(self, served: ServedResource, cached: CachedObject, schema: CompiledSchema) -> bytes:
        """Return the message of an object's PartialObjectMetadata, likewise; all its versions have the same."""
        return self._bytes(
            cached,
            (served.mark, "partial message"),
            lambda: delimited(
                RAW_FIELD, self._protobuf.write_message(partial(served, served.parsed(cached), ""), schema)
            ),
        )

    def partial(self, served: ServedResource, cached: CachedObject, version: str) -> bytes:
        """Return an object's PartialObjectMetadata as JSON."""
        return self._bytes(
            cached, (served.mark, version), lambda: orjson.dumps(partial(served, served.parsed(cached), version))
        )

    def row(self, served: ServedResource, cached: CachedObject, now: datetime, *, include: str, version: str) -> bytes:
        """Return an object's row of a table; `include` as in `tables.row`."""
        shown = self.shown(served, cached, include=include, version=version)
        return b"%s%s}" % (self.kept_row(served, cached, now).text[1:], shown)

    def row_keys(self, served: ServedResource, *, include: str, version: str) -> tuple[Hashable, Hashable]:
        """Return under what an object's encodings have its `kept_row`, and what that shows of it (None: not there)."""
        return (served.mark, "row"), (served.mark, version) if include in {"", "Metadata"} else None

    def kept_row(self, served: ServedResource, cached: CachedObject, now: datetime) -> KeptRow:
        """Return the same up to the row's object, behind a comma."""
        key = (served.mark, "row")
        found: KeptRow | None = self._encodings.find(cached, key)
        row = found.at(now) if found is not None else None
        if row is None:
            return self._row(served, cached, now)
        if row is not found:
            self._encodings.renew(cached, key, row)
        return row

    def shown(self, served: ServedResource, cached: CachedObject, *, include: str, version: str) -> bytes:
        """Return the object of a row; `include` as in `tables.row`."""
        if include == "None":
            return b"null"
        return served.body(cached) if include == "Object" else self.partial(served, cached, version)

    def _row(self, served: ServedResource, cached: CachedObject, now: datetime) -> KeptRow:
        obj, observed = served.parsed(cached), ObservedNow.of(now)
        conditions = conditions_of(served, obj)
        row = KeptRow.of(_row_text({"cells": cells_of(served, obj, observed), **conditions}), observed)
        if row is None:  # the object's own texts look like a place for an age
            plain = _row_text({"cells": cells_of(served, obj, now), **conditions})
            return KeptRow(plain, now, (plain,), (), now)
        return self._encodings.keep(cached, (served.mark, "row"), row, row.size)

    def keep(self, cached: CachedObject, key: Hashable, encoding: bytes) -> bytes:
        """Keep another encoding with its object, likewise; return it."""
        return self._encodings.keep(cached, key, encoding, len(encoding))

    def _bytes(self, cached: CachedObject, key: Hashable, make: Callable[[], bytes]) -> bytes:
        found: bytes | None = self._encodings.find(cached, key)
        if found is None:
            made = make()
            found = self._encodings.keep(cached, key, made, len(made))
        return found


def _row_text(row: Object) -> bytes:
    return b',%s,"object":' % orjson.dumps(row)[:-1]
