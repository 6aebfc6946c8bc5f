"""One request and its answer on a kept-alive connection: one write, and a parser in C for what comes back.

A server's components send thousands of small requests a second; the standard library's client writes head and body
apart and reads the head as if it were mail, which costs both ends more than the request itself.
"""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Callable, Mapping

import httptools

from hyperkube.client.client import RawResponse
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.record import Record

READ_BYTES = 1 << 16
HEAD_BYTES = 10 << 20
"""As much of an answer's head as Go's client reads."""
_CONTINUE = 199
"""Answers up to this status only announce another one."""
_LENGTHS = frozenset({"content-length", "transfer-encoding"})
"""Without any of these headers an answer ends with its connection."""
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})


class Bounds(Record):
    """What one answer may cost: bytes, its head counted, and seconds to the last piece of it but one."""

    size: int = 1 << 30
    seconds: float = 600.0


BOUNDS = Bounds()
_monotonic = SystemClock().monotonic  # of the network, whatever the cluster's time


class Broken(ConnectionResetError):
    """The server closed the connection before its answer was complete."""


class _Answer:
    """Collects one answer; the parser calls its methods, and is not kept: the two would be garbage in a ring."""

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}
        self.body: list[bytes] = []
        self.has_head = False
        self.is_whole = False
        self.closes = False

    def on_message_begin(self) -> None:
        self.headers = {}
        self.has_head = self.is_whole = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode("latin-1")] = value.decode("latin-1")
        if value.lower() == b"close" and name.lower() == b"connection":
            self.closes = True

    def on_headers_complete(self) -> None:
        self.has_head = True

    def on_body(self, data: bytes) -> None:
        self.body.append(data)

    def on_message_complete(self) -> None:
        self.is_whole = True


def exchange(
    connection: http.client.HTTPConnection,
    method: str,
    target: str,
    headers: Mapping[str, str],
    body: bytes,
    bounds: Bounds = BOUNDS,
) -> tuple[RawResponse, bool]:
    """Send a request, dialling first if need be; return the answer and whether the connection can be used again.

    Raises:
        Broken: the server went away in the middle.
        OSError: the network did, or nothing came for the connection's timeout, or not all of it in time.
        ValueError: a header has a line break in it, or the answer is no HTTP or too long.
    """
    end = _monotonic() + bounds.seconds
    left = bounds.size
    connection.send(_head(connection, method, target, headers, len(body)) + body)
    answer = _Answer()
    parser = httptools.HttpResponseParser(answer)
    data = b""
    while not _is_complete(answer, parser.get_status_code(), method):
        if _monotonic() > end:
            raise TimeoutError(f"the answer has not come within {bounds.seconds:g} s")
        data = connection.sock.recv(READ_BYTES)
        if not data:
            if answer.has_head and _LENGTHS.isdisjoint(name.lower() for name in answer.headers):
                break
            raise Broken("the server closed the connection before it answered")
        left -= len(data)
        if left < 0 or (not answer.has_head and bounds.size - left > HEAD_BYTES):
            raise ValueError(f"the answer is longer than {bounds.size if left < 0 else HEAD_BYTES} bytes")
        try:
            parser.feed_data(data)
        except httptools.HttpParserError as error:
            raise ValueError(f"the answer is no HTTP: {error}") from error
    reusable = bool(data) and parser.get_http_version() == "1.1" and not answer.closes
    return RawResponse(parser.get_status_code(), answer.headers, b"".join(answer.body)), reusable


class Stream:
    """An answer that goes on and on: its head is there, its body is read piece by piece."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection
        self._answer = _Answer()
        self._parser = httptools.HttpResponseParser(self._answer)

    @property
    def status(self) -> int:
        """The status code."""
        return int(self._parser.get_status_code())

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers."""
        return self._answer.headers

    def begin(self, method: str, target: str, headers: Mapping[str, str]) -> None:
        """Send the request, dialling first if need be, and wait for the head of the answer.

        Raises:
            Broken: the server went away before.
            OSError: the network did, or the head has not come in the connection's time.
            ValueError: a header of the request has a line break in it, or the answer is no HTTP.
        """
        self._connection.send(_head(self._connection, method, target, headers, 0))
        left = HEAD_BYTES
        while not self._answer.has_head or self.status <= _CONTINUE:
            left -= self._receive() or 0
            if left < 0:
                raise ValueError(f"the answer is longer than {HEAD_BYTES} bytes")

    def read(self) -> bytes | None:
        """Return the next piece of the body, of any length; empty at its end.

        None means that nothing has come yet and the socket is one that does not wait.

        Raises:
            Broken: the server went away in the middle.
            OSError: the network did, or nothing came for the socket's timeout.
            ValueError: what came is no HTTP.
        """
        while not (pieces := self._answer.body):
            received = 0 if self._answer.is_whole else self._receive()
            if not received:
                return b"" if received == 0 else None
        piece = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        return piece

    def _receive(self) -> int | None:
        """Take in what comes next; return how many bytes, 0 at the end of an answer that ends with its connection.

        None means that the socket does not wait, and nothing has come.
        """
        try:
            data = self._connection.sock.recv(READ_BYTES)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return None
        if not data:
            answer = self._answer
            if answer.has_head and _LENGTHS.isdisjoint(name.lower() for name in answer.headers):
                return 0
            raise Broken("the server closed the connection in the middle of its answer")
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            raise ValueError(f"the answer is no HTTP: {error}") from error
        return len(data)


def read_body(read1: Callable[[int], bytes], bounds: Bounds, monotonic: Callable[[], float] = _monotonic) -> bytes:
    """Return all that a body's ``read1`` gives, for the standard library's clients.

    Raises:
        OSError: it is too long, or has not come in time.
    """
    content, end = bytearray(), monotonic() + bounds.seconds
    while piece := read1(READ_BYTES):
        content += piece
        if len(content) > bounds.size:
            raise OSError(f"the answer is longer than {bounds.size} bytes")
        if monotonic() > end:  # the time-out of a socket counts anew with every byte
            raise TimeoutError(f"the answer has not come within {bounds.seconds:g} s")
    return bytes(content)


def _is_complete(answer: _Answer, status: int, method: str) -> bool:
    return status > _CONTINUE and (answer.is_whole or (method == "HEAD" and answer.has_head))


def _head(
    connection: http.client.HTTPConnection, method: str, target: str, headers: Mapping[str, str], length: int
) -> bytes:
    host = f"[{connection.host}]" if ":" in connection.host else connection.host
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}:{connection.port}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if length or method in _WITH_BODY:
        lines.append(f"Content-Length: {length}")
    head = "\r\n".join(lines)
    if head.count("\n") != len(lines) - 1:
        raise ValueError("a header of the request has a line break in it")
    return f"{head}\r\n\r\n".encode("latin-1")
