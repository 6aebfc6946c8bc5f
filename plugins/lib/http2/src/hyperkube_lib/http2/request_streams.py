"""Reads the requests of a connection that speaks HTTP/2, each on a stream of its own; its heir answers them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any, ClassVar

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    RemoteSettingsChanged,
    RequestReceived,
    StreamEnded,
    StreamReset,
    WindowUpdated,
)
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes, Settings
from hyperkube_lib.http2.frame_budget import SMALL, CountedFrames, FrameBudget
from hyperkube_lib.http2.plain_fields import PlainFields
from hyperkube_lib.http2.request_head import Fields, KnownFields, Malformed, NotAllowed
from hyperkube_lib.http2.server_stream import ServerStream
from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_lib.serving.reader import BODYLESS
from hyperkube_lib.serving.request_body import RequestBody
from hyperkube_lib.serving.service import Incoming, Service
from hyperkube_lib.serving.wire import plain, refusal

from hyperkube.machinery.errors import RequestEntityTooLarge

WINDOW = 256 * 1024
"""Bytes of a body that a client may send unasked; source: kubernetes apiserver ``pkg/server/secure_serving.go``."""

_SLICE = 16 * 1024
"""Bytes that are read at a time: not more frames than that are answered before there is a look at their cost."""

_MOST_BODIES = 32 << 20
"""Bytes that the bodies of a connection's requests may take together."""

_CLOSED_STREAMS = 1024
"""Ended streams that are remembered, for frames that were under way when they ended."""

_OVERSHOOT = 4
"""So many times the streams that it may open a client may try to."""

_CONFIGURATION = H2Configuration(
    client_side=False,
    header_encoding=None,
    validate_inbound_headers=False,  # `request_head` does, and answers as Go's server
    normalize_inbound_headers=False,
    validate_outbound_headers=False,
    normalize_outbound_headers=False,
)


@lru_cache(maxsize=8)
def _settings(max_streams: int, max_head: int) -> Settings:
    """Return our bounds, which connections share: a set of them takes five kilobytes, and no connection changes them.

    What a client acknowledges are values that were announced behind the first ones, and there are none.
    """
    return Settings(
        client=False,
        initial_values={
            SettingCodes.MAX_CONCURRENT_STREAMS: max_streams,
            SettingCodes.INITIAL_WINDOW_SIZE: WINDOW,
            SettingCodes.MAX_HEADER_LIST_SIZE: max_head,
        },
    )


class _Connection(H2Connection):
    MAX_CLOSED_STREAMS = _CLOSED_STREAMS

    def let_go(self) -> None:
        """Let go of the methods that read frames, when none is read any more: they refer to the connection."""
        self._frame_dispatch_table = {}


