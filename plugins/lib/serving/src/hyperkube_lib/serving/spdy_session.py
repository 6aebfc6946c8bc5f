"""One SPDY/3.1 connection's streams: who opened what, who may send how much, what is closed.

Flow control is only half alive in the field: the library that kubectl and the Go clients use neither sends nor obeys
window updates. So ours are always sent, and the peer's are obeyed from the first one that it sends.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from hyperkube_lib.serving.flow import Inbox
from hyperkube_lib.serving.service import Service
from hyperkube_lib.serving.spdy import (
    INITIAL_WINDOW,
    LONGEST_DATA,
    REFUSED_STREAM,
    SETTING_INITIAL_WINDOW,
    Data,
    Frame,
    GoAway,
    Ping,
    Reset,
    Settings,
    SpdyBroken,
    SpdyCodec,
    SynReply,
    SynStream,
    WindowUpdate,
)
from hyperkube_lib.serving.upgraded import FRAMES_PER_TURN, ByteLink

MOST_STREAMS = 4096
"""That a client may have open at once: a forwarded connection has two."""


class SpdyStream:
    """One stream that the client opened. `read` and `write` on any thread."""

    def __init__(self, session: SpdySession, number: int, headers: Mapping[str, str]) -> None:
        self.number = number
        self.headers = headers
        self.inbox = Inbox(self._took)
        self.pending: deque[Data] = deque()
        """Frames that wait for the peer's window; on the loop only."""
        self.window = session.initial_window
        self.we_ended = False
        self.they_ended = False
        self.reset = False
        self._session = session
        self._consumed = 0

    def read(self) -> bytes:
        """Return the client's next bytes, or nothing at its end."""
        return self.inbox.read()

    def write(self, data: bytes) -> None:
        """Send bytes; blocks while the client is slow.

        Raises:
            ConnectionError: the client is gone, or has given this stream up.
        """
        if self.reset:
            raise ConnectionError("the client has closed the stream")
        for start in range(0, len(data), LONGEST_DATA):
            part = data[start : start + LONGEST_DATA]
            self._session.write(self, part)

    def finish(self) -> None:
        """End our direction; idempotent, from any thread."""
        self._session.post(self._session.end_stream, self)

    def abort(self) -> None:
        """End both directions; idempotent, from any thread."""
        self._session.post(self._session.reset_stream, self)

    def _took(self, size: int) -> None:
        self._session.link.took(size)
        self._consumed += size
        if self._consumed >= INITIAL_WINDOW // 2:
            grant, self._consumed = self._consumed, 0
            self._session.post(self._session.grant, self, grant)


