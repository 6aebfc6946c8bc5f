"""Header lines that were read before: a client sends the same ones with each of its requests.

A GET that comes whole, in one read and at rest, is cut behind its first line. When the parser has accepted exactly the
lines that follow with an earlier request, what it made of them still holds, and the first line is all that is left to
read. Whatever is not as plain as that (a body, an upgrade, a fragment, a repeated field, bytes outside of the URL's
alphabet) is left to the parser.

Used on the loop's thread alone, one for all connections of a server; bounded in number and in size.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import unquote

from hyperkube.machinery.dataclass import dataclass

LONGEST = 4096
"""Bytes of a request that is looked up at all; a service account's token is about one thousand."""

_MOST_HEADS, _MOST_LINES = 512, 4096
_END = b"\r\n\r\n"
_LINE = re.compile(rb"GET (/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*)(?:\?([A-Za-z0-9._~!$&'()*+,;=:@%/?-]*))? HTTP/1\.1")
_FRAMING = ("content-length", "transfer-encoding", "upgrade", "expect", "connection")
"""Headers that say how to read on, and so are the parser's."""


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


class Target(NamedTuple):
    """What a first line asks for: the path, decoded and as sent, and the query."""

    path: str
    raw_path: str
    query: str


class KnownHeads:
    """Remembers first lines and the lines behind them."""

    def __init__(self) -> None:
        self._lines: dict[bytes, Target] = {}
        self._heads: dict[bytes, Head] = {}

    def find(self, data: bytes) -> tuple[Target, Head] | None:
        """Return what a whole request says, or None when the parser has to read it."""
        cut = data.find(b"\r\n")
        head = self._heads.get(data[cut:])
        if head is None:
            return None
        line = data[:cut]
        target = self._lines.get(line)
        if target is None:
            target = self._read_line(line)
        return (target, head) if target is not None else None

    def learn(self, data: bytes, headers: Mapping[str, str], *, gzip: bool) -> None:
        """Remember the lines of a request that the parser has found to be all of `data`, without a repeated field."""
        cut = data.find(b"\r\n")
        if not data.endswith(_END) or data.find(_END) != len(data) - len(_END):
            return
        if any(name in headers for name in _FRAMING) or self._read_line(data[:cut]) is None:
            return
        if len(self._heads) >= _MOST_HEADS:
            self._heads.clear()
        self._heads[data[cut:]] = Head(headers, gzip)

    def _read_line(self, line: bytes) -> Target | None:
        match = _LINE.fullmatch(line)
        if match is None:
            return None
        raw, query = match[1].decode(), (match[2] or b"").decode()
        target = Target(unquote(raw) if "%" in raw else raw, raw, query)
        if len(self._lines) >= _MOST_LINES:
            self._lines.clear()
        self._lines[line] = target
        return target
