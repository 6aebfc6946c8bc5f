"""Sends what the streams of a connection have: by turns, in pieces, within the windows that the client opens."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from contextlib import suppress
from struct import Struct

from h2.errors import ErrorCodes
from h2.exceptions import ProtocolError
from hyperframe.frame import GoAwayFrame
from hyperkube_lib.http2.bounds import Bounds
from hyperkube_lib.http2.request_head import KnownFields
from hyperkube_lib.http2.request_streams import RequestStreams
from hyperkube_lib.http2.server_stream import Fields, ServerStream
from hyperkube_lib.serving.service import Service

_PIECE = 16 * 1024 - 64
"""Bytes of a stream that are sent at a time, and written together: with their frame they fill one TLS record."""

_FRAME = Struct(">IBI").pack
"""The head of a DATA frame: its length and type (0), its flags, its stream (RFC 9113 section 4.1)."""

_LINGER = 2.0
"""Seconds for which a refused body is still read, so that the client gets to see the refusal."""


class AnswerStreams(RequestStreams):
    """The sending half of a connection.

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
        super().__init__(service, known, certificate=certificate, peer=peer, max_streams=bounds.max_streams)
        self._bounds = bounds
        self._transport: asyncio.Transport | None = None
        self._writable = True
        self._since = service.now
        self._out: list[bytes | memoryview] = []
        self._ready: deque[ServerStream] = deque()
        self._unsent = self._gathered = 0
        self._reading = self._pumping = self._leaving = False

    # what its heir does

    def start_held(self) -> None:
        """Take up requests that have waited for room."""
        raise NotImplementedError

    def close(self) -> None:
        """Close once what waits is sent."""
        raise NotImplementedError

    # what streams send

    def send_head(self, stream: ServerStream, fields: Fields, *, end: bool) -> None:
        """Send the head of an answer."""
        try:
            self.h2.send_headers(stream.number, fields, end_stream=end)
        except ProtocolError:  # reset within what was read last
            self.forget(stream)
            return
        if stream.is_last or self._parts_here(fields):
            self.go_away()
        if end:
            self._finished(stream)
        self._pump_soon()

    def _parts_here(self, fields: Fields) -> bool:
        """Tell whether the client is to connect anew behind this answer."""
        chance = self._bounds.goaway_chance
        if chance and random.random() < chance:  # noqa: S311  spreads load, no secret
            return True
        return not self._bounds.keeps_strangers and fields[0][1] == b"401"

    def send_at_once(self, stream: ServerStream, piece: bytes) -> bool:
        """Send a piece of a stream in which nothing waits; tell False where it has to wait for its turn.

        It is so where others do, where the client is behind, and where it has not opened its windows as far.
        """
        h2, number, size = self.h2, stream.number, len(piece)
        flow = h2.streams.get(number)
        if (
            flow is None
            or size > _PIECE
            or size > flow.outbound_flow_control_window
            or size > h2.outbound_flow_control_window
            or self._ready
            or not self._writable
        ):
            return False
        self._write_data(number, piece)
        self._gathered += size
        if self._gathered >= _PIECE:
            self._flush()
        self.count_sent(size, is_all=True)
        self._pump_soon()
        return True

    def send_soon(self, stream: ServerStream, added: int) -> None:
        """Send what waits in a stream, to which so many bytes were added, in its turn."""
        self._unsent += added
        self.service.watched.add(stream)
        if not stream.queued and not stream.blocked:
            stream.queued = True
            self._ready.append(stream)
        self._pump_soon()

    def window_opened(self, stream: ServerStream) -> None:
        """The client takes more of a stream."""
        if stream.blocked:
            stream.blocked = False
            self.send_soon(stream, 0)

    def watch_time(self, stream: ServerStream) -> None:
        """Have the stream's `ServerStream.tick` called."""
        self.service.watched.add(stream)

    def _pump_soon(self) -> None:
        """Send behind what the loop is about: what several streams have by then goes out together."""
        if not self._pumping and not self._reading and self._transport is not None:
            self._pumping = True
            self.service.loop.behind(self._pump)

    def _pump(self) -> None:
        """Send a piece of each stream that has something, by turns, while the client keeps up."""
        self._pumping = False
        if self._transport is None:
            return
        ready, written, passed_over = self._ready, 0, 0
        while passed_over < len(ready) and self._writable:
            stream = ready.popleft()
            stream.queued = False
            if stream.over:
                continue
            sent = self._send_piece(stream)
            if sent is None:  # the connection's window is closed, through which only ends of streams go
                stream.queued = True
                ready.append(stream)
                passed_over += 1
                continue
            passed_over = 0
            written += sent
            if written >= _PIECE:
                written = 0
                self._flush()
        self._say_goodbye()
        self.start_held()

    def _send_piece(self, stream: ServerStream) -> int | None:
        """Send the next piece of a stream; return its bytes, None when the connection's window is closed."""
        h2, before = self.h2, stream.waiting
        try:
            room = min(_PIECE, h2.max_outbound_frame_size, h2.local_flow_control_window(stream.number))
            if stream.waiting and room <= 0:
                stream.blocked = h2.outbound_flow_control_window > 0
                return 0 if stream.blocked else None
            data = stream.take(room)
            last = stream.ending and not stream.waiting
            if last:
                h2.send_data(stream.number, data, end_stream=True)
            elif data:
                self._write_data(stream.number, data)
            else:
                return 0
        except ProtocolError:  # reset within what was read last
            self._unsent -= before - stream.waiting
            self.forget(stream)
            return 0
        self._unsent -= len(data)
        self.count_sent(len(data), is_all=not stream.waiting)
        if last:
            self._finished(stream)
        elif stream.waiting:
            stream.queued = True
            self._ready.append(stream)
        else:
            self.service.watched.discard(stream)
        stream.caught_up()
        return len(data)

    def _write_data(self, number: int, data: bytes | memoryview) -> None:
        """Write a piece that is not the last one: most of what watches send, and it changes nothing but windows.

        The library would look at its states and settings for each, which costs ten times as much.
        """
        h2, size = self.h2, len(data)
        h2.streams[number].outbound_flow_control_window -= size
        h2.outbound_flow_control_window -= size
        self._out += (h2.data_to_send(), _FRAME(size << 8, 0, number), data)

    def _flush(self) -> None:
        """Write what was made, in its order."""
        out = self._out
        out.append(self.h2.data_to_send())
        if (data := b"".join(out)) and self._transport is not None:
            self._transport.write(data)
        out.clear()
        self._gathered = 0

    # ends

    def _finished(self, stream: ServerStream) -> None:
        """The answer is sent to its end."""
        if stream.number in self.unread:
            self.service.loop.asyncio.call_later(_LINGER, self._stop_reading, stream.number)
        self.forget(stream)

    def _stop_reading(self, number: int) -> None:
        """Tell the client that the rest of a body is not wanted; it has had time to see the answer."""
        if self._transport is not None:
            with suppress(ProtocolError):  # it has come to its end meanwhile
                self.h2.reset_stream(number, ErrorCodes.NO_ERROR)
            self._pump_soon()

    def reset(self, stream: ServerStream, code: ErrorCodes) -> None:
        """End a stream before its time."""
        if not stream.over:
            with suppress(ProtocolError):
                self.h2.reset_stream(stream.number, code)
            self.forget(stream)
            self._pump_soon()

    def forget(self, stream: ServerStream) -> None:
        """A stream has ended, one way or the other."""
        super().forget(stream)
        self._unsent -= stream.end()
        self.service.watched.discard(stream)
        self._since = self.service.now
        if self._leaving and not self.streams:
            self.service.loop.asyncio.call_soon(self.close)

    def go_away(self) -> None:
        """Ask the client to connect anew for its next request; what is under way goes on."""
        self._leaving = True
        self._pump_soon()

    def _say_goodbye(self) -> None:
        """Send the GOAWAY, behind what could be sent of the answers: some clients read no further."""
        self._flush()
        if self._leaving and not self.gone_away and self._transport is not None:
            self.gone_away = True
            # Not by the library, for which the connection would be at its end with that.
            frame = GoAwayFrame(0, last_stream_id=self.h2.highest_inbound_stream_id)
            self._transport.write(frame.serialize())
