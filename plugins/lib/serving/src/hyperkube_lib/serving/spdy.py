"""SPDY/3.1 frames, without any I/O: bytes become frames and frames bytes.

kubectl still speaks it: inside WebSocket messages for port-forward, and bare after ``Upgrade: SPDY/3.1`` otherwise.
Source: the SPDY protocol draft 3.1 (chromium.org), sections 2.2 (frames) and 2.6.10.1 (header compression).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TypeAlias

from hyperkube.machinery.dataclass import dataclass

SYN_STREAM, SYN_REPLY, RST_STREAM, SETTINGS, PING, GOAWAY, HEADERS, WINDOW_UPDATE = 1, 2, 3, 4, 6, 7, 8, 9
PROTOCOL_ERROR, INVALID_STREAM, REFUSED_STREAM, CANCEL = 1, 2, 3, 5
INITIAL_WINDOW = 64 * 1024
SETTING_INITIAL_WINDOW = 7
LONGEST_DATA = 32 * 1024
"""Bytes that one of our data frames carries at most."""

_FIN = 0x01
_CONTROL = 0x8003_0000
_LONGEST_HEADERS, _MOST_HEADERS = 16 * 1024, 100
"""Of one frame: a hundred bytes of it may hold thousands of empty headers. Clients send three short ones."""


_WORDS = (
    "options head post put delete trace accept accept-charset accept-encoding accept-language"
    " accept-ranges age allow authorization cache-control connection content-base content-encoding"
    " content-language content-length content-location content-md5 content-range content-type date etag"
    " expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since"
    " last-modified location max-forwards pragma proxy-authenticate proxy-authorization range referer"
    " retry-after server te trailer transfer-encoding upgrade user-agent vary via warning www-authenticate"
    " method get status"
)


def _dictionary() -> bytes:
    """Return the text that both sides' header compression begins with, as the draft spells it (1,423 bytes)."""
    words = _WORDS.split()
    words += ["200 OK", "version", "HTTP/1.1", "url", "public", "set-cookie", "keep-alive", "origin"]
    codes = (
        "100 101 201 202 205 206 300 302 303 304 305 306 307 402 405 406 407 408 409 410 411 412 413 414 415 416 417"
    )
    rest = (
        "502504505203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized"
        "403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
        "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT"
        "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,"
        "text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
    )
    entries = b"".join(len(word).to_bytes(4, "big") + word.encode() for word in words)
    return entries + codes.replace(" ", "").encode() + rest.encode()


DICTIONARY = _dictionary()


class SpdyBroken(Exception):
    """The peer does not speak SPDY/3.1; the connection cannot go on."""


@dataclass(frozen=True, slots=True)
class SynStream:
    """A stream is opened."""

    stream: int
    headers: Mapping[str, str] = field(default_factory=dict)
    fin: bool = False


@dataclass(frozen=True, slots=True)
class SynReply:
    """A stream is accepted, or (of type HEADERS) gets more headers."""

    stream: int
    headers: Mapping[str, str] = field(default_factory=dict)
    fin: bool = False


@dataclass(frozen=True, slots=True)
class Data:
    """Bytes of a stream; `fin`: its last ones in this direction."""

    stream: int
    payload: bytes
    fin: bool = False


@dataclass(frozen=True, slots=True)
class Reset:
    """A stream ends in both directions at once."""

    stream: int
    status: int = CANCEL


@dataclass(frozen=True, slots=True)
class Settings:
    """The peer's settings by id."""

    values: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Ping:
    """To be sent back as it is by the side that did not send it first."""

    id: int


@dataclass(frozen=True, slots=True)
class GoAway:
    """No more streams will be accepted."""

    last: int = 0
    status: int = 0


@dataclass(frozen=True, slots=True)
class WindowUpdate:
    """So many more bytes may be sent on a stream; stream 0 is the whole connection."""

    stream: int
    delta: int


Frame: TypeAlias = SynStream | SynReply | Data | Reset | Settings | Ping | GoAway | WindowUpdate


