"""One stream of a server's connection: a request and its answer, seen by everything else as a connection of its own."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Protocol

from h2.errors import ErrorCodes
from hyperkube_lib.http2.answer_head import answer_fields, closes
from hyperkube_lib.serving.body_writer import Body, BodyWriter
from hyperkube_lib.serving.exchange import Answer, Response, StreamResponse
from hyperkube_lib.serving.service import BUSY, STREAM, Incoming, Service, discard
from hyperkube_lib.serving.wire import BadHeader, late, refusal

from hyperkube.machinery.errors import InternalError

ENOUGH = 64 * 1024
"""Bytes that wait for the client from which it counts as behind."""

_NO_BODY = frozenset((204, 304))

Fields = list[tuple[bytes, bytes]]


class Streams(Protocol):
    """The connection, as its streams see it."""

    service: Service

    def send_head(self, stream: ServerStream, fields: Fields, *, end: bool) -> None:
        """Send the head of an answer."""

    def send_at_once(self, stream: ServerStream, piece: bytes) -> bool:
        """Send a piece of a stream in which nothing waits; tell False where it has to wait for its turn."""

    def send_soon(self, stream: ServerStream, added: int) -> None:
        """Send what waits in a stream, to which so many bytes were added, in its turn."""

    def reset(self, stream: ServerStream, code: ErrorCodes) -> None:
        """End a stream before its time."""

    def work_ended(self) -> None:
        """A request that was handed on has come back."""

    def go_away(self) -> None:
        """Ask the client to connect anew for its next request."""


class ServerStream:
    """A request and its answer; implements `serving.service.Connected` and `serving.connection.Connection`.

    Attributes:
        incoming: the request; None once its answer has been begun.
        reading: the same, while the client still sends its body.
        body: what has come of an ordinary request's body.
        body_bytes: its length.
        untaken: bytes of a long-running request's body that were not taken yet.
        waiting: bytes that wait for the client.
        ending: no more is added behind what waits.
        finite: the body that grows ends by itself.
        is_last: the client is asked to connect anew behind its answer.
        blocked: the client has closed this stream's window.
        queued: it waits for its turn to send.
        over: it has ended; nothing is sent any more.
    """

    __slots__ = (
        "_connection", "_parts", "_source", "blocked", "body", "body_bytes", "ending", "finite", "has_length",
        "head_only", "incoming", "is_last", "number", "over", "queued", "reading", "service", "since",
        "untaken", "waiting",
    )  # fmt: skip

    def __init__(self, connection: Streams, number: int) -> None:
        self._connection = connection
        self.service = connection.service
        self.number = number
        self.incoming: Incoming | None = None
        self.reading: Incoming | None = None
        self.body: list[bytes] | None = None
        self.body_bytes = self.untaken = 0
        self.is_last = self.head_only = self.has_length = self.ending = self.blocked = self.queued = self.over = False
        self.finite = False
        self.since = connection.service.now
        self.waiting = 0
        self._parts: deque[bytes | memoryview] | None = None
        self._source: Body | None = None

    # as the service sees it

    @property
    def occupation(self) -> str:
        """``busy`` with a request, or with a ``stream``."""
        return STREAM if self.incoming is None and not self.finite else BUSY

    def deliver(self, incoming: Incoming, answer: Answer) -> None:
        """Send the answer to the request, which has been worked on."""
        self._connection.work_ended()
        self.answer(incoming, answer)

    def answer(self, incoming: Incoming, answer: Answer) -> None:
        """Send an answer, unless there is one already or the client has gone."""
        if incoming.answered or self.over:
            discard(answer)
            return
        incoming.answered = True
        if self.service.draining:
            self._connection.go_away()
        if isinstance(answer, Response):
            self.respond(answer)
        elif isinstance(answer, StreamResponse):
            self._stream(incoming, answer)
        else:
            from hyperkube_lib.serving.takeover import take_over

            take_over(self, incoming, answer)

    def tick(self, now: float) -> bool:
        """Enforce the timeouts; tell whether the next second matters."""
        limits, incoming = self.service.limits, self.incoming
        if self.waiting:
            if now - self.since > limits.stall_timeout:
                self._connection.reset(self, ErrorCodes.CANCEL)
        elif incoming is None:
            return False
        elif incoming.request.budget is not None:
            if now >= incoming.deadline:
                incoming.request.budget.stop()
                self.answer(incoming, late(incoming.request))
            else:
                incoming.request.budget.check()
        elif (
            self.reading is incoming and incoming.body_stream is None and now - self.since > limits.request_timeout > 0
        ):
            self._connection.reset(self, ErrorCodes.CANCEL)  # its body does not come
        return not self.over

    def drain(self) -> None:
        """End the body that grows, if there is one that does not end by itself."""
        if self.finite:
            return
        source, self._source = self._source, None
        if source is not None:
            source.stop()
            self.end_body(broken=self.has_length)

    def abort(self) -> None:
        """End the stream at once."""
        self._connection.reset(self, ErrorCodes.CANCEL)

    # as a sink of bodies

    @property
    def writable(self) -> bool:
        """False while the client is behind."""
        return self.waiting < ENOUGH

    def respond(self, response: Response) -> None:
        """Send a whole answer."""
        if closes(response.headers):
            self._connection.go_away()
        has_body = response.status not in _NO_BODY
        length = len(response.body) if has_body else None
        date = self.service.loop.date()
        try:
            fields = answer_fields(response.status, response.headers, date, length=length)
        except BadHeader as error:
            self.service.logger.error("%s", error)  # noqa: TRY400  no bug of the edge's
            response = refusal(InternalError.because(error))
            fields = answer_fields(response.status, response.headers, date, length=len(response.body))
        body = response.body if has_body and not self.head_only else b""
        self._begin_answer()
        self.reading = None
        self.ending = True
        self._connection.send_head(self, fields, end=not body)
        if body:
            self._add((body,), len(body))

    def _stream(self, incoming: Incoming, answer: StreamResponse) -> None:
        if not self.open_body(incoming, answer.status, answer.headers, length=None):
            answer.source.close()
        elif self.head_only:
            answer.source.close()
            self.end_body(broken=False)
        else:
            loop, logger = self.service.loop, self.service.logger
            writer = BodyWriter(answer.source, self, loop=loop, logger=logger, gives_way=answer.finite)
            self._source, self.finite = writer, answer.finite
            writer.start()

    def attach(self, body: Body) -> None:
        """Tell `body` when the client has caught up or gone away."""
        self._source = body

    def open_body(self, incoming: Incoming, status: int, headers: list[tuple[str, str]], *, length: int | None) -> bool:
        """Begin an answer whose body comes in pieces; tell False when its headers had to be refused."""
        incoming.answered = True
        try:
            fields = answer_fields(status, headers, self.service.loop.date(), length=length)
        except BadHeader as error:
            self.respond(refusal(InternalError.because(error)))
            return False
        if closes(headers):
            self._connection.go_away()
        self.has_length = length is not None
        self._begin_answer()
        self._connection.send_head(self, fields, end=False)
        return True

    def send_chunks(self, chunks: Sequence[bytes]) -> None:
        """Send a piece of the body that grows."""
        if self.over or self.head_only:
            return
        piece = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        if piece and (self.waiting or not self._connection.send_at_once(self, piece)):
            self._add((piece,), len(piece))

    def end_body(self, *, broken: bool) -> None:
        """End the body that grew: properly, or so that the client sees it broke off."""
        self._source = None
        if broken:
            self._connection.reset(self, ErrorCodes.INTERNAL_ERROR)
        elif not self.over:
            self.ending = True
            self._connection.send_soon(self, 0)

    def refuse_upgrade(self, incoming: Incoming, answer: Response) -> None:
        """Answer plainly instead of relaying."""
        self._source = None
        if not self.over:
            self.respond(answer)

    def release(self, successor: asyncio.Protocol) -> tuple[asyncio.Transport, bytes]:
        """Refuse: a stream is no connection to be taken over.

        Raises:
            ConnectionError: always.
        """
        raise ConnectionError(f"{type(successor).__name__} cannot take over a stream of HTTP/2")

    # what waits

    def _begin_answer(self) -> None:
        """Forget the request: what is open for hours keeps as little as it can."""
        self.incoming = self.body = None
        self.since = self.service.now

    def _add(self, parts: Sequence[bytes], size: int) -> None:
        if self._parts is None:
            self._parts = deque()
        if not self.waiting:
            self.since = self.service.now
        self._parts.extend(parts)
        self.waiting += size
        self._connection.send_soon(self, size)

    def take(self, room: int) -> bytes | memoryview:
        """Return the next bytes that wait, at most so many."""
        parts, taken, left = self._parts, list[bytes | memoryview](), room
        while parts and left:
            part = parts.popleft()
            if len(part) > left:
                view = memoryview(part)
                parts.appendleft(view[left:])
                part = view[:left]
            taken.append(part)
            left -= len(part)
        if not parts:
            self._parts = None
        self.waiting -= room - left
        self.since = self.service.now
        return taken[0] if len(taken) == 1 else b"".join(taken)

    def caught_up(self) -> None:
        """Less waits than before."""
        if self._source is not None and self.writable:
            self._source.resume()

    def end(self) -> int:
        """Let go of everything: the stream has ended, or the connection; return the bytes that are not sent."""
        if self.over:
            return 0
        self.over = True
        source, self._source = self._source, None
        if source is not None:
            source.stop()
        if self.reading is not None and self.reading.body_stream is not None:
            self.reading.body_stream.lost()
        self.incoming = self.reading = self.body = self._parts = None
        waiting, self.waiting = self.waiting, 0
        return waiting