class RequestStreams(asyncio.Protocol):
    """Makes `ServerStream`s of frames.

    Attributes:
        streams: those that are open, by number.
        unread: numbers of those whose request has not come to its end.
        greeted: the client has sent its settings.
        gone_away: streams that are opened from now on are not accepted.
        deaf: nothing is read any more; the reason is told to the client.
    """

    def __init__(
        self,
        service: Service,
        known: KnownFields,
        *,
        certificate: tuple[bytes, ...],
        peer: tuple[str, int],
        max_streams: int,
    ) -> None:
        self.service = service
        self.max_streams = max_streams
        self._known = known
        self._certificate = certificate
        self._peer = peer
        self._budget = FrameBudget(service.loop.asyncio.time)
        self.h2 = _Connection(_CONFIGURATION)
        self.h2.incoming_buffer = CountedFrames(self._budget, server=True)
        self.h2.encoder = PlainFields()  # type: ignore[assignment]  # does what the library asks of one
        self.streams: dict[int, ServerStream] = {}
        self.unread: set[int] = set()
        self._bodies = 0
        self.greeted = self.gone_away = self.deaf = False

    # what its heir does

    def new_stream(self, number: int) -> ServerStream:
        """Return a stream of this connection."""
        raise NotImplementedError

    def start(self, stream: ServerStream) -> None:
        """A request is whole, or (long-running) its body follows."""
        raise NotImplementedError

    def window_opened(self, stream: ServerStream) -> None:
        """The client takes more of a stream."""
        raise NotImplementedError

    def reset(self, stream: ServerStream, code: ErrorCodes) -> None:
        """End a stream before its time."""
        raise NotImplementedError

    def watch_time(self, stream: ServerStream) -> None:
        """Have the stream's `ServerStream.tick` called."""
        raise NotImplementedError

    def _flush(self) -> None:
        """Write what the library has made."""
        raise NotImplementedError

    # reading

    def greet(self) -> None:
        """Tell the client our bounds."""
        max_head = self.service.limits.max_head
        self.h2.local_settings = _settings(self.max_streams, max_head)
        self.h2.decoder.max_header_list_size = max_head
        self.h2.initiate_connection()
        # Until it has read that, a client may open more: those are refused here, one by one. Only one that goes far
        # beyond it is sent away by the library.
        self.h2.local_settings = _settings(_OVERSHOOT * self.max_streams, max_head)
        self.h2.increment_flow_control_window(WINDOW * self.max_streams)

    def read(self, data: bytes) -> bool:
        """Do what frames ask for; tell False when nothing is read any more."""
        view = memoryview(data)
        for at in range(0, len(view), _SLICE):
            try:
                events = self.h2.receive_data(view[at : at + _SLICE])
            except ProtocolError as error:
                self.service.logger.debug("%s:%s: %s", *self._peer, error)
                self.deaf = True
                return False
            for event in events:
                handler = self._HANDLERS.get(type(event))
                if handler is not None:
                    handler(self, event)
            if self.deaf:
                return False
            self._flush()
        return True

    def _request_received(self, event: Any) -> None:
        number: int = event.stream_id
        if self.gone_away or len(self.streams) >= self.max_streams:
            with suppress(ProtocolError):
                self.h2.reset_stream(number, ErrorCodes.REFUSED_STREAM)
            return
        stream = self.streams[number] = self.new_stream(number)
        whole = event.stream_ended is not None
        if not whole:
            self.unread.add(number)
        try:
            incoming = self._incoming(event.headers)
        except Malformed as error:
            self.service.logger.debug("%s:%s: %s", *self._peer, error)
            self.reset(stream, ErrorCodes.PROTOCOL_ERROR)
            return
        except NotAllowed as error:
            stream.respond(plain(400, str(error)))
            return
        stream.head_only = incoming.request.method == "HEAD"
        if whole:
            stream.incoming = incoming
            self.start(stream)
        else:
            self._expect_body(stream, incoming)

    def _incoming(self, fields: Fields) -> Incoming:
        target, head = self._known.read(fields)
        request = HttpRequest(
            method=head.method,
            path=target.path,
            raw_path=target.raw_path,
            query_string=target.query,
            headers=head.known.headers,
            certificate=self._certificate,
            peer=self._peer,
            secure=True,
            repeated=head.repeated,
            head=head.known if head.method == "GET" and head.repeated is None else None,
        )
        return Incoming(request, gzip=head.known.gzip)

    # bodies

    def _expect_body(self, stream: ServerStream, incoming: Incoming) -> None:
        request = incoming.request
        incoming.long_running = self.is_long_running(request)
        length = int(request.headers.get("content-length", "0"))
        if not incoming.long_running and length > self.service.limits.max_body:
            self._refuse_body(stream)
            return
        if request.headers.get("expect", "").lower() == "100-continue":
            with suppress(ProtocolError):  # reset within what was read last
                self.h2.send_headers(stream.number, [(b":status", b"100")])
        stream.incoming = stream.reading = incoming
        if incoming.long_running and (length or request.method not in BODYLESS):
            incoming.body_stream = RequestBody(pause=lambda: None, resume=lambda: self._taken(stream))
            self.start(stream)
        else:
            self.watch_time(stream)

    def is_long_running(self, request: HttpRequest) -> bool:
        """Tell whether a request may stay open."""
        try:
            return self.service.handler.is_long_running(request)
        except Exception:
            self.service.logger.exception("cannot tell whether %s %s is long-running", request.method, request.path)
            return False

    def _data_received(self, event: Any) -> None:
        stream = self.streams.get(event.stream_id)
        incoming = stream.reading if stream is not None else None
        if stream is None or incoming is None:  # answered already
            self._acknowledge(event.flow_controlled_length, event.stream_id)
            return
        size = len(event.data)
        if incoming.body_stream is not None:
            # What is not taken stays within the stream's window: it is opened by what is.
            stream.untaken += size
            self._acknowledge(event.flow_controlled_length - size, event.stream_id)
            incoming.body_stream.put(event.data)
            return
        self._acknowledge(event.flow_controlled_length, event.stream_id)
        stream.body_bytes += size
        self._bodies += size
        if stream.body_bytes > self.service.limits.max_body:
            self._refuse_body(stream)
        elif self._bodies > _MOST_BODIES:
            stream.respond(plain(429, "Too many requests, please try again later.", ("Retry-After", "1")))
        elif stream.body is None:
            stream.body = [event.data]
        else:
            stream.body.append(event.data)

    def _taken(self, stream: ServerStream) -> None:
        """A long-running request has taken what came of its body."""
        size, stream.untaken = stream.untaken, 0
        if not stream.over:
            self._acknowledge(size, stream.number)
            self._flush()

    def _acknowledge(self, size: int, number: int) -> None:
        """Let the client send as much again."""
        if size:
            with suppress(ProtocolError):  # the connection has ended within what was read last
                self.h2.acknowledge_received_data(size, number)

    def _refuse_body(self, stream: ServerStream) -> None:
        limit = self.service.limits.max_body
        stream.respond(refusal(RequestEntityTooLarge(f"Request entity too large: limit is {limit}")))

    def _stream_ended(self, event: Any) -> None:
        self.unread.discard(event.stream_id)
        stream = self.streams.get(event.stream_id)
        incoming = stream.reading if stream is not None else None
        if stream is None or incoming is None:
            return
        stream.reading = None
        if incoming.body_stream is not None:
            incoming.body_stream.finish()
            return
        incoming.request.body, stream.body = b"".join(stream.body or ()), None
        self.start(stream)

    # everything else

    def _stream_reset(self, event: Any) -> None:
        stream = self.streams.get(event.stream_id)
        if stream is not None:
            self.forget(stream)

    def forget(self, stream: ServerStream) -> None:
        """A stream has ended, one way or the other."""
        self.streams.pop(stream.number, None)
        self.unread.discard(stream.number)
        self._bodies -= stream.body_bytes
        stream.body_bytes = 0

    def _window_updated(self, event: Any) -> None:
        stream = self.streams.get(event.stream_id)
        if stream is not None:
            self.window_opened(stream)

    def _settings_changed(self, event: Any) -> None:
        self.greeted = True
        if SettingCodes.INITIAL_WINDOW_SIZE in event.changed_settings:
            for stream in self.streams.values():
                self.window_opened(stream)

    def _terminated(self, _event: Any) -> None:
        self.deaf = True

    def count_sent(self, size: int, *, is_all: bool) -> None:
        """A piece of an answer was sent: the client may open its window for it."""
        if size >= SMALL or is_all:
            self._budget.earn()

    _HANDLERS: ClassVar[dict[type, Callable[[RequestStreams, Any], None]]] = {
        RequestReceived: _request_received,
        DataReceived: _data_received,
        StreamEnded: _stream_ended,
        StreamReset: _stream_reset,
        WindowUpdated: _window_updated,
        RemoteSettingsChanged: _settings_changed,
        ConnectionTerminated: _terminated,
    }
