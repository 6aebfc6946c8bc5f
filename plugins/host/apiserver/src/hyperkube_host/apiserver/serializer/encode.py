"""From an result to bytes: objects, lists, tables, partial objects and streams, in the format the client accepts.

Source: kubernetes apiserver ``pkg/endpoints/handlers/{response,responsewriters/writers}.go``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from functools import partial as partial_call
from typing import TYPE_CHECKING

import orjson
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import flag
from hyperkube_host.apiserver.request.results import ListPage, ObjectResult, OpenedWatch, RawResult, Result
from hyperkube_host.apiserver.resources.meta_types import meta_schema
from hyperkube_host.apiserver.resources.served import Codec, ServedResource
from hyperkube_host.apiserver.serializer import negotiation
from hyperkube_host.apiserver.serializer.coarse_timers import CoarseTimers
from hyperkube_host.apiserver.serializer.decode import internal_package
from hyperkube_host.apiserver.serializer.encodings import RAW_FIELD, ObjectEncoder
from hyperkube_host.apiserver.serializer.list_pieces import (
    EncodedItems,
    JsonItems,
    ListBody,
    MessageList,
    TableRows,
    whole_list,
)
from hyperkube_host.apiserver.serializer.negotiation import JSON, PROTOBUF, STREAMS, YAML, Format
from hyperkube_host.apiserver.serializer.tables import (
    META_VERSION,
    ColumnDefinitions,
    check_include,
    partial,
    partial_schema,
    shown_as,
    table,
    table_bytes,
    table_head,
)
from hyperkube_host.apiserver.serializer.waiting_stream import WaitingStream
from hyperkube_host.apiserver.serializer.watch_stream import WatchStream, frames_for
from hyperkube_lib.protobuf import Protobuf, enveloped
from hyperkube_lib.protobuf.wire import delimited
from hyperkube_lib.serving import json
from hyperkube_lib.serving.exchange import Answer, ChunkSource, Response, StreamResponse
from hyperkube_lib.serving.finite_streams import PieceSource
from hyperkube_lib.watch_cache.cached_object import CachedObject

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, NotAcceptable
from hyperkube.machinery.groups import GroupVersionKind
from hyperkube.machinery.objects import Object, copy_object
from hyperkube.machinery.schema import CompiledSchema

if TYPE_CHECKING:
    from hyperkube_host.apiserver.serializer.list_texts import ListText

JSON_HEADER, _MESSAGE_HEADER = ("Content-Type", JSON), ("Content-Type", PROTOBUF)
NO_CACHE = ("Cache-Control", "no-cache, private")
_STREAMED_VERBS = frozenset({"list", "watch"})
_TRANSFORMED_VERBS = frozenset({"get", "list", "watch"})


@lru_cache(maxsize=512)
def _wanted(accept: str, verb: str, on_part: bool) -> Format:
    """Return the format of the answer to a verb, which may be asked of a part of an object."""
    negotiation.check_accepted(accept, (*negotiation.ALL, *STREAMS) if verb in _STREAMED_VERBS else negotiation.ALL)
    return negotiation.negotiate(accept, transforms=verb in _TRANSFORMED_VERBS or not on_part, binary=True)


def write(obj: Object, media_type: str, *, pretty: bool = False) -> bytes:
    """Return an object in JSON or YAML."""
    if media_type != YAML:
        return json.dumps(obj, pretty=pretty)
    from hyperkube_lib.serving import yaml  # most servers are never asked for it

    return yaml.dumps(obj)


def wants_pretty(request: ApiRequest) -> bool:
    """Tell whether the answer shall be indented: when asked for, or for people with a browser or curl."""
    given = request.query.get("pretty")
    if given:
        return flag(request.query, "pretty")
    agent = request.headers.get("user-agent", "")
    return agent.startswith(("curl", "Wget", "Mozilla/5.0"))


@dataclass(frozen=True, slots=True)
class Encoder:
    """Writes the answers of one server."""

    clock: Clock
    protobuf: Protobuf
    columns: ColumnDefinitions
    objects: ObjectEncoder
    timers: CoarseTimers

    def check(self, request: ApiRequest) -> Format:
        """Return the format of a resource request's answer, before anything is done.

        Raises:
            NotAcceptable: the client accepts nothing that can be written.
        """
        accept = request.headers.get("accept", "")
        if not accept or accept == JSON:
            return negotiation.PLAIN
        if accept in negotiation.MESSAGES:
            return negotiation.MESSAGE
        wanted = _wanted if len(accept) <= negotiation.LONGEST_ACCEPT else _wanted.__wrapped__
        return wanted(accept, request.info.verb, request.info.subresource != "")

    def encode(self, request: ApiRequest, result: Result, wanted: Format) -> Answer:
        """Return the answer.

        Raises:
            NotAcceptable: the wanted form does not fit the result.
        """
        if isinstance(result, ObjectResult):
            if wanted is negotiation.PLAIN:
                return self._single(request, result, wanted)
            if wanted is negotiation.MESSAGE and result.body and (body := self._written(result)):
                return Response(status=result.status, headers=[_MESSAGE_HEADER, NO_CACHE], body=body)
        if isinstance(result, RawResult):
            return result.answer
        if wanted.media_type == PROTOBUF and result.served is not None and result.served.custom:
            wanted = negotiation.negotiate_custom(request.headers.get("accept", ""), transforms=True)
        if wanted.kind == "Table" and result.served is not None and result.served.is_virtual:
            wanted = negotiation.negotiate_review(request.headers.get("accept", ""))
        if isinstance(result, OpenedWatch):
            return self._watch(request, result, wanted)
        if isinstance(result, ListPage):
            return self._page(request, result, wanted)
        return self._single(request, result, wanted)

    def kept_message(self, served: ServedResource, cached: CachedObject) -> Response | None:
        """Return the answer to a read of an object from the message that is kept of it, None where none is."""
        message = self.objects.kept_message(served, cached)
        if message is None:
            return None
        kind = served.kind
        return Response(headers=[_MESSAGE_HEADER, NO_CACHE], body=enveloped(kind.api_version, kind.kind, message))

    def _single(self, request: ApiRequest, result: ObjectResult, wanted: Format) -> Answer:
        served = result.served
        if not wants_pretty(request):
            if result.cached is not None and served is not None:
                body = self._of_cached(request, served, result.cached, wanted)
                if body:
                    return ok(body, status=result.status, media_type=wanted.media_type)
            if result.body and wanted is negotiation.PLAIN:
                return ok(result.body, status=result.status)
        obj = result.obj
        if obj is None and result.cached is not None and served is not None:
            obj = served.parsed(result.cached)
        assert obj is not None  # noqa: S101 -- an result has one or the other
        is_status = obj.get("kind") == "Status" and obj.get("apiVersion") == "v1"
        if served is not None and not is_status:
            obj = served.blanks.shown(obj)
            obj = self._shaped(request, result, obj, wanted)
        if wanted.media_type == PROTOBUF:
            return self._binary(request, obj, result, wanted)
        body = write(obj, wanted.media_type, pretty=wants_pretty(request))
        return ok(body, status=result.status, media_type=wanted.media_type)

    def _written(self, result: ObjectResult) -> bytes:
        """Return an object that was just stored as protobuf, or nothing where it has no such form."""
        served, obj = result.served, result.obj
        if served is None or obj is None:
            return b""
        if result.echo is not None:
            return self.objects.echoed_body(served, result.written, obj, result.echo)
        codec = served.codec
        if not isinstance(codec, CompiledSchema) or obj.get("kind") != served.kind.kind:
            return b""
        if served.blanks:
            return self.objects.written_body(served, result.written, codec, served.blanks.shown(obj))
        return self.objects.written_body(served, result.written, codec, obj, result.template)

    def _of_cached(self, request: ApiRequest, served: ServedResource, cached: CachedObject, wanted: Format) -> bytes:
        """Return an object of the cache from an encoding that all its readers share, or nothing where it has none."""
        if wanted is negotiation.PLAIN:
            return served.body(cached)
        if served.waits or request.info.subresource:
            return b""
        if wanted.kind == "Table" and wanted.media_type == JSON:
            include, version = request.param("includeObject"), wanted.version
            check_include(include)
            rows = [self.objects.row(served, cached, self.clock.now(), include=include, version=version)]
            meta = {"resourceVersion": str(cached.revision)}
            return table_bytes(served, rows, meta, version, self.columns)
        if wanted.kind == "PartialObjectMetadata" and wanted.media_type == JSON:
            return self.objects.partial(served, cached, wanted.version)
        if wanted.media_type == PROTOBUF and not wanted.kind and isinstance(served.codec, CompiledSchema):
            return enveloped(
                served.kind.api_version, served.kind.kind, self.objects.message(served, cached, served.codec)
            )
        return b""

    def _shaped(self, request: ApiRequest, result: ObjectResult, obj: Object, wanted: Format) -> Object:
        served = result.served
        if wanted.kind == "Table" and served is not None:
            meta = {"resourceVersion": (obj.get("metadata") or {}).get("resourceVersion", "")}
            include = request.param("includeObject")
            now = self.clock.now()
            view = shown_as(served, request.info.subresource)
            return table(view, [obj], meta, now, include=include, version=wanted.version, columns=self.columns)
        if wanted.kind == "PartialObjectMetadata" and served is not None:
            return partial(served, obj, wanted.version)
        if wanted.kind == "PartialObjectMetadataList" and served is not None:
            kind = _own_type(request, served, obj)[0]
            shown = f"*{internal_package(kind.group)}.{kind.kind}"
            raise NotAcceptable(f"you requested {wanted.kind}, but the requested object is not a list ({shown})")
        return obj

    def _binary(self, request: ApiRequest, obj: Object, result: ObjectResult, wanted: Format) -> Answer:
        """Return the object as protobuf, or as JSON where it has no such form."""
        if wanted.kind and obj.get("kind") == wanted.kind:
            body = self.protobuf.encode(obj, partial_schema(wanted))
            return ok(body, status=result.status, media_type=PROTOBUF)
        kind, codec = _own_type(request, result.served, obj) if result.served is not None else (None, None)
        schema = codec if isinstance(codec, CompiledSchema) else None
        if schema is None or wanted.kind or kind is None or obj.get("kind") != kind.kind:
            if obj.get("kind") != "Status":
                return ok(json.dumps(obj), status=result.status)
            return ok(self._status(obj, PROTOBUF), status=result.status, media_type=PROTOBUF)
        return ok(self.protobuf.encode(obj, schema), status=result.status, media_type=PROTOBUF)

    def _page(self, request: ApiRequest, page: ListPage, wanted: Format) -> Answer:
        served = page.served
        body: ListBody | MessageList | ListText
        if wanted.kind == "Table":
            body = self._table(request, page, wanted)
        elif wanted.kind == "PartialObjectMetadataList":
            body = self._partial_page(page, wanted)
        elif wanted.kind:
            shown = f"*{internal_package(served.kind.group)}.{served.list_kind().kind}"
            raise NotAcceptable(f"you requested {wanted.kind}, but the requested object is a list ({shown})")
        elif wanted.media_type == PROTOBUF and isinstance(served.codec, CompiledSchema):
            body = self._binary_page(page, served.codec)
            wanted = negotiation.MESSAGE
        else:
            body = json_list(page)
        if isinstance(body, ListBody):
            body = _for_people(request, body, wanted.media_type)
        encoded = body.encoded()
        if isinstance(encoded, bytes):
            return ok(encoded, media_type=wanted.media_type)
        headers = [("Content-Type", wanted.media_type), NO_CACHE]
        return StreamResponse(headers=headers, source=PieceSource(encoded), finite=True, slow=body.slow)

    def _table(self, request: ApiRequest, page: ListPage, wanted: Format) -> ListBody:
        served, include, version = page.served, request.param("includeObject"), wanted.version
        now, meta = self.clock.now(), page_metadata(page)
        if not is_shared(page) or served.spec.row_order is not None:
            shown = table(served, items_of(page), meta, now, include=include, version=version, columns=self.columns)
            return whole_list(orjson.dumps(shown))
        check_include(include)
        if not page.objects:
            return whole_list(table_bytes(served, [], meta, version, self.columns))
        rows = TableRows(page.objects, self.objects, served, now, include=include, version=version)
        return ListBody(table_head(served, meta, version, self.columns) + b"[", rows, b"]}\n", slow=True)

    def _partial_page(self, page: ListPage, wanted: Format) -> ListBody | MessageList:
        served, version = page.served, wanted.version
        head = {"kind": wanted.kind, "apiVersion": f"{META_VERSION}/{version}", "metadata": page_metadata(page)}
        if wanted.media_type == PROTOBUF and is_shared(page) and version == "v1":
            schema = partial_schema(replace(wanted, kind="PartialObjectMetadata"))
            encode = partial_call(self.objects.partial_message, served, schema=schema)
            return self._messages(head, EncodedItems(page.objects, encode, separator=b""))
        if wanted.media_type == PROTOBUF:
            body = {**head, "items": [partial(served, obj, version) for obj in items_of(page)]}
            return whole_list(self.protobuf.encode(body, partial_schema(wanted)))
        if not is_shared(page):
            return whole_list(
                orjson.dumps({**head, "items": [partial(served, obj, version) for obj in items_of(page)]})
            )
        items = EncodedItems(page.objects, partial_call(self.objects.partial, served, version=version))
        return ListBody(orjson.dumps(head)[:-1] + b',"items":[', items, b"]}\n", slow=True)

    def _binary_page(self, page: ListPage, schema: CompiledSchema) -> ListBody | MessageList:
        kind = page.served.list_kind()
        head = {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": page_metadata(page)}
        if is_shared(page):
            encode = partial_call(self.objects.message, page.served, schema=schema)
            return self._messages(head, EncodedItems(page.objects, encode, separator=b""))
        items = [delimited(RAW_FIELD, self.protobuf.write_message(obj, schema)) for obj in items_of(page)]
        return whole_list(self.protobuf.encode_list(head, items, meta_schema("ListMeta")))

    def _messages(self, head: Object, items: EncodedItems) -> MessageList:
        around, list_meta = self.protobuf.around_items, meta_schema("ListMeta")
        return MessageList(lambda size: around(head, size, list_meta), items)

    def _watch(self, request: ApiRequest, watching: OpenedWatch, wanted: Format) -> Answer:
        include = request.param("includeObject")
        if wanted.kind == "PartialObjectMetadataList":
            return _unwritable(watching)
        if wanted.kind == "Table":
            self.columns.json_of(watching.served)  # here, and not on the loop that sends the first event
        frames, content_type = frames_for(
            watching.served, wanted, include, self.clock, self.protobuf, self.columns, self.objects
        )
        headers = [("Content-Type", content_type), NO_CACHE]
        stream: ChunkSource = WatchStream(watching, frames, self.timers, turn=hash(request.peer) % 60)
        return StreamResponse(headers=headers, source=WaitingStream(stream) if watching.served.waits else stream)

    def error(self, request: ApiRequest | None, error: ApiError, accept: str) -> Response:
        """Return the Status of an error."""
        media_type = negotiation.error_format(accept)
        pretty = request is not None and wants_pretty(request)
        body = self._status(copy_object(error.status()), media_type, pretty=pretty)
        headers = [("Content-Type", media_type), NO_CACHE]
        if error.retry_after_seconds:
            headers.append(("Retry-After", str(error.retry_after_seconds)))
        return Response(status=error.status_code, headers=headers, body=body)

    def _status(self, status: Object, media_type: str, *, pretty: bool = False) -> bytes:
        if media_type != PROTOBUF:
            return write(status, media_type, pretty=pretty)
        return self.protobuf.encode(status, meta_schema("Status"))


def _own_type(request: ApiRequest, served: ServedResource, obj: Object) -> tuple[GroupVersionKind, Codec]:
    """Return the kind and the codec of an answer: the resource's, or those of a subresource such as ``scale``."""
    sub = served.spec.subresource(request.info.subresource) if request.info.subresource else None
    if sub is not None and sub.schema and obj.get("kind") == sub.kind.kind:
        return sub.kind, served.codec_of(sub)
    return served.kind, served.codec


