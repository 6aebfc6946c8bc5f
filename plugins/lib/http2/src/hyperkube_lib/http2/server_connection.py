"""One client's connection that speaks HTTP/2: reads frames, starts requests, and sends what their streams have.

What a request is, who answers it and within which bounds is the service's affair, as with HTTP/1.1. Here is what only
HTTP/2 has: several requests at a time, whose answers take turns on one connection.
"""

from __future__ import annotations

import asyncio
from typing import cast

from hyperkube_lib.http2.answer_streams import AnswerStreams
from hyperkube_lib.http2.bounds import Bounds
from hyperkube_lib.http2.request_head import KnownFields
from hyperkube_lib.http2.server_stream import ServerStream
from hyperkube_lib.serving.pieces import WAITING
from hyperkube_lib.serving.reader import BODYLESS
from hyperkube_lib.serving.service import BUSY, IDLE, STREAM, Incoming, Service
from hyperkube_lib.serving.wire import refusal

from hyperkube.machinery.errors import InternalError
from hyperkube.plugin.failures import described

_MOST_UNDERWAY = 32
"""Requests of a connection that are worked on at a time; what is open, as watches, does not count."""

_MOST_UNSENT = 8 << 20
"""Bytes that wait for a client from which its next requests wait, too."""

_MOST_REPLIES = 1 << 20
"""Bytes that may wait on the connection itself, of a client that reads nothing and sends on."""


class ServerConnection(AnswerStreams):
    """The HTTP/2 protocol of one client.

    Args:
        service: the server.
        known: fields that were read before.
        certificate: of the client, as in `HttpRequest`.
        peer: its address.
        bounds: what the server lets a client do.
    """

    def __init__(
        self,
        service: Service,
        known: KnownFields,
        *,
        certificate: tuple[bytes, ...],
        peer: tuple[str, int],
        bounds: Bounds,
    ) -> None:
        super().__init__(service, known, certificate=certificate, peer=peer, bounds=bounds)
        self._stall = (0, 0.0)
        self._held: dict[int, ServerStream] = {}
        self._underway = 0

    @property
    def occupation(self) -> str:
        """``busy`` with a request at least, with a ``stream``, or ``idle``."""
        if any(stream.occupation is BUSY for stream in self.streams.values()):
            return BUSY
        return STREAM if self.streams else IDLE

    # the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The client has agreed to HTTP/2."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's transports only look like it
        self.service.join(self)
        self.greet()
        self._flush()
        if self.service.draining:
            self.drain()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone, or we have closed."""
        self._transport = None
        self.service.leave(self)
        self._end_all()
        self.h2.let_go()

    def eof_received(self) -> bool:
        """The client sends no more: over TLS that is its end."""
        return False

    def pause_writing(self) -> None:
        """The client reads more slowly than we write."""
        self._writable = False
        self._stall = (0, self.service.now)
        self.service.watched.add(self)

    def resume_writing(self) -> None:
        """The client has caught up."""
        self._writable = True
        self._pump()

    def data_received(self, data: bytes) -> None:
        """Read frames; what they call for is written in one go."""
        if self.deaf or self._transport is None:
            return
        self._reading = True
        try:
            is_sound = self.read(data)
        finally:
            self._reading = False
        if not is_sound:
            self._flush()
            self._end_all()
            self.close()
            return
        self._pump()
        transport = self._transport
        if not self._writable and transport and transport.get_write_buffer_size() > WAITING + _MOST_REPLIES:
            self.abort()

    # requests

    def new_stream(self, number: int) -> ServerStream:
        """Return a stream of this connection."""
        return ServerStream(self, number)

    def start(self, stream: ServerStream) -> None:
        """Take a request up, now or when there is room."""
        self.service.watched.add(stream)
        if self._has_room():
            self._start(stream)
        else:
            self._held[stream.number] = stream

    def _has_room(self) -> bool:
        return (
            self._underway < min(_MOST_UNDERWAY, self.max_streams) and self._unsent <= _MOST_UNSENT and self._writable
        )

    def _start(self, stream: ServerStream) -> None:
        incoming = stream.incoming
        if incoming is None:
            return
        service, request = self.service, incoming.request
        if not self._bounds.keeps_strangers and not request.certificate and "authorization" not in request.headers:
            stream.is_last = True
        if service.refuse is not None and (refused := service.refuse(request)) is not None:
            self.go_away()
            stream.answer(incoming, refused)
            return
        if request.method in BODYLESS and not request.body and self._hot(stream, incoming):
            return
        if incoming.body_stream is None:
            incoming.long_running = self.is_long_running(request)
        self._underway += 1
        service.submit(stream, incoming)

    def _hot(self, stream: ServerStream, incoming: Incoming) -> bool:
        """Answer from memory if the handler can; tell whether it could."""
        service = self.service
        try:
            answer = service.handler.hot(incoming.request)
        except Exception as error:
            service.logger.exception("%s %s failed", incoming.request.method, incoming.request.path)
            answer = refusal(InternalError.because(described(error)))
        if answer is None:
            return False
        if incoming.gzip and len(answer.body) >= service.limits.gzip_from:
            self._underway += 1
            service.shrink_later(stream, incoming, answer)
        else:
            stream.answer(incoming, answer)
        return True

    def work_ended(self) -> None:
        """A request that was handed on has come back."""
        self._underway -= 1
        self._since = self.service.now
        self.start_held()

    def start_held(self) -> None:
        """Take up requests that have waited for room."""
        while self._held and self._has_room():
            self._start(self._held.pop(next(iter(self._held))))

    # ends

    def forget(self, stream: ServerStream) -> None:
        """A stream has ended, one way or the other."""
        super().forget(stream)
        self._held.pop(stream.number, None)

    def drain(self) -> None:
        """Finish what is under way, end streams, close."""
        self.go_away()
        for stream in list(self.streams.values()):
            stream.drain()
        if not self.streams:
            self.close()

    def tick(self, now: float) -> bool:
        """Enforce the timeouts; tell whether the next second matters."""
        limits, transport = self.service.limits, self._transport
        if transport is None:
            return False
        if not self._writable:
            size, since = self._stall
            left = transport.get_write_buffer_size()
            if left != size:
                self._stall = (left, now)
            elif now - since > limits.stall_timeout:
                self.abort()
        elif not self.streams and now - self._since > (limits.idle_timeout if self.greeted else limits.head_timeout):
            self.drain()
        return not self._writable or not self.greeted

    def _end_all(self) -> None:
        for stream in list(self.streams.values()):
            self.forget(stream)
        self._ready.clear()

    def close(self) -> None:
        """Close once what waits is sent."""
        self._say_goodbye()
        if self._transport is not None:
            self.service.hang_up(self, self._transport)

    def abort(self) -> None:
        """Close without sending what still waits."""
        if self._transport is not None:
            self._transport.abort()
