"""How a connection ends: what is written on it, and when it is closed.

Requests may be pipelined, and what follows them on the connection may be broken. As with Go's server, the answers to
what came whole are sent first, in their order, then the refusal; then the connection is closed.
"""

from __future__ import annotations

from collections import deque

from hyperkube_lib.serving.exchange import Response
from hyperkube_lib.serving.pieces import PIECE, STREAM_PIECE, Pieces
from hyperkube_lib.serving.reader import RequestReader
from hyperkube_lib.serving.service import Incoming, Service
from hyperkube_lib.serving.wire import complete, plain

_BURST = 64 * 1024
"""Bytes of answers made in one read from which they are written at once."""

_LINGER = 2.0
"""Seconds for which a refused body is still read, so that the client gets to see the refusal."""


class ClosingReader(RequestReader):
    """A reader of requests that knows which are under way; writes, refuses and closes."""

    def __init__(self, service: Service, names: dict[bytes, str]) -> None:
        super().__init__(service, names)
        self._current: Incoming | None = None
        self._waiting: deque[Incoming] = deque()
        self._out: list[bytes] | None = None
        self._out_bytes = 0
        self._refusal: tuple[Response, bool] | None = None
        self._pieces: Pieces | None = None
        self.writable = True

    @property
    def _is_refused(self) -> bool:
        """Whether a refusal waits for the answers before it."""
        return self._refusal is not None

    def _write(self, data: bytes) -> None:
        if self._out is not None:
            self._out.append(data)
            self._out_bytes += len(data)
            # Written now, the transport tells a client that is behind; else a read full of requests for large answers
            # would be answered whole before it could.
            if self._out_bytes > _BURST:
                self._flush()
        else:
            self._send(data)

    def _send(self, data: bytes) -> None:
        """Hand bytes to the transport; over TLS in pieces, which wait here while the client is behind."""
        transport, pieces = self._transport, self._pieces
        if transport is None:
            return
        if pieces is None:
            # None is smaller than that one, and most answers and events are.
            if not self._secure or len(data) <= STREAM_PIECE or len(data) <= self._piece_bytes:
                transport.write(data)
                return
            pieces = self._pieces = Pieces()
        pieces.put(data, self._piece_bytes)
        self._send_pieces()

    @property
    def _piece_bytes(self) -> int:
        return PIECE

    def _send_pieces(self) -> None:
        """Send what waits until the client is behind again; it is told by `pause_writing` from inside a write.

        So there are pieces only while the client is behind, and nothing else is answered in that time.
        """
        pieces, transport = self._pieces, self._transport
        if pieces is None or transport is None:
            return
        while self.writable:
            piece = pieces.take()
            if piece is None:
                self._pieces = None
                if pieces.last:
                    self.service.hang_up(self, transport)
                return
            transport.write(piece)

    def _flush(self) -> None:
        """Write the answers made while reading."""
        out = self._out
        if out:
            self._out, self._out_bytes = [], 0
            self._send(out[0] if len(out) == 1 else b"".join(out))

    def _hang_up(self) -> None:
        """Close once all is written; nothing more is read."""
        self._deaf = True
        self._waiting.clear()
        self._flush()
        self._close()

    def _refuse(self, answer: Response, *, linger: bool = True) -> None:
        """Refuse what is being read, then close: what follows cannot be told apart from more of it.

        Requests before it are answered first. One whose body is being read while it is under way breaks off.
        """
        if self._deaf or self._transport is None:
            return
        self._deaf = True
        broken = self._incoming
        if broken is not None and broken.body_stream is not None:
            if broken is self._current:
                self._flush()
                self._end(linger=linger)
                return
            self._waiting.remove(broken)
            self._waiting = deque(each for each in self._waiting if each is not broken)
            broken.body_stream.lost()
        self._refusal = answer, linger
        self._refuse_in_turn()

    def _refuse_in_turn(self) -> None:
        """Send the refusal that waits, if there is one and nothing is before it."""
        if self._refusal is None or self._current is not None or self._waiting or self._transport is None:
            return
        (answer, linger), self._refusal = self._refusal, None
        self._write(complete(answer, self._loop.date(), close=True))
        self._flush()
        self._end(linger=linger)

    def _misread(self) -> None:
        if self._deaf or self._transport is None:
            return
        self.service.logger.debug("cannot understand what %s:%s sends", *self._peer)
        self._refuse(plain(400, "400 Bad Request"), linger=False)

    def _end(self, *, linger: bool) -> None:
        if linger:
            self._loop.asyncio.call_later(_LINGER, self._close)
        else:
            self._close()

    def _close(self) -> None:
        """Close once what waits is sent."""
        if self._pieces is not None:
            self._pieces.last = True
        elif self._transport is not None:
            self.service.hang_up(self, self._transport)

    def abort(self) -> None:
        """Close without sending what still waits."""
        self._pieces = None
        if self._transport is not None:
            self._transport.abort()
