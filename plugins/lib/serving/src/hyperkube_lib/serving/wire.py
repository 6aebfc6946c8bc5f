"""How answers become bytes: status line, headers, chunks, compression."""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Sequence
from http import HTTPStatus

import orjson
from hyperkube_lib.serving.exchange import HttpRequest, Response

from hyperkube.machinery.errors import ApiError, EmptyDetails, Timeout

LAST_CHUNK = b"0\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

_STATUS_TEXT = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n" for status in HTTPStatus}
_STATUS_TEXT[413] = "HTTP/1.1 413 Request Entity Too Large\r\n"  # Python 3.13 says "Content Too Large"
GZIP_FIELDS = (("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding"))
_NO_BODY = frozenset((204, 304))
_WRITES = frozenset(("POST", "PUT", "PATCH", "DELETE"))
_REQUEST_LINE = re.compile(rb"([A-Za-z0-9!#$%&'*+.^_`|~-]+) /[^ ]* HTTP/1")


class BadHeader(ValueError):
    """A header name or value of an answer has a line break in it."""


def head(status: int, headers: Collection[tuple[str, str]], *, close: bool, extra: str = "") -> bytes:
    """Return the status line and headers without the blank line that ends them, so that more may follow.

    Raises:
        BadHeader: a line break in a header would let its author write headers of his own.
    """
    text = _STATUS_TEXT.get(status) or f"HTTP/1.1 {status} \r\n"
    lines = len(headers) + 1
    if headers:
        text += "\r\n".join(map(": ".join, headers)) + "\r\n"
    if text.count("\n") != lines or text.count("\r") != lines:
        raise BadHeader(f"line break in the headers of a {status} answer")
    if close:
        text += "Connection: close\r\n"
    return (text + extra).encode("latin-1", "replace")


def complete(response: Response, date: bytes, *, close: bool, head_only: bool = False) -> bytes:
    """Return a whole answer; for HEAD its headers only, with the length the body would have."""
    body = response.body
    if response.status in _NO_BODY:
        return head(response.status, response.headers, close=close) + date + b"\r\n"
    first = head(response.status, response.headers, close=close)
    length = b"Content-Length: %d\r\n\r\n" % len(body)
    if head_only:
        return first + date + length
    return b"".join((first, date, length, body))


def chunk(parts: Sequence[bytes]) -> bytes:
    """Return the parts as one HTTP chunk; nothing for no bytes, as an empty chunk would end the body."""
    size = sum(map(len, parts))
    if not size:
        return b""
    return b"".join((b"%x\r\n" % size, *parts, b"\r\n"))


def gzip_packer() -> zlib._Compress:
    """Return what gzips a body, fast rather than small (level 1)."""
    return zlib.compressobj(1, zlib.DEFLATED, 16 + zlib.MAX_WBITS)


def compressed(response: Response) -> Response:
    """Return the answer with its body gzipped."""
    packer = gzip_packer()
    body = packer.compress(response.body) + packer.flush()
    return Response(status=response.status, headers=[*response.headers, *GZIP_FIELDS], body=body)


def is_encoded(headers: Collection[tuple[str, str]]) -> bool:
    """Tell whether an answer's body is compressed already, or encoded otherwise."""
    return any(name.lower() == "content-encoding" for name, _ in headers)


def refusal(error: ApiError, *headers: tuple[str, str]) -> Response:
    """Return the answer that carries an error's ``Status``."""
    fields = [("Content-Type", "application/json"), ("Cache-Control", "no-cache, private"), *headers]
    if error.retry_after_seconds:
        fields.append(("Retry-After", str(error.retry_after_seconds)))
    return Response(status=error.status_code, headers=fields, body=orjson.dumps(error.status()) + b"\n")


def late(request: HttpRequest) -> Response:
    """Return the answer to a request whose time is up; Kubernetes' writes say so in other words than its reads.

    Source: kubernetes apiserver ``pkg/server/filters/timeout.go``, ``pkg/endpoints/handlers/finisher/finisher.go``.
    """
    what = "requested timeout - context deadline exceeded" if request.method in _WRITES else "the allotted timeout"
    return refusal(Timeout(f"Timeout: request did not complete within {what}", details=EmptyDetails()))


def plain(status: int, text: str, *headers: tuple[str, str]) -> Response:
    """Return a text answer, shaped as Go's ``http.Error`` shapes it."""
    fields = [("Content-Type", "text/plain; charset=utf-8"), ("X-Content-Type-Options", "nosniff"), *headers]
    return Response(status=status, headers=fields, body=text.encode() + b"\n")


def unknown_method(data: bytes) -> str:
    """Return the method of a request whose first line is whole, empty for what is no request."""
    line = _REQUEST_LINE.match(data)
    return line[1].decode("ascii") if line is not None else ""
