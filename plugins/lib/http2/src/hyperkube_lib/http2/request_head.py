"""Reads the header fields of a request, and refuses what HTTP/2 forbids (RFC 9113 section 8.2 and 8.3).

A client sends the same fields with each of its requests, but for the path. Those are read once: what was made of them
is kept, so that a connection's watches share one dictionary of headers, and a token is checked once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import unquote

from hyperkube_lib.serving.known_heads import Head
from hyperkube_lib.serving.reader import MOST_PARAMETERS

Fields = Sequence[tuple[bytes, bytes]]

_MOST_HEADS = 512
_LONGEST = 4096
"""Bytes of fields that are remembered at all."""

_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9a-z-]+")
_VALUE = re.compile(rb"[\t\x20-\x7e\x80-\xff]*")
_PATH = re.compile(rb"[\x21-\x7e\x80-\xff]+")
_METHOD = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OF_CONNECTIONS = {
    b"connection": "Connection",
    b"proxy-connection": "Proxy-Connection",
    b"keep-alive": "Keep-Alive",
    b"transfer-encoding": "Transfer-Encoding",
    b"upgrade": "Upgrade",
}


class Malformed(ValueError):
    """A request that is none: its stream is reset."""


class NotAllowed(ValueError):
    """A field that only HTTP/1.1 knows: the request is answered 400. Source: Go ``net/http`` (h2_bundle.go)."""


class ReadHead(NamedTuple):
    """What the fields say without the path; `repeated` as in `HttpRequest`."""

    method: str
    known: Head
    repeated: dict[str, list[str]] | None


class Target(NamedTuple):
    """What the path says."""

    path: str
    raw_path: str
    query: str


class KnownFields:
    """Remembers the fields of requests; of one server, on the loop's thread alone, bounded in number and in size."""

    def __init__(self) -> None:
        self._heads: dict[tuple[tuple[bytes, bytes], ...], ReadHead] = {}

    def read(self, fields: Fields) -> tuple[Target, ReadHead]:
        """Return what a request asks for.

        Raises:
            Malformed: it is no request.
            NotAllowed: it has a field of HTTP/1.1.
        """
        paths = [value for name, value in fields if name == b":path"]
        if len(paths) != 1:
            raise Malformed("a request has one path")
        rest = tuple((name, value) for name, value in fields if name != b":path")
        head = self._heads.get(rest)
        if head is None:
            head = read_head(fields)
            if sum(len(name) + len(value) for name, value in rest) <= _LONGEST:
                if len(self._heads) >= _MOST_HEADS:
                    self._heads.clear()
                self._heads[rest] = head
        return read_target(paths[0]), head


def read_target(path: bytes) -> Target:
    """Return what a path with its query says.

    Raises:
        Malformed: it is no path, or has too many parameters.
    """
    if not (path.startswith(b"/") or path == b"*") or not _PATH.fullmatch(path):
        raise Malformed("a path begins with a slash, and has no blanks")
    raw, _, query = path.decode("latin-1").partition("#")[0].partition("?")
    if query and query.count("&") >= MOST_PARAMETERS:
        raise Malformed("too many parameters")
    return Target(unquote(raw) if "%" in raw else raw, raw, query)


def read_head(fields: Fields) -> ReadHead:
    """Return what the fields say, their path left out.

    Raises:
        Malformed: a field is none, stands in a wrong place, or is missing.
        NotAllowed: one is of HTTP/1.1.
    """
    pseudo: dict[bytes, bytes] = {}
    headers: dict[str, str] = {}
    repeated: dict[str, list[str]] = {}
    for name, value in fields:
        if not _VALUE.fullmatch(value):
            raise Malformed(f"the value of {name!r} has bytes that no field may have")
        if name.startswith(b":"):
            if headers or name in pseudo or name not in {b":method", b":path", b":scheme", b":authority"}:
                raise Malformed(f"{name!r} is unknown, repeated, or behind other fields")
            pseudo[name] = value
            continue
        if not _NAME.fullmatch(name):
            raise Malformed(f"{name!r} is no name of a field in lower case")
        if name in _OF_CONNECTIONS:
            raise NotAllowed(f'request header "{_OF_CONNECTIONS[name]}" is not valid in HTTP/2')
        if name == b"te" and value.lower() not in {b"", b"trailers"}:
            raise NotAllowed('request header "TE" may only be "trailers" in HTTP/2')
        key, text = name.decode("latin-1"), value.strip(b" \t").decode("latin-1")
        if key in headers:
            repeated.setdefault(key, [headers[key]]).append(text)
        else:
            headers[key] = text
    return ReadHead(*_complete(pseudo, headers, repeated), repeated or None)


def _complete(pseudo: dict[bytes, bytes], headers: dict[str, str], repeated: dict[str, list[str]]) -> tuple[str, Head]:
    """Return the method, and the headers with those joined that came on several lines."""
    method = pseudo.get(b":method", b"")
    if not _METHOD.fullmatch(method) or pseudo.get(b":scheme", b"") not in {b"http", b"https"}:
        raise Malformed("a request has a method and a scheme")
    if len(set(repeated.get("content-length", ()))) > 1 or "host" in repeated:
        raise Malformed("several lengths or hosts")
    for key, values in repeated.items():
        headers[key] = values[0] if key == "content-length" else ("; " if key == "cookie" else ", ").join(values)
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit()):
        raise Malformed(f"{length!r} is no length")
    authority = pseudo.get(b":authority", b"").decode("latin-1")
    if authority:
        headers["host"] = authority
    return method.decode("ascii"), Head(headers, "gzip" in headers.get("accept-encoding", ""))
