"""Writes the header fields of answers as they are: without a table of earlier ones, without Huffman's code.

Each answer has an ``Audit-Id`` of its own, so a table of what was sent would fill with what never comes again, on each
connection. And to code text bit by bit takes longer than all else that an answer to a watch needs; the bytes that this
would spare are few beside those of its events. Source: RFC 7541 sections 5 and 6, appendix A.
"""

from __future__ import annotations

from collections.abc import Iterable

_NO_TABLE = b"\x20"
"""Says before the first fields that the table is empty from now on, which is within whatever size a client allows."""

_STATUS = b":status"
_STATUSES = {b"200": 8, b"204": 9, b"206": 10, b"304": 11, b"400": 12, b"404": 13, b"500": 14}
_NAMES = {
    _STATUS: 8,
    b"cache-control": 24,
    b"content-encoding": 26,
    b"content-length": 28,
    b"content-type": 31,
    b"date": 33,
    b"location": 46,
    b"retry-after": 53,
    b"vary": 59,
    b"www-authenticate": 61,
}


def number(value: int, bits: int, flags: int = 0) -> bytes:
    """Return a number that begins in the lowest `bits` of a byte, whose other bits are `flags`."""
    most = (1 << bits) - 1
    if value < most:
        return bytes((flags | value,))
    written, rest = bytearray((flags | most,)), value - most
    while rest >= 0x80:
        written.append(rest & 0x7F | 0x80)
        rest >>= 7
    written.append(rest)
    return bytes(written)


def text(value: bytes) -> bytes:
    """Return a text with its length before it."""
    return number(len(value), 7) + value


_WHOLE = {(_STATUS, status): number(index, 7, 0x80) for status, index in _STATUSES.items()}
_NAMED = {name: number(index, 4) for name, index in _NAMES.items()}


class PlainFields:
    """Does for a server's connection what the library asks of its encoder.

    Attributes:
        header_table_size: what the client allows; nothing is kept in it.
    """

    __slots__ = ("_begun", "header_table_size")

    def __init__(self) -> None:
        self.header_table_size = 0
        self._begun = False

    def encode(self, fields: Iterable[tuple[bytes, bytes]]) -> bytes:
        """Return the fields of an answer as a block."""
        parts = [] if self._begun else [_NO_TABLE]
        self._begun = True
        for name, value in fields:
            if (whole := _WHOLE.get((name, value))) is not None:
                parts.append(whole)
            else:
                parts += (_NAMED.get(name) or b"\0" + text(name), text(value))
        return b"".join(parts)
