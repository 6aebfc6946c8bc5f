"""HTTP/1.1 for a load: as little as it takes, for what the load computes is taken from the servers that it measures.

A request over aiohttp costs its client three times the processor time of this, more than the server's answer. What is
needed is less: bodies in one piece, answers of known length or in chunks, one request at a time on a connection. The
moment of an answer is that at which its last byte was read, not when the one who waits for it gets to run.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httptools

KEEP_SECONDS = 60.0
"""How long an unused connection is kept; the API server keeps it for 90."""
CONNECT_SECONDS = 60.0

Take = Callable[[bytes], None]


class Lost(ConnectionError):
    """The connection was closed before the answer was complete, or could not be made."""


class Answer(NamedTuple):
    """A complete answer; `moment` is when it was read, on the machine's monotonic clock."""

    status: int
    body: bytes
    encoding: str
    moment: float


class Connection(asyncio.Protocol):
    """One connection; `free` is called with it when it can be used again."""

    def __init__(self, free: Callable[[Connection], None]) -> None:
        self.unused_since = 0.0
        self._free = free
        self._transport: asyncio.Transport | None = None
        self._parser: Any = None
        self._waiter: asyncio.Future[Answer] | None = None
        self._take: Take | None = None
        self._body: list[bytes] = []
        self._encoding = ""

    @property
    def is_open(self) -> bool:
        """Whether a request can be sent."""
        return self._transport is not None and not self._transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The server is there."""
        self._transport = transport  # type: ignore[assignment]  # uvloop's transports only look like it

    def connection_lost(self, exc: Exception | None) -> None:
        """The server is gone, or we have closed."""
        self._transport = None
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_exception(Lost(str(exc or "closed by the server")))

    def close(self) -> None:
        """Close it."""
        if self._transport is not None:
            self._transport.abort()

    def send(self, data: bytes, take: Take | None = None) -> asyncio.Future[Answer]:
        """Send a request; with `take` the pieces of a good answer's body are given to it as they come.

        Who gives up waiting leaves the connection to finish: the answer is read, and the next one may use it.
        """
        if self._transport is None:
            raise Lost("not connected")
        self._waiter = asyncio.get_running_loop().create_future()
        self._take, self._body, self._encoding = take, [], ""
        self._parser = httptools.HttpResponseParser(self)
        self._transport.write(data)
        return self._waiter

    def data_received(self, data: bytes) -> None:
        """Parse what came."""
        if self._parser is None:  # no answer was asked for
            self.close()
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserCallbackError:  # a bug of whom it was given to
            raise
        except httptools.HttpParserError:
            self.close()

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header line."""
        if name.lower() == b"content-encoding":
            self._encoding = value.decode()

    def on_body(self, body: bytes) -> None:
        """A piece of the body."""
        if self._take is not None and self._parser.get_status_code() == 200:
            self._take(body)
        else:
            self._body.append(body)

    def on_message_complete(self) -> None:
        """The answer is whole."""
        parser, waiter, self._waiter = self._parser, self._waiter, None
        answer = Answer(parser.get_status_code(), b"".join(self._body), self._encoding, time.monotonic())
        if not parser.should_keep_alive():
            self.close()
        self._take, self._body = None, []
        self._free(self)
        if waiter is not None and not waiter.done():
            waiter.set_result(answer)


class Connections:
    """Connections to the API servers, shared by all requests, watches included; `most` to each of them, 0 for any number.

    Several of these share the context `trust`.
    """

    def __init__(self, servers: list[str], trust: ssl.SSLContext, most: int = 0) -> None:
        self.servers = servers
        self._trust = trust
        self._most = most
        self._unused: dict[str, list[Connection]] = {server: [] for server in servers}
        self._open: dict[str, set[Connection]] = {server: set() for server in servers}
        self._coming: dict[str, int] = dict.fromkeys(servers, 0)
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {server: deque() for server in servers}

    async def connection(self, server: str) -> Connection:
        """Return a connection that is not in use: the one that was used last, or a new one.

        Raises:
            Lost: the server cannot be reached.
        """
        while True:
            unused = self._unused[server]
            while unused:
                found = unused.pop()
                if found.is_open and time.monotonic() - found.unused_since < KEEP_SECONDS:
                    return found
                self._forget(server, found)
            self._open[server] = {each for each in self._open[server] if each.is_open} if self._most else set()
            if not self._most or len(self._open[server]) + self._coming[server] < self._most:
                return await self._connect(server)
            turn = asyncio.get_running_loop().create_future()
            self._waiting[server].append(turn)
            await turn

    def _forget(self, server: str, connection: Connection) -> None:
        connection.close()
        self._open[server].discard(connection)

    async def _connect(self, server: str) -> Connection:
        parts = urlsplit(server)
        self._coming[server] += 1
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                _, made = await asyncio.get_running_loop().create_connection(
                    lambda: Connection(lambda connection: self._free(server, connection)),
                    parts.hostname, parts.port, ssl=self._trust,
                )  # fmt: skip
        except OSError as error:  # a timeout is one, too
            raise Lost(f"{server}: {error}") from error
        finally:
            self._coming[server] -= 1
        if self._most:
            self._open[server].add(made)
        return made

    def _free(self, server: str, connection: Connection) -> None:
        connection.unused_since = time.monotonic()
        if connection.is_open:
            self._unused[server].append(connection)
        waiting = self._waiting[server]
        while waiting:
            turn = waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return

    async def close(self) -> None:
        """Close those that are not in use; the others end with their tasks."""
        for unused in self._unused.values():
            for connection in unused:
                connection.close()
