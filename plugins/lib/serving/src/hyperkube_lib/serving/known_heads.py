"""Header lines that were read before: a client sends the same ones with each of its requests.

A request that comes whole, in one read and at rest, is cut behind its first line. When the parser has accepted exactly
the lines that follow with an earlier request, what it made of them still holds, and the first line is all that is left
to read: and of a write the length of its body, which may differ. Whatever is not as plain as that (a body in chunks or
in pieces, one with a GET, an upgrade, a fragment, a repeated field, bytes outside of the URL's alphabet) is left to the
parser.

A first line is remembered while it comes again within seconds (`AgingCache`): what a client asks of many objects, each
once in a while, takes no place. Used on the loop's thread alone, one for all connections of a server; bounded in number
and in size.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import unquote

from hyperkube_lib.serving.aging_cache import AgingCache

from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.recent import forgets

LONGEST = 4096
"""Bytes of a request that is looked up at all; a service account's token is about one thousand."""

_MOST_HEADS, _MOST_LINES = 8192, 8192
"""Of 1 to 2 KiB, and of half of that. A kubelet has two or three heads of its own, and one line: its lease's."""
_END = b"\r\n\r\n"
_LENGTH = b"\r\nContent-Length: "
_MOST_DIGITS = 9
_LINE = re.compile(
    rb"(GET|POST|PUT|PATCH|DELETE) (/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*)"
    rb"(?:\?([A-Za-z0-9._~!$&'()*+,;=:@%/?-]*))? HTTP/1\.1"
)
_FRAMING = ("transfer-encoding", "upgrade", "expect", "connection")
"""Headers that say how to read on, and so are the parser's; so is the length of a GET's body."""


@dataclass(slots=True, eq=False)
class Head:
    """Header lines that requests have in common.

    Attributes:
        headers: as of `HttpRequest`; shared by all of them.
        gzip: whether the answer may be compressed.
        read: what the handler has read off them, kept from one request to the next.
    """

    headers: Mapping[str, str]
    gzip: bool
    read: object = None


@dataclass(slots=True, eq=False)
class Target:
    """What a first line asks for; shared by all requests that begin with it.

    Attributes:
        path: decoded, and `raw_path` as sent.
        long_running: what `Handler.is_long_running` says of it; None before it was asked.
        read: what the handler has read off it, kept from one request to the next.
    """

    method: str
    path: str
    raw_path: str
    query: str
    long_running: bool | None = None
    read: object = None


class Known(NamedTuple):
    """A whole request whose lines were read before."""

    target: Target
    head: Head
    headers: Mapping[str, str]
    body: bytes


class KnownHeads:
    """Remembers first lines and the lines behind them; `monotonic` returns seconds that never go back."""

    def __init__(self, monotonic: Callable[[], float] = SystemClock.monotonic) -> None:
        self._lines: AgingCache[bytes, Target] = AgingCache(_MOST_LINES, monotonic)
        self._heads: dict[bytes, Head] = {}
        forgets(self)

    def forget(self) -> None:
        """Forget all lines; on any thread, as each is looked up once."""
        self._lines.forget()
        self._heads.clear()

    def find(self, data: bytes, longest: int = LONGEST) -> Known | None:
        """Return what a whole request says; None if its head is longer than `longest` or the parser has to read it."""
        cut, body, length = data.find(b"\r\n"), b"", None
        if data[:4] == b"GET ":
            if len(data) > longest:
                return None
            head = self._heads.get(data[cut:])
        else:
            length = _length(data, cut, longest)
            if length is None or len(data) != length.end + len(_END) + length.body:
                return None
            head, body = self._heads.get(length.lines), data[length.end + len(_END) :]
        if head is None:
            return None
        line = data[:cut]
        target = self._lines.get(line)
        if target is None:
            target = self._read_line(line)
        if target is None:
            return None
        headers = head.headers
        if length is not None and headers["content-length"] != length.digits:
            headers = {**headers, "content-length": length.digits}
        return Known(target, head, headers, body)

    def learn(self, data: bytes, headers: Mapping[str, str], *, gzip: bool) -> None:
        """Remember the lines of a request that the parser has found to be all of `data`, without a repeated field."""
        cut = data.find(b"\r\n")
        target = self._read_line(data[:cut])
        if target is None or any(name in headers for name in _FRAMING):
            return
        if target.method == "GET":
            if "content-length" in headers or data.find(_END) != len(data) - len(_END):
                return
            lines = data[cut:]
        else:
            length = _length(data, cut, len(data))
            # Else the parser, which takes line ends without a carriage return, has seen another body.
            if length is None or len(data) != length.end + len(_END) + length.body:
                return
            lines = length.lines
        if len(self._heads) >= _MOST_HEADS:
            self._heads.clear()
        self._heads[lines] = Head(headers, gzip)

    def _read_line(self, line: bytes) -> Target | None:
        target = self._lines.find(line)
        if target is not None:
            return target
        match = _LINE.fullmatch(line)
        if match is None:
            return None
        raw, query = match[2].decode(), (match[3] or b"").decode()
        target = Target(match[1].decode(), unquote(raw) if "%" in raw else raw, raw, query)
        self._lines.keep(line, target)
        return target


class _Length(NamedTuple):
    """Where the head of a request ends, the length of its body, and its header lines without that number."""

    end: int
    digits: str
    body: int
    lines: bytes


def _length(data: bytes, cut: int, longest: int) -> _Length | None:
    """Read the length of a body, None when there is none. Known lines have no other one, as no field is repeated."""
    end, mark = data.find(_END, cut, longest), data.find(_LENGTH, cut, longest)
    if not 0 <= mark < end:
        return None
    begin = mark + len(_LENGTH)
    stop = data.find(b"\r\n", begin)
    digits = data[begin:stop]
    if not digits.isdigit() or len(digits) > _MOST_DIGITS:
        return None
    return _Length(end, digits.decode(), int(digits), data[cut:begin] + data[stop:end])