def _unwritable(watching: OpenedWatch) -> Response:
    """Return the answer to a watch whose events have no such form: it ends before its first event."""
    if watching.watch is not None:
        watching.watch.close()
    return Response(headers=[("Content-Type", JSON), NO_CACHE])


def _for_people(request: ApiRequest, body: ListBody, media_type: str) -> ListBody | ListText:
    """Return a list as YAML, or indented, where it is asked for so."""
    if media_type != YAML and (media_type == PROTOBUF or not wants_pretty(request)):
        return body
    from hyperkube_host.apiserver.serializer.list_texts import INDENTED, YAML_TEXT, ListText  # most programs never do

    return ListText(body, YAML_TEXT if media_type == YAML else INDENTED)


def ok(body: bytes, *, status: int = 200, media_type: str = JSON) -> Response:
    """Return a complete answer."""
    if media_type == JSON and not body.endswith(b"\n"):
        body += b"\n"
    return Response(status=status, headers=[("Content-Type", media_type), NO_CACHE], body=body)


def is_shared(page: ListPage) -> bool:
    """Tell whether a list's objects may be encoded one by one, for all their readers."""
    return page.computed is None and not page.served.waits


def page_metadata(page: ListPage) -> Object:
    """Return the metadata of a list."""
    meta: Object = {} if page.computed is not None else {"resourceVersion": str(page.revision)}
    if page.continue_token or page.served.custom:
        meta["continue"] = page.continue_token
    if page.remaining:
        meta["remainingItemCount"] = page.remaining
    return meta


def items_of(page: ListPage) -> list[Object]:
    """Return the objects of a list, parsed."""
    if page.computed is not None:
        return list(page.computed)
    return page.served.parsed_all(page.objects)


def without_type(obj: Object) -> Object:
    """Return an item of a list without its kind and version."""
    return {name: value for name, value in obj.items() if name not in {"kind", "apiVersion"}}


def json_list(page: ListPage) -> ListBody:
    """Return a list as JSON."""
    kind = page.served.list_kind()
    head = {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": page_metadata(page)}
    if is_shared(page):
        return ListBody(orjson.dumps(head)[:-1] + b',"items":[', JsonItems(page), b"]}\n")
    items = [without_type(obj) for obj in page.computed] if page.computed is not None else items_of(page)
    return whole_list(orjson.dumps({**head, "items": items}))