class SpdySession:
    """The server's side of a connection; a `Listener` of the link that carries it."""

    def __init__(
        self,
        link: ByteLink,
        service: Service,
        *,
        opened: Callable[[SpdyStream], None],
        ended: Callable[[], None],
    ) -> None:
        """Take a link over.

        Args:
            link: carries the bytes.
            service: for its loop and logger.
            opened: called on the loop for each stream the client opens.
            ended: called on the loop once, when the connection is gone.
        """
        self.link = link
        self.initial_window = INITIAL_WINDOW
        self._service = service
        self._codec = SpdyCodec()
        self._opened = opened
        self._ended = ended
        self._streams: dict[int, SpdyStream] = {}
        self._last = 0
        self._window = INITIAL_WINDOW
        self._peer_grants = False
        self._closing = False
        self._gone = False
        self._unhandled: deque[bytes] = deque()
        self._frames: Iterator[Frame] | None = None
        self._room = threading.Condition()

    # from any thread

    def post(self, call: Callable[..., object], *args: object) -> None:
        """Make a call on the loop."""
        self._service.loop.post(call, *args)

    def write(self, stream: SpdyStream, data: bytes) -> None:
        """Send one frame's worth of bytes on a stream."""
        with self._room:
            while len(stream.pending) > 8 and not (stream.reset or self._gone):
                self._room.wait()
        self.link.outflow.write(len(data), self._send_data, stream, Data(stream.number, data))

    # on the loop

    def received(self, data: bytes) -> None:
        """Handle the frames that came; only what waits in an inbox stays counted as unread."""
        self._unhandled.append(data)
        if self._frames is None:
            self._frames = self._incoming()
            self._take_turn()

    def _incoming(self) -> Iterator[Frame]:
        """Yield the frames of all that came; what was handled is not counted as unread any more."""
        while self._unhandled:
            data = self._unhandled.popleft()
            yield from self._codec.decode(data)
            self.link.took(len(data))

    def _take_turn(self) -> None:
        """Handle some frames; more of them wait for the loop's next turn."""
        frames = self._frames
        if frames is None or self._gone:
            return
        count = 0
        try:
            for count, frame in enumerate(islice(frames, FRAMES_PER_TURN), 1):  # noqa: B007  how many, afterwards
                self._handle(frame)
        except SpdyBroken as error:
            self._service.logger.debug("SPDY client breaks the protocol: %s", error)
            self._send(GoAway(self._last, 1))
            self.link.finish()
            return
        if count == FRAMES_PER_TURN:
            self._service.loop.asyncio.call_soon(self._take_turn)
        else:
            self._frames = None

    def ended(self) -> None:
        """The connection is gone."""
        with self._room:
            self._gone = True
            self._room.notify_all()
        for stream in self._streams.values():
            stream.reset = True
            stream.inbox.end()
        self._streams.clear()
        self._ended()

    def close(self) -> None:
        """End all streams and the connection, after what is written."""
        if self._closing or self._gone:
            return
        for stream in list(self._streams.values()):
            self.end_stream(stream)
        self._closing = True
        self._finish_when_sent()

    def _finish_when_sent(self) -> None:
        if not any(stream.pending for stream in self._streams.values()):
            self._closing = False
            self._send(GoAway(self._last))
            self.link.finish()

    def end_stream(self, stream: SpdyStream) -> None:
        """Send the end of our direction, after what waits."""
        if not (stream.we_ended or stream.reset):
            stream.we_ended = True
            self._send_data(stream, Data(stream.number, b"", fin=True))

    def reset_stream(self, stream: SpdyStream) -> None:
        """End both directions at once."""
        if stream.number in self._streams:
            self._send(Reset(stream.number))
            self._abandon(self._streams.pop(stream.number))

    def grant(self, stream: SpdyStream, size: int) -> None:
        """Let the client send more."""
        if stream.number in self._streams and not stream.they_ended:
            self._send(WindowUpdate(stream.number, size))
        self._send(WindowUpdate(0, size))

    def _send(self, frame: Frame) -> None:
        self.link.send(self._codec.encode(frame))

    def _reply(self, frame: Frame) -> None:
        self.link.reply(self._codec.encode(frame))

    def _send_data(self, stream: SpdyStream, frame: Data) -> None:
        if stream.reset:
            return
        stream.pending.append(frame)
        self._flush(stream)

    def _flush(self, stream: SpdyStream) -> None:
        pending = stream.pending
        while pending:
            frame = pending.popleft()
            size = len(frame.payload)
            room = min(stream.window, self._window) if self._peer_grants else size
            if size > room:
                if room <= 0:
                    pending.appendleft(frame)
                    return
                pending.appendleft(Data(frame.stream, frame.payload[room:], frame.fin))
                frame, size = Data(frame.stream, frame.payload[:room]), room
            stream.window -= size
            self._window -= size
            self._send(frame)
            if frame.fin and stream.they_ended:
                self._streams.pop(stream.number, None)
        with self._room:
            self._room.notify_all()
        if self._closing:
            self._finish_when_sent()

    def _handle(self, frame: Frame) -> None:
        if isinstance(frame, Data):
            self._data(frame)
        elif isinstance(frame, SynStream):
            self._open(frame)
        elif isinstance(frame, SynReply):
            self._more_headers(frame)
        elif isinstance(frame, Reset):
            self._abandon(self._streams.pop(frame.stream, None))
        elif isinstance(frame, Ping):
            self._reply(frame)  # we send none of our own, so it is always theirs
        elif isinstance(frame, Settings):
            self._settings(frame)
        elif isinstance(frame, WindowUpdate):
            self._granted(frame)

    def _open(self, frame: SynStream) -> None:
        if frame.stream % 2 == 0 or frame.stream <= self._last:
            self._reply(Reset(frame.stream, 1))
            return
        self._last = frame.stream
        if len(self._streams) >= MOST_STREAMS:
            self._reply(Reset(frame.stream, REFUSED_STREAM))
            return
        stream = SpdyStream(self, frame.stream, frame.headers)
        self._streams[frame.stream] = stream
        self._reply(SynReply(frame.stream))
        if frame.fin:
            self._they_end(stream)
        self._opened(stream)

    def _data(self, frame: Data) -> None:
        stream = self._streams.get(frame.stream)
        if stream is None or stream.they_ended:
            if frame.payload:
                self._reply(WindowUpdate(0, len(frame.payload)))
            return
        if frame.payload:
            self.link.arrived(len(frame.payload))
            stream.inbox.put(frame.payload)
        if frame.fin:
            self._they_end(stream)

    def _they_end(self, stream: SpdyStream) -> None:
        stream.they_ended = True
        stream.inbox.end()
        if stream.we_ended and not stream.pending:
            self._streams.pop(stream.number, None)

    def _more_headers(self, frame: SynReply) -> None:
        stream = self._streams.get(frame.stream)
        if stream is not None and frame.fin:
            self._they_end(stream)

    def _abandon(self, stream: SpdyStream | None) -> None:
        if stream is None:
            return
        with self._room:
            stream.reset = True
            stream.pending.clear()
            self._room.notify_all()
        stream.inbox.end()

    def _settings(self, frame: Settings) -> None:
        window = frame.values.get(SETTING_INITIAL_WINDOW)
        if window is None:
            return
        change, self.initial_window = window - self.initial_window, window
        for stream in self._streams.values():
            stream.window += change

    def _granted(self, frame: WindowUpdate) -> None:
        self._peer_grants = True
        if frame.stream == 0:
            self._window += frame.delta
            for stream in [each for each in self._streams.values() if each.pending]:
                self._flush(stream)
            return
        granted = self._streams.get(frame.stream)
        if granted is not None:
            granted.window += frame.delta
            self._flush(granted)
