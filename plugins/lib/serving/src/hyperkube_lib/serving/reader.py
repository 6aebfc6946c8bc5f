"""Reads the requests of one connection: the parser's callbacks, and the bounds on what a client may send.

The callbacks are called by httptools' C parser from inside `data_received`.
"""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import unquote

import httptools
from hyperkube_lib.serving.exchange import HttpRequest, Response
from hyperkube_lib.serving.request_body import RequestBody
from hyperkube_lib.serving.service import Incoming, Service
from hyperkube_lib.serving.wire import refusal, unknown_method

from hyperkube.machinery.errors import RequestEntityTooLarge

BODYLESS = frozenset(("GET", "HEAD"))
UPGRADES = frozenset(("websocket", "spdy/3.1"))
"""What a connection may be upgraded to; other offers (``h2c``) are passed over."""

_METHODS = {name.encode(): name for name in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")}
_MOST_NAMES = 512
"""Header names remembered in lower case, so that clients cannot fill the memory with made-up ones."""


class RequestReader(asyncio.Protocol):
    """Makes `Incoming` requests out of bytes; its heir answers them."""

    def __init__(self, service: Service, names: dict[bytes, str]) -> None:
        self.service = service
        self._loop = service.loop
        self._names = names
        self._parser: Any = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._certificate: tuple[bytes, ...] = ()
        self._peer: tuple[str, int] = ("", 0)
        self._secure = False
        self._url = b""
        self._method = ""
        self._headers: dict[str, str] = {}
        self._repeated: dict[str, list[str]] | None = None
        self._head_bytes = 0
        self._incoming: Incoming | None = None
        self._body: list[bytes] = []
        self._body_bytes = 0
        self._since = service.now
        self._reading = True
        self._deaf = False

    # what is done with it

    def _accept(self, incoming: Incoming) -> None:
        """A request is whole, or (long-running) its body follows."""
        raise NotImplementedError

    def _refuse(self, answer: Response) -> None:
        """What is being read cannot be accepted."""
        raise NotImplementedError

    def _invite(self) -> None:
        """The client waits for a word before it sends the body."""
        raise NotImplementedError

    # what the parser tells us

    def on_message_begin(self) -> None:
        """A request begins."""
        self._url = b""
        self._headers = {}
        self._repeated = None
        self._since = self.service.now

    def on_url(self, url: bytes) -> None:
        """The request target, perhaps in pieces."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header line."""
        names = self._names
        key = names.get(name)
        if key is None:
            key = name.decode("latin-1").lower()
            if len(names) < _MOST_NAMES:
                names[name] = key
        headers = self._headers
        if key in headers:
            if self._repeated is None:
                self._repeated = {}
            self._repeated.setdefault(key, [headers[key]]).append(value.decode("latin-1"))
            separator = "; " if key == "cookie" else ", "
            headers[key] = f"{headers[key]}{separator}{value.decode('latin-1')}"
        else:
            headers[key] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """The body follows, if any."""
        parser, headers = self._parser, self._headers
        url = self._url
        if not url.startswith(b"/") and url != b"*":
            url = _origin_form(url)
        raw, _, query = url.decode("latin-1").partition("?")
        method = self._method or _METHODS.get(parser.get_method()) or parser.get_method().decode("latin-1")
        self._method = ""
        request = HttpRequest(
            method=method,
            path=unquote(raw) if "%" in raw else raw,
            raw_path=raw,
            query_string=query,
            headers=headers,
            certificate=self._certificate,
            peer=self._peer,
            secure=self._secure,
            repeated=self._repeated,
        )
        incoming = Incoming(request, keep_alive=parser.should_keep_alive())
        incoming.http_1_0 = parser.get_http_version() == "1.0"
        incoming.gzip = "gzip" in headers.get("accept-encoding", "")
        if "upgrade" in headers and "upgrade" in headers.get("connection", "").lower():
            token = headers["upgrade"].strip().lower()
            incoming.upgrade = token if token in UPGRADES else ""
        self._incoming = incoming
        self._head_bytes = 0
        if method not in BODYLESS or "content-length" in headers or "transfer-encoding" in headers:
            self._expect_body(incoming)

    def on_body(self, body: bytes) -> None:
        """A piece of the body."""
        incoming = self._incoming
        if incoming is None or self._deaf:
            return
        if incoming.body_stream is not None:
            incoming.body_stream.put(body)
            return
        self._body_bytes += len(body)
        if self._body_bytes > self.service.limits.max_body:
            self._refuse_body()
        else:
            self._body.append(body)

    def on_message_complete(self) -> None:
        """The request is whole."""
        incoming, self._incoming = self._incoming, None
        self._head_bytes = 0
        if incoming is None or self._deaf:
            return
        if incoming.body_stream is not None:
            incoming.body_stream.finish()
            return
        if self._body:
            body = self._body
            incoming.request.body = body[0] if len(body) == 1 else b"".join(body)
            self._body = []
            self._body_bytes = 0
        self._accept(incoming)

    def _feed_unknown_method(self, data: bytes) -> bool:
        """Read a request whose method the parser does not know; tells whether that is what `data` begins with.

        The parser knows a fixed set of methods, HTTP any token: a new parser reads the request as a POST, and
        `on_headers_complete` puts the method in its place.

        Raises:
            HttpParserError: the rest is no request.
        """
        self._method = unknown_method(data)
        if not self._method:
            return False
        self._parser = httptools.HttpRequestParser(self)
        self._parser.feed_data(b"POST" + data[len(self._method) :])
        return True

    def _expect_body(self, incoming: Incoming) -> None:
        headers = self._headers
        try:
            length = int(headers.get("content-length", "0"))
        except ValueError:  # the parser has refused it already
            length = 0
        if not length and "transfer-encoding" not in headers:
            return
        incoming.long_running = self._is_long_running(incoming.request)
        if not incoming.long_running and length > self.service.limits.max_body:
            self._refuse_body()
            return
        if headers.get("expect", "").lower() == "100-continue":
            self._invite()
        if incoming.long_running:
            incoming.body_stream = RequestBody(pause=self._pause_reading, resume=self._resume_reading)
            self._accept(incoming)

    def _is_long_running(self, request: HttpRequest) -> bool:
        try:
            return self.service.handler.is_long_running(request)
        except Exception:
            self.service.logger.exception("cannot tell whether %s %s is long-running", request.method, request.path)
            return False

    def _refuse_body(self) -> None:
        limit = self.service.limits.max_body
        self._body.clear()
        self._refuse(refusal(RequestEntityTooLarge(f"Request entity too large: limit is {limit}")))

    # flow

    def _pause_reading(self) -> None:
        if self._reading and self._transport is not None:
            self._reading = False
            self._transport.pause_reading()

    def _resume_reading(self) -> None:
        if not self._reading and self._transport is not None:
            self._reading = True
            self._transport.resume_reading()


def _origin_form(url: bytes) -> bytes:
    """Return path and query of an absolute request target, as sent to proxies."""
    try:
        parsed = httptools.parse_url(url)
    except httptools.HttpParserInvalidURLError:
        return b"/"
    return (parsed.path or b"/") + (b"?" + parsed.query if parsed.query else b"")