class SpdyCodec:
    """One side of a connection: the state of both header compressions, and bytes that are no whole frame yet."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._inflate = zlib.decompressobj(zdict=DICTIONARY)
        self._deflate = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS, 8, zlib.Z_DEFAULT_STRATEGY, DICTIONARY)

    def decode(self, data: bytes) -> Iterator[Frame]:
        """Yield the frames that `data` completes; kinds that mean nothing here are left out.

        Raises:
            SpdyBroken: these are no SPDY/3.1 frames.
        """
        buffer = self._buffer
        buffer += data
        while len(buffer) >= 8:
            first, second = struct.unpack_from(">II", buffer)
            length = second & 0xFF_FFFF
            if len(buffer) < 8 + length:
                return
            payload = bytes(buffer[8 : 8 + length])
            del buffer[: 8 + length]
            flags = second >> 24
            if first & 0x8000_0000:
                if first >> 16 != 0x8003:
                    raise SpdyBroken(f"control frame of version {(first >> 16) & 0x7FFF}, want 3")
                frame = self._control(first & 0xFFFF, flags, payload)
                if frame is not None:
                    yield frame
            else:
                yield Data(first, payload, bool(flags & _FIN))

    def _control(self, kind: int, flags: int, payload: bytes) -> Frame | None:
        fin = bool(flags & _FIN)
        try:
            if kind == SYN_STREAM:
                return SynStream(_uint31(payload), self._headers(payload[10:]), fin)
            if kind in {SYN_REPLY, HEADERS}:
                return SynReply(_uint31(payload), self._headers(payload[4:]), fin)
            if kind == RST_STREAM:
                return Reset(_uint31(payload), _uint31(payload, 4))
            if kind == SETTINGS:
                count = struct.unpack_from(">I", payload)[0]
                entries = [struct.unpack_from(">II", payload, 4 + 8 * index) for index in range(min(count, 64))]
                return Settings({key & 0xFF_FFFF: value for key, value in entries})
            if kind == PING:
                return Ping(struct.unpack_from(">I", payload)[0])
            if kind == GOAWAY:
                return GoAway(_uint31(payload), _uint31(payload, 4) if len(payload) >= 8 else 0)
            if kind == WINDOW_UPDATE:
                return WindowUpdate(_uint31(payload), _uint31(payload, 4))
        except (struct.error, zlib.error) as error:
            raise SpdyBroken(f"malformed frame of type {kind}: {error}") from error
        return None

    def _headers(self, block: bytes) -> dict[str, str]:
        plain = self._inflate.decompress(block, _LONGEST_HEADERS)
        if self._inflate.unconsumed_tail:
            raise SpdyBroken(f"headers longer than {_LONGEST_HEADERS} bytes")
        headers: dict[str, str] = {}
        position = 4
        count = struct.unpack_from(">I", plain)[0]
        if count > _MOST_HEADERS:
            raise SpdyBroken(f"more than {_MOST_HEADERS} headers")
        for _ in range(count):
            name, position = _text(plain, position)
            value, position = _text(plain, position)
            headers[name.lower()] = value.replace("\0", ", ")
        return headers

    def encode(self, frame: Frame) -> bytes:
        """Return a frame's bytes; frames with headers in the order they are sent in, as their compression goes on."""
        if isinstance(frame, Data):
            return struct.pack(">II", frame.stream, frame.fin << 24 | len(frame.payload)) + frame.payload
        if isinstance(frame, SynStream):
            payload = struct.pack(">IIH", frame.stream, 0, 0) + self._block(frame.headers)
            return _framed(SYN_STREAM, payload, frame.fin)
        if isinstance(frame, SynReply):
            return _framed(SYN_REPLY, struct.pack(">I", frame.stream) + self._block(frame.headers), frame.fin)
        if isinstance(frame, Reset):
            return _framed(RST_STREAM, struct.pack(">II", frame.stream, frame.status))
        if isinstance(frame, Settings):
            entries = b"".join(struct.pack(">II", key, value) for key, value in frame.values.items())
            return _framed(SETTINGS, struct.pack(">I", len(frame.values)) + entries)
        if isinstance(frame, Ping):
            return _framed(PING, struct.pack(">I", frame.id))
        if isinstance(frame, GoAway):
            return _framed(GOAWAY, struct.pack(">II", frame.last, frame.status))
        return _framed(WINDOW_UPDATE, struct.pack(">II", frame.stream, frame.delta))

    def _block(self, headers: Mapping[str, str]) -> bytes:
        parts = [struct.pack(">I", len(headers))]
        for name, value in headers.items():
            for text in (name.lower().encode(), value.encode()):
                parts += [struct.pack(">I", len(text)), text]
        return self._deflate.compress(b"".join(parts)) + self._deflate.flush(zlib.Z_SYNC_FLUSH)


def _framed(kind: int, payload: bytes, fin: bool = False) -> bytes:
    return struct.pack(">II", _CONTROL | kind, fin << 24 | len(payload)) + payload


def _uint31(payload: bytes, offset: int = 0) -> int:
    value: int = struct.unpack_from(">I", payload, offset)[0]
    return value & 0x7FFF_FFFF


def _text(plain: bytes, position: int) -> tuple[str, int]:
    length = struct.unpack_from(">I", plain, position)[0]
    end = position + 4 + length
    if end > len(plain):
        raise SpdyBroken("headers end in the middle of a word")
    return plain[position + 4 : end].decode("utf-8", "replace"), end
