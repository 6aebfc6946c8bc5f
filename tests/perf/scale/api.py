"""A small asynchronous client of the API: each answer's latency is kept under verb, resource and scope."""

from __future__ import annotations

import asyncio
import gzip
import random
import ssl
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

import orjson

from scale.http_connections import Answer, Connections
from scale.samples import Samples
from scale.streams import Streams

STRATEGIC_MERGE = "application/strategic-merge-patch+json"
MERGE = "application/merge-patch+json"
WATCH_SECONDS = (300, 600)
"""Clients end a watch after a time between these, and begin another one. Source: client-go ``tools/cache/reflector.go``."""
RETRY_SECONDS = 1.0
_GONE = 410
_ERROR = b'{"type":"ERROR"'


class Refused(Exception):
    """The API server answered with an error."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text}")
        self.status = status


def trusting() -> ssl.SSLContext:
    """Return a context that believes every server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class Api:
    """The API as one user sees it, from one of the API servers."""

    def __init__(self, connections: Connections, token: str, samples: Samples, server: int = 0) -> None:
        self._connections = connections
        self._streams: Streams | None = None
        self._server = connections.servers[server % len(connections.servers)]
        self._head = (
            f"Host: {urlsplit(self._server).netloc}\r\nAuthorization: Bearer {token}\r\n"
            "User-Agent: hollow-node\r\nAccept: application/json\r\nAccept-Encoding: gzip\r\n"
        )
        self._fields = {"authorization": f"Bearer {token}", "user-agent": "hollow-node", "accept": "application/json"}
        self.samples = samples

    def watch_on_streams(self, trust: ssl.SSLContext) -> None:
        """Have all watches share one connection of HTTP/2; `trust` offers nothing else."""
        self._streams = Streams(self._server, trust)

    async def call(self, kind: str, method: str, path: str, body: Any = None, media: str = "application/json") -> Any:
        """Send a request and return the answer as an object; `kind` names its latency.

        Raises:
            Refused: the answer is an error.
            Lost: there is no answer.
        """
        answer = await self._answer(kind, method, path, body, media)
        return orjson.loads(gzip.decompress(answer.body) if answer.encoding == "gzip" else answer.body)

    async def bytes_of(
        self, kind: str, method: str, path: str, body: Any = None, media: str = "application/json"
    ) -> bytes:
        """Send a request and return the answer as it came, compressed or not; see `call`."""
        return (await self._answer(kind, method, path, body, media)).body

    async def _answer(self, kind: str, method: str, path: str, body: Any, media: str) -> Answer:
        data = b"" if body is None else orjson.dumps(body)
        head = f"{method} {path} HTTP/1.1\r\n{self._head}"
        if data:
            head = f"{head}Content-Type: {media}\r\nContent-Length: {len(data)}\r\n"
        began = time.monotonic()
        connection = await self._connections.connection(self._server)
        answer = await connection.send(head.encode() + b"\r\n" + data)
        seconds = answer.moment - began
        if answer.status >= 400:
            self.samples.add(f"error {answer.status} {kind}", seconds, answer.moment)
            raise Refused(answer.status, answer.body[:300].decode(errors="replace"))
        self.samples.add(kind, seconds, answer.moment)
        return answer

    async def watch(
        self, path: str, parameters: Mapping[str, str] | None = None, take: Callable[[bytes], None] | None = None
    ) -> None:
        """Give each event of a watch that begins with what is there to `take`, line by line, without end.

        A watch that ends goes on from its last bookmark or event, one that is told that its version is gone begins
        again.
        """
        version = ""
        while True:
            asked = {"watch": "1", "allowWatchBookmarks": "true", **(parameters or {})}
            asked["timeoutSeconds"] = str(random.randint(*WATCH_SECONDS))
            if version:
                asked["resourceVersion"] = version
            else:
                asked |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
            lines = Lines(take, version)
            connection = None
            try:
                target = f"{path}?{urlencode(asked)}"
                if self._streams is not None:
                    status = await self._streams.follow(target, self._fields, lines.feed)
                else:
                    connection = await self._connections.connection(self._server)
                    head = f"GET {target} HTTP/1.1\r\n{self._head}\r\n"
                    status = (await connection.send(head.encode(), lines.feed)).status
                version = lines.version
                if status != 200:
                    self.samples.add(f"error {status} WATCH", 0.0)
                    version = "" if status == _GONE else version
                    await asyncio.sleep(RETRY_SECONDS)
            except ConnectionError:
                version = lines.version
                self.samples.add("error connection WATCH", 0.0)
                await asyncio.sleep(RETRY_SECONDS)
            except asyncio.CancelledError:
                if connection is not None:
                    connection.close()  # a watch would not end by itself
                raise


class Lines:
    """Takes the body of a watch apart; `version` is that of the last event, empty after an error."""

    def __init__(self, take: Callable[[bytes], None] | None, version: str) -> None:
        self.version = version
        self._take = take
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Take a piece of the body."""
        *lines, self._rest = (self._rest + data if self._rest else data).split(b"\n")
        if not lines:
            return
        if self._take is not None:
            for line in lines:
                if not line.startswith(_ERROR):
                    self._take(line)
        self.version = "" if lines[-1].startswith(_ERROR) else version_of(lines[-1]) or self.version


_VERSION = b'"resourceVersion":"'


def version_of(line: bytes) -> str:
    """Return the resourceVersion of an event's object without parsing it: the first one, which is the metadata's."""
    at = line.find(_VERSION)
    if at < 0:
        return ""
    begin = at + len(_VERSION)
    return line[begin : line.index(b'"', begin)].decode()
