"""One client connection: reads requests, answers them in their order, hands upgraded ones over.

A GET without a body is first offered to `Handler.hot`, right in the parser's callback: no task, no thread, no queue.
Everything else goes to the pool and comes back through `deliver`. One request at a time is under way; pipelined ones
wait in order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from hyperkube_lib.serving.body_writer import Body, BodyWriter
from hyperkube_lib.serving.closing import ClosingReader
from hyperkube_lib.serving.exchange import Answer, Response, StreamResponse
from hyperkube_lib.serving.framing import Framing, framing_of
from hyperkube_lib.serving.pieces import BUSY_FROM, BUSY_PIECE, PIECE, STREAM_PIECE, WAITING
from hyperkube_lib.serving.read_buffers import release
from hyperkube_lib.serving.reader import BODYLESS
from hyperkube_lib.serving.request_budget import RequestBudget
from hyperkube_lib.serving.service import BUSY, IDLE, STREAM, Incoming, Service, discard
from hyperkube_lib.serving.tls import peer_chain
from hyperkube_lib.serving.uvloop_tls import transport_of
from hyperkube_lib.serving.wire import CONTINUE, LAST_CHUNK, BadHeader, chunk, complete, head, late, plain, refusal

from hyperkube.machinery.errors import InternalError
from hyperkube.plugin.failures import described

_PIPELINED = 16
"""Requests that may wait behind the one under way before reading is paused."""

_EARLY = 256 * 1024
"""Bytes a client may send ahead of the answer to its upgrade request."""


class Connection(ClosingReader):
    """The HTTP/1.1 protocol of one client."""

    def __init__(self, service: Service, names: dict[bytes, str]) -> None:
        super().__init__(service, names)
        self._body_source: Body | None = None
        self._finite = False
        self._framing = Framing.CHUNKED
        self._streamed = 0
        self._early = bytearray()
        self._stall = (0, 0.0)

    @property
    def occupation(self) -> str:
        """``idle``, ``busy`` with a request, or with a ``stream``."""
        if self._has_stream:
            return STREAM
        return IDLE if self._current is None and not self._waiting else BUSY

    @property
    def _has_stream(self) -> bool:
        """Whether a body is sent that does not end by itself."""
        return self._body_source is not None and not self._finite

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected, and its TLS handshake is done."""
        self._transport = transport_of(transport)
        ssl_object = transport.get_extra_info("ssl_object")
        self._secure = ssl_object is not None
        if self._secure:
            self._transport.set_write_buffer_limits(high=WAITING)
            release(transport)
        self._certificate = peer_chain(ssl_object)
        peer = transport.get_extra_info("peername")
        if isinstance(peer, tuple):
            self._peer = (str(peer[0]), int(peer[1]))
        other = self.service.negotiated
        if other is not None and self._secure and ssl_object.selected_alpn_protocol() == other.name:
            other.take(self.service, self._transport, self._certificate, self._peer)
            self._transport = self._parser = None  # which refers to this; the connection would last as long
            return
        self.service.join(self)
        if self.service.draining:
            self._close()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone, or we have closed."""
        self.service.leave(self)
        self._transport = None
        self._pieces = None
        self._parser = None
        self._waiting.clear()
        if self._body_source is not None:
            self._body_source.stop()
            self._body_source = None
        current, self._current = self._current, None
        if current is not None and current.body_stream is not None:
            current.body_stream.lost()

    def eof_received(self) -> bool:
        """The client sends no more; over plain TCP it may still wait for its answer. Tells whether to stay open."""
        last = self._waiting[-1] if self._waiting else self._current
        if last is None or self._secure or self._has_stream:
            return False
        if not self._is_refused:
            last.keep_alive = False
        return True

    @property
    def _piece_bytes(self) -> int:
        if not self._has_stream:
            return PIECE
        return STREAM_PIECE if self._streamed < BUSY_FROM else BUSY_PIECE

    def pause_writing(self) -> None:
        """The client reads more slowly than we write."""
        self.writable = False
        self._stall = (0, self.service.now)
        self.service.watched.add(self)

    def resume_writing(self) -> None:
        """The client has caught up."""
        self.writable = True
        self._send_pieces()
        if not self.writable:
            return
        if self._body_source is not None:
            self._body_source.resume()
        elif self._current is None:
            self._next()

    def data_received(self, data: bytes) -> None:
        """Parse what came; answers made on the way are written in one go."""
        if self._deaf:
            return
        if self._current is not None and self._current.upgrade:
            self._hold(data)
            return
        self._out, self._out_bytes = [], 0
        self._read(data, at_rest=self._current is None and not self._waiting)
        self._flush()
        self._out = None
        if self._head_bytes or self._incoming is not None:
            self.service.watched.add(self)

    def _invite(self) -> None:
        if not self._waiting and self._current is None:
            self._write(CONTINUE)

    def _accept(self, incoming: Incoming) -> None:
        if self._current is None and self.writable and not self._waiting:
            self._start(incoming)
            return
        self._waiting.append(incoming)
        if self._crowded():
            self._pause_reading()

    def _crowded(self) -> bool:
        """Tell whether enough waits behind the request under way: many requests, or one with a body."""
        waiting = self._waiting
        return len(waiting) >= _PIPELINED or any(incoming.request.body for incoming in waiting)

    def _start(self, incoming: Incoming) -> None:
        request = incoming.request
        if self.service.refuse is not None and (refused := self.service.refuse(request)) is not None:
            self._current, incoming.keep_alive = incoming, False
            self.deliver(incoming, refused)
            return
        if request.method in BODYLESS and not incoming.upgrade and not request.body and self._hot(incoming):
            return
        self._current = incoming
        if incoming.body_stream is None and request.line is None:  # else it is known
            incoming.long_running = self._is_long_running(request)
        self.service.submit(self, incoming)

    def _hot(self, incoming: Incoming) -> bool:
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
            self._current = incoming
            service.shrink_later(self, incoming, answer)
            return True
        self._respond(incoming, answer)
        self._settle(incoming)
        return True

    def _next(self) -> None:
        """Take up the requests that have waited for the one before them."""
        while self._waiting and self._current is None and self.writable:
            self._start(self._waiting.popleft())
        self._refuse_in_turn()
        if not self._crowded():
            self._resume_reading()

    # answers

    def deliver(self, incoming: Incoming, answer: Answer) -> None:
        """Send the answer to the request under way."""
        if incoming.answered or incoming is not self._current or self._transport is None:
            discard(answer)
            return
        incoming.answered = True
        if isinstance(answer, Response):
            self._respond(incoming, answer)
            self._finish(incoming)
        elif isinstance(answer, StreamResponse) and (answer.finite or incoming.upgrade != "websocket"):
            self._stream(incoming, answer)
        else:
            from hyperkube_lib.serving.takeover import take_over

            take_over(self, incoming, answer)

    def _respond(self, incoming: Incoming, answer: Response) -> None:
        if (
            self.service.draining
            or incoming.upgrade
            or (incoming.body_stream is not None and not incoming.body_stream.finished)
        ):
            incoming.keep_alive = False
        close, head_only = not incoming.keep_alive, incoming.request.method == "HEAD"
        try:
            data = complete(answer, self._loop.date(), close=close, head_only=head_only)
        except BadHeader as error:
            self.service.logger.error("%s %s: %s", incoming.request.method, incoming.request.path, error)  # noqa: TRY400  no bug of the edge's
            data = complete(refusal(InternalError.because(error)), self._loop.date(), close=close, head_only=head_only)
        self._write(data)

    def _stream(self, incoming: Incoming, answer: StreamResponse) -> None:
        if not self.open_body(incoming, answer.status, answer.headers, length=None):
            answer.source.close()
        elif incoming.request.method == "HEAD":
            answer.source.close()
            self.end_body(broken=False)
        else:
            writer = BodyWriter(
                answer.source, self, loop=self._loop, logger=self.service.logger, gives_way=answer.finite
            )
            self._body_source, self._finite = writer, answer.finite
            writer.start()

    def attach(self, body: Body) -> None:
        """Tell `body` when the client has caught up or gone away."""
        self._body_source, self._finite = body, False

    def open_body(self, incoming: Incoming, status: int, headers: list[tuple[str, str]], *, length: int | None) -> bool:
        """Begin an answer whose body comes in pieces; tell False when its headers had to be refused.

        Args:
            incoming: the request under way.
            status: of the answer.
            headers: of the answer, without those that frame the body.
            length: of the whole body if it is known; otherwise it is sent in chunks, or to HTTP/1.0 until the close.
        """
        body_is_read = incoming.body_stream is None or incoming.body_stream.finished
        self._streamed = 0
        self._framing, field = framing_of(length, http_1_0=incoming.http_1_0)
        if self.service.draining or incoming.upgrade or not body_is_read or self._framing is Framing.UNTIL_CLOSE:
            incoming.keep_alive = False
        try:
            first = head(status, headers, close=not incoming.keep_alive, extra=field)
        except BadHeader as error:
            self._respond(incoming, refusal(InternalError.because(error)))
            self._finish(incoming)
            return False
        self._write(first + self._loop.date() + b"\r\n")
        return True

    def send_chunks(self, chunks: Sequence[bytes]) -> None:
        """Send a piece of the body that grows."""
        if self._transport is not None:
            data = chunk(chunks) if self._framing is Framing.CHUNKED else b"".join(chunks)
            if data:
                self._write(data)
            self._streamed += len(data)

    def end_body(self, *, broken: bool) -> None:
        """End the body that grew: properly, or so that the client sees it broke off."""
        self._body_source = None
        incoming = self._current
        if incoming is None or self._transport is None:
            return
        if broken:
            self._close()
            return
        if self._framing is Framing.CHUNKED and incoming.request.method != "HEAD":
            self._write(LAST_CHUNK)
        self._finish(incoming)

    def _finish(self, incoming: Incoming) -> None:
        """The answer is written."""
        self._current = None
        self._settle(incoming)
        if self._waiting or not self._reading or self._is_refused:
            self._next()

    def _settle(self, incoming: Incoming) -> None:
        self._since = self.service.now
        if not incoming.keep_alive:
            self._hang_up()

    def tick(self, now: float) -> bool:
        """Enforce the timeouts; tell whether the next second matters."""
        limits, current = self.service.limits, self._current
        if not self.writable and self._transport is not None:
            size, since = self._stall
            left = self._transport.get_write_buffer_size() + (len(self._pieces) if self._pieces is not None else 0)
            if left != size:
                self._stall = (left, now)
            elif now - since > limits.stall_timeout:
                self.abort()
        elif current is not None:
            if current.request.budget is not None and not current.answered:
                self._limit(current, current.request.budget, now)
        elif self._incoming is not None:
            if now - self._since > limits.request_timeout > 0:
                self._close()
        elif now - self._since > (limits.head_timeout if self._head_bytes else limits.idle_timeout):
            self._close()
        return not self.writable or self._incoming is not None or self._head_bytes > 0 or self.occupation is BUSY

    def _limit(self, current: Incoming, budget: RequestBudget, now: float) -> None:
        """Answer in place of a request whose time is up, and have its work stopped."""
        if now >= current.deadline:
            budget.stop()
            self.deliver(current, late(current.request))
        else:
            budget.check()

    def drain(self) -> None:
        """Finish what is under way, end streams, close."""
        if self._current is not None and self._body_source is not None:
            self._current.keep_alive = False
        if self._body_source is not None and self._has_stream:
            self._body_source.stop()
            self.end_body(broken=self._framing is Framing.LENGTH)
        elif self._current is None:
            self._close()

    def _hold(self, data: bytes | memoryview) -> None:
        """Keep what the client sends ahead of the answer to its upgrade request."""
        self._early += data
        if len(self._early) > _EARLY:
            self._pause_reading()

    def _upgraded(self, rest: memoryview) -> bool:
        """Hold what follows an upgrade request, unless the upgrade is passed over; tells which."""
        current = self._waiting[-1] if self._waiting else self._current
        if current is None or not current.upgrade:
            return False
        if self._current is not current:  # pipelined behind another: not worth having
            self._waiting.pop()
            self._refuse(plain(400, "400 Bad Request"))
        else:
            self._hold(rest)
        return True

    def release(self, successor: asyncio.Protocol) -> tuple[asyncio.Transport, bytes]:
        """Give the transport to `successor`; returns it with what the client has sent ahead."""
        transport, early = self._transport, bytes(self._early)
        if transport is None:
            raise ConnectionError("the client has gone away")
        self._resume_reading()
        self.service.leave(self)
        self._transport = self._parser = self._current = self._body_source = None
        self._deaf = True
        transport.set_protocol(successor)
        return transport, early

    def refuse_upgrade(self, incoming: Incoming, answer: Response) -> None:
        """Answer plainly instead of upgrading or relaying."""
        self._body_source = None
        self._respond(incoming, answer)
        self._finish(incoming)
