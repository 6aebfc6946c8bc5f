"""Reads the requests of one connection: the parser's callbacks, and the bounds on what a client may send.

The callbacks are called by httptools' C parser from inside `data_received`.

What a client sends before it is known is bounded as Go bounds it: the head by its bytes and by its fields, the query by
its parameters, and in a chunked body all that is not body (chunk sizes, extensions, trailers). Trailers are read and
dropped: a field that comes after the body is no header, or it could name a user after the headers were checked.
"""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import unquote

import httptools
from hyperkube_lib.serving.exchange import HttpRequest, Response
from hyperkube_lib.serving.known_heads import LONGEST, Known
from hyperkube_lib.serving.request_body import RequestBody
from hyperkube_lib.serving.service import Incoming, Service
from hyperkube_lib.serving.wire import plain, refusal, unknown_method

from hyperkube.machinery.errors import RequestEntityTooLarge

BODYLESS = frozenset(("GET", "HEAD"))
VERSIONS = frozenset(("1.0", "1.1"))
UPGRADES = frozenset(("websocket", "spdy/3.1"))
"""What a connection may be upgraded to; other offers (``h2c``) are passed over."""

_METHODS = {name.encode(): name for name in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")}
_MOST_NAMES, _LONGEST_NAME = 512, 64
"""Header names remembered in lower case, so that clients cannot fill the memory with made-up ones."""

MOST_FIELDS = 10_000
"""Header fields that are repeated or of unusual names; more are refused, and cost no more than this many."""

MOST_PARAMETERS = 10_000
"""Parameters of a query; source: Go ``net/url`` (urlmaxqueryparams)."""

_PIECE = 256
"""Bytes that each piece of a head counts for beyond its own, as every piece has what came before it copied."""

_FRAMING = 16 * 1024
_FRAMING_PER_BYTE = 18
"""Bytes of a chunked body that may be none of the body: so many at once, and so many more with each byte of body.

Source: Go ``net/http/internal/chunked.go`` (16 bytes and twice the data per chunk, 16 KiB of excess).
"""


class Refused(Exception):
    """Raised by a callback to stop the parser: the connection has been answered."""


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
        self._url: bytes | bytearray = b""
        self._method = ""
        self._headers: dict[str, str] = {}
        self._repeated: dict[str, list[str]] | None = None
        self._unusual = 0
        self._head_bytes = 0
        self._framing_left = 0
        self._begun = 0
        self._incoming: Incoming | None = None
        self._body: list[bytes] = []
        self._body_bytes = 0
        self._since = service.now
        self._reading = True
        self._deaf = False
        self._read_last: Incoming | None = None
        self._longest = min(LONGEST, service.limits.max_head - _PIECE)

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

    def _upgraded(self, rest: memoryview) -> bool:
        """The parser stops after an upgrade request that `rest` follows; tells whether the connection leaves HTTP."""
        raise NotImplementedError

    def _misread(self) -> None:
        """What came is no request."""
        raise NotImplementedError

    def _read(self, data: bytes, *, at_rest: bool) -> None:
        """Parse what came; `at_rest` when no request is under way."""
        in_head = self._incoming is None
        # Between two requests the parser has no state, so that it may be passed over.
        is_fresh = at_rest and in_head and not self._head_bytes
        if is_fresh and (known := self.service.heads.find(data, self._longest)) is not None:
            again = self._again(known)
            if again is not None:
                self._since = self.service.now
                self._accept(again)
                return
        if in_head:
            self._head_bytes += len(data) + _PIECE
        else:
            self._framing_left -= len(data)
        self._begun = 0
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as why:
            self._go_on(data, why, in_head=in_head)
        if self._incoming is None:
            if self._head_bytes > self.service.limits.max_head:
                self._refuse(plain(431, "431 Request Header Fields Too Large"))
            elif is_fresh and self._begun == 1 and not self._head_bytes:
                self._learn(data)
        elif self._framing_left < 0:
            self._misread()
        self._read_last = None

    def _learn(self, data: bytes) -> None:
        """Remember the lines of a request that was all of `data`."""
        incoming = self._read_last
        if incoming is None:
            return
        request = incoming.request
        if request.repeated is None and len(data) <= self._longest + len(request.body):
            self.service.heads.learn(data, request.headers, gzip=incoming.gzip)

    def _again(self, known: Known) -> Incoming | None:
        """Return a request whose lines were read before; None if the parser has to see to its body."""
        target, head, headers, body = known
        request = HttpRequest(
            method=target.method,
            path=target.path,
            raw_path=target.raw_path,
            query_string=target.query,
            headers=headers,
            body=body,
            certificate=self._certificate,
            peer=self._peer,
            secure=self._secure,
            line=target,
            head=head,
        )
        long_running = target.long_running
        if long_running is None:
            long_running = target.long_running = self._is_long_running(request)
        if body and (long_running or len(body) > self.service.limits.max_body):
            return None
        return Incoming(request, gzip=head.gzip, long_running=long_running)

    def _go_on(self, data: bytes, why: Exception, *, in_head: bool) -> None:
        """Read on behind upgrade requests that are passed over, or an unknown method; refuse everything else."""
        rest = memoryview(data)  # so that a read full of upgrade requests is not copied once for each
        try:
            while isinstance(why, httptools.HttpParserUpgrade):
                rest = rest[why.args[0] :]
                if self._upgraded(rest):
                    return
                self._parser = httptools.HttpRequestParser(self)
                if not rest or self._deaf:
                    return
                try:
                    self._parser.feed_data(rest)
                except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
                    why = error
                else:
                    return
            # Only what stands first can be read once more: what came before it has been answered.
            is_first = isinstance(why, httptools.HttpParserInvalidMethodError) and in_head and self._begun == 1
            if is_first and self._feed_unknown_method(data):
                return
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._misread()
            return
        self._misread()

    # what the parser tells us

    def on_message_begin(self) -> None:
        """A request begins."""
        self._begun += 1
        self._url = b""
        self._headers = {}
        self._repeated = None
        self._since = self.service.now

    def on_url(self, url: bytes) -> None:
        """The request target, perhaps in pieces."""
        if not self._url:
            self._url = url
            return
        if isinstance(self._url, bytes):
            self._url = bytearray(self._url)
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header line."""
        if self._incoming is not None:
            return  # a trailer
        names = self._names
        key = names.get(name)
        if key is None:
            key = name.decode("latin-1").lower()
            if len(names) < _MOST_NAMES and len(name) <= _LONGEST_NAME:
                names[name] = key
            else:
                self._count_unusual()
        headers = self._headers
        if key in headers:
            self._count_unusual()
            if self._repeated is None:
                self._repeated = {}
            self._repeated.setdefault(key, [headers[key]]).append(value.decode("latin-1"))
        else:
            headers[key] = value.decode("latin-1")

    def _count_unusual(self) -> None:
        self._unusual += 1
        if self._unusual > MOST_FIELDS:
            self._stop(plain(431, "431 Request Header Fields Too Large"))

    def _stop(self, answer: Response) -> None:
        """Refuse what is being read from inside a callback.

        Raises:
            Refused: always.
        """
        self._refuse(answer)
        raise Refused

    def _join_repeated(self) -> None:
        """Make one header of each that came on several lines."""
        for key, values in (self._repeated or {}).items():
            self._headers[key] = ("; " if key == "cookie" else ", ").join(values)
        self._unusual = 0

    def on_headers_complete(self) -> None:
        """The body follows, if any."""
        parser, headers = self._parser, self._headers
        version = parser.get_http_version()
        if version not in VERSIONS:
            self._stop(plain(505, "505 HTTP Version Not Supported: unsupported protocol version"))
        if self._unusual:
            self._join_repeated()
            if "host" in (self._repeated or ()):
                self._stop(plain(400, "400 Bad Request: too many Host headers"))
        if "host" not in headers and version == "1.1":
            self._stop(plain(400, "400 Bad Request: missing required Host header"))
        url = bytes(self._url)
        if not url.startswith(b"/") and url != b"*":
            url = _origin_form(url)
        raw, _, query = url.decode("latin-1").partition("?")
        if query and query.count("&") >= MOST_PARAMETERS:
            self._stop(plain(400, "400 Bad Request"))
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
        incoming.http_1_0 = version == "1.0"
        incoming.gzip = "gzip" in headers.get("accept-encoding", "")
        if "upgrade" in headers and "upgrade" in headers.get("connection", "").lower():
            if "transfer-encoding" in headers or headers.get("content-length", "0") != "0":
                # The parser leaves such a body unread, and would take it for the next request.
                self._stop(plain(400, "400 Bad Request"))
            token = headers["upgrade"].strip().lower()
            incoming.upgrade = token if token in UPGRADES else ""
        self._incoming = self._read_last = incoming
        self._head_bytes = 0
        if method not in BODYLESS or "content-length" in headers or "transfer-encoding" in headers:
            self._expect_body(incoming)

    def on_body(self, body: bytes) -> None:
        """A piece of the body."""
        incoming = self._incoming
        if incoming is None or self._deaf:
            return
        self._framing_left = min(_FRAMING, self._framing_left + (1 + _FRAMING_PER_BYTE) * len(body))
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
        self._framing_left = _FRAMING
        headers = self._headers
        if headers.get("transfer-encoding", "chunked").lower() != "chunked":  # the parser would wait for its end
            self._stop(plain(501, "501 Not Implemented: Unsupported transfer encoding"))
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
