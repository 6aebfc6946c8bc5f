"""A connection that has left HTTP: what WebSocket, SPDY and relays have in common."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Protocol

from hyperkube_lib.serving.exchange import Answer
from hyperkube_lib.serving.flow import IN_BOUND, Outflow
from hyperkube_lib.serving.service import STREAM, Incoming, Service, discard

FRAMES_PER_TURN = 256
"""Frames of one connection that are handled before the loop turns to others: a read holds thousands of empty ones."""

_MOST_REPLIES = 1 << 20
"""Bytes that may wait for a client that makes us reply (to pings, to new streams) and does not read the replies."""

LINGER = 2.0
"""Seconds that a finished connection waits for the client to close it: closing first could cost it the last bytes."""


class Listener(Protocol):
    """Who makes sense of an upgraded connection's bytes or messages; all on the loop."""

    def received(self, data: bytes) -> None:
        """Some came."""

    def ended(self) -> None:
        """No more will come, and nothing can be sent; called once."""


class ByteLink(Protocol):
    """A way to send bytes to the client: a bare connection, or one inside WebSocket messages."""

    outflow: Outflow

    def send(self, data: bytes) -> None:
        """Send bytes; on the loop."""

    def reply(self, data: bytes) -> None:
        """Send what a frame of the client calls for, unless it lets too many replies wait; on the loop."""

    def finish(self) -> None:
        """Flush and close; on the loop."""

    def arrived(self, size: int) -> None:
        """That many bytes wait for a reader; on the loop."""

    def took(self, size: int) -> None:
        """A reader has removed that many of the received bytes; from any thread."""


class Upgraded(asyncio.Protocol):
    """The bare connection after the upgrade."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.outflow = Outflow(service.loop)
        self.listener: Listener | None = None
        self._transport: asyncio.Transport | None = None
        self._unread = 0
        self._lock = threading.Lock()
        self._reading = True
        self.writable = True
        self.caught_up: Callable[[], None] | None = None
        """Called when the client, having been behind, has caught up."""
        self._finishing = False
        self._over = False
        self._stall: tuple[int, float] | None = None
        self._active_at = service.now

    def begin(self, transport: asyncio.Transport, greeting: bytes, early: bytes) -> None:
        """Take the transport over, send the greeting, and read what the client had sent ahead."""
        self._transport = transport
        self.service.join(self)
        if greeting:
            transport.write(greeting)
        if early:
            self.data_received(early)

    # what the transport tells us

    def data_received(self, data: bytes) -> None:
        """Count the bytes as unread and pass them on."""
        self.active()
        if self._finishing:
            return
        self.arrived(len(data))
        if self.listener is not None:
            self.listener.received(data)

    def active(self) -> None:
        """Note that the connection carries something: bytes for the client, or from it."""
        self._active_at = self.service.now

    def arrived(self, size: int) -> None:
        """Count bytes that wait for a reader, and pause the client when they are many."""
        with self._lock:
            self._unread += size
            full = self._unread > IN_BOUND
        if full:
            self._pause()

    @property
    def full(self) -> bool:
        """Whether so much waits for readers that no more is taken from the client."""
        with self._lock:
            return self._unread > IN_BOUND

    def _pause(self) -> None:
        if self._reading and self._transport is not None:
            self._reading = False
            self._transport.pause_reading()

    def took(self, size: int) -> None:
        """A reader has taken bytes; from any thread."""
        with self._lock:
            self._unread -= size
            wake = not self._reading and self._unread <= IN_BOUND // 2
        if wake:
            self.service.loop.post(self._read_on)

    def _read_on(self) -> None:
        if not self._reading and self._transport is not None:
            self._reading = True
            self._transport.resume_reading()

    def eof_received(self) -> bool | None:
        """The client sends no more."""
        return None

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._transport = None
        self.service.leave(self)
        self._end()

    def pause_writing(self) -> None:
        """The client is behind, or takes nothing more."""
        self.writable = False
        self._stall = (-1, self.service.now)
        if self._transport is not None and self._transport.is_closing():
            self.outflow.close()
        else:
            self.outflow.pause()

    def resume_writing(self) -> None:
        """The client has caught up."""
        self.writable = True
        self._stall = None
        self.outflow.resume()
        if self.caught_up is not None:
            self.caught_up()

    # what we do

    @property
    def unsent(self) -> int:
        """How many bytes wait for the client."""
        return self._transport.get_write_buffer_size() if self._transport is not None else 0

    def send(self, data: bytes) -> None:
        """Send bytes; on the loop."""
        if self._transport is not None and data:
            self.active()
            self._transport.write(data)

    def reply(self, data: bytes) -> None:
        """Send what a frame of the client calls for; a client that lets too many replies wait is cut off."""
        if not self.writable and self.unsent > _MOST_REPLIES:
            self.abort()
        else:
            self.send(data)

    def finish(self) -> None:
        """Send nothing more; give the client a little time to close first."""
        if self._finishing or self._transport is None:
            return
        self._finishing = True
        self._read_on()
        self.outflow.close()
        self._farewell()
        self.service.loop.asyncio.call_later(LINGER, self._close)

    def _farewell(self) -> None:
        """Tell the client that no more will come; what follows on its side is not read."""
        if self._transport is not None and self._transport.can_write_eof():
            self._transport.write_eof()

    def _close(self) -> None:
        if self._transport is not None:
            self.service.hang_up(self, self._transport)

    def _end(self) -> None:
        if not self._over:
            self._over = True
            self.outflow.close()
            if self.listener is not None:
                self.listener.ended()

    # what the service asks for

    def deliver(self, incoming: Incoming, answer: Answer) -> None:
        """No request of ours is under way any more."""
        discard(answer)

    @property
    def occupation(self) -> str:
        """Return ``stream``: it is one until it ends."""
        return STREAM

    def tick(self, now: float) -> bool:
        """Cut off a client that reads nothing; close a connection that has carried nothing for too long."""
        idle = self.service.limits.stream_idle_timeout
        if idle and now - self._active_at > idle:
            self.service.logger.info("an upgraded connection was idle for %.0f s: closed", idle)
            self.drain()
            return False
        if self._stall is not None:
            size, since = self._stall
            if self.unsent != size:
                self._stall = (self.unsent, now)
            elif now - since > self.service.limits.stall_timeout:
                self.abort()
        return True

    def drain(self) -> None:
        """The server closes."""
        self._close()

    def abort(self) -> None:
        """Close at once."""
        if self._transport is not None:
            self._transport.abort()


def serve_on_thread(service: Service, name: str, serve: Callable[[], None], close: Callable[[], None]) -> None:
    """Run a handler's session on a thread of its own and close the session after it."""

    def run() -> None:
        try:
            serve()
        except ConnectionError as error:
            service.logger.debug("%s: %s", name, error)
        except Exception:
            service.logger.exception("%s failed", name)
        finally:
            close()

    threading.Thread(target=run, name=name, daemon=True).start()
