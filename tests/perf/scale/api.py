"""A small asynchronous client of the API: each answer's latency is kept under verb, resource and scope."""

from __future__ import annotations

import asyncio
import random
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
import orjson

from scale.samples import Samples

STRATEGIC_MERGE = "application/strategic-merge-patch+json"
MERGE = "application/merge-patch+json"
WATCH_SECONDS = (300, 600)
"""Clients end a watch after a time between these, and begin another one. Source: client-go ``tools/cache/reflector.go``."""
RETRY_SECONDS = 1.0
_LINE_BYTES = 1 << 22
_GONE = 410


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


class Connections:
    """Connections to the API servers: requests share them, each watch has its own; `most` 0 is as many as are needed.

    Several of these share the context `trust`.
    """

    def __init__(self, servers: list[str], trust: ssl.SSLContext, most: int = 0) -> None:
        self.servers = servers
        self.session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=most, ssl=trust, keepalive_timeout=60),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=60),
            read_bufsize=_LINE_BYTES,
        )

    async def close(self) -> None:
        """Close all of them."""
        await self.session.close()


class Api:
    """The API as one user sees it, from one of the API servers."""

    def __init__(self, connections: Connections, token: str, samples: Samples, server: int = 0) -> None:
        self._session = connections.session
        self._base = connections.servers[server % len(connections.servers)]
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self.samples = samples

    async def call(self, kind: str, method: str, path: str, body: Any = None, media: str = "application/json") -> Any:
        """Send a request and return the answer as an object; `kind` names its latency.

        Raises:
            Refused: the answer is an error.
            aiohttp.ClientError: there is no answer.
        """
        return orjson.loads(await self.bytes_of(kind, method, path, body, media))

    async def bytes_of(
        self, kind: str, method: str, path: str, body: Any = None, media: str = "application/json"
    ) -> bytes:
        """Send a request and return the answer as it came; see `call`."""
        headers, data = self._headers, None
        if body is not None:
            headers, data = {**headers, "Content-Type": media}, orjson.dumps(body)
        began = time.monotonic()
        async with self._session.request(method, self._base + path, headers=headers, data=data) as answer:
            content = await answer.read()
        if answer.status >= 400:
            self.samples.add(f"error {answer.status} {kind}", time.monotonic() - began)
            raise Refused(answer.status, content[:300].decode(errors="replace"))
        self.samples.add(kind, time.monotonic() - began)
        return content

    async def watch(self, path: str, parameters: Mapping[str, str] | None = None) -> AsyncIterator[bytes]:
        """Yield the events of a watch that begins with what is there, line by line, without end.

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
            try:
                async with self._session.get(self._base + path, params=asked, headers=self._headers) as answer:
                    if answer.status != 200:
                        self.samples.add(f"error {answer.status} WATCH", 0.0)
                        version = "" if answer.status == _GONE else version
                        await asyncio.sleep(RETRY_SECONDS)
                        continue
                    async for line in answer.content:
                        if line.startswith(b'{"type":"ERROR"'):
                            version = ""
                            break
                        version = version_of(line) or version
                        yield line
            except (aiohttp.ClientError, ConnectionError):
                self.samples.add("error connection WATCH", 0.0)
                await asyncio.sleep(RETRY_SECONDS)


_VERSION = b'"resourceVersion":"'


def version_of(line: bytes) -> str:
    """Return the resourceVersion of an event's object without parsing it: the first one, which is the metadata's."""
    at = line.find(_VERSION)
    if at < 0:
        return ""
    begin = at + len(_VERSION)
    return line[begin : line.index(b'"', begin)].decode()
