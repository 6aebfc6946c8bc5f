"""The protobuf wire format: varints, tags and lengths, read from and written to bytes."""

from __future__ import annotations

from functools import lru_cache

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

_SIGN = 1 << 63
_WRAP = 1 << 64
ONE_BYTE = [bytes((number,)) for number in range(0x80)]
"""The varints of one byte: most lengths are one, and a look-up is cheaper than a call."""


class WireError(ValueError):
    """The bytes are no message of the type."""


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the unsigned number at an offset, and the offset after it.

    Raises:
        WireError: the data ends within, or the number is too long.
    """
    result = shift = 0
    try:
        while True:
            byte = data[at]
            at += 1
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                return result, at
            shift += 7
            if shift > 63:
                raise WireError("proto: integer overflow")
    except IndexError as error:
        raise WireError("unexpected EOF") from error


def signed(number: int) -> int:
    """Read a varint as a number of 64 bits in two's complement."""
    number &= _WRAP - 1
    return number - _WRAP if number >= _SIGN else number


def read_length(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Return where a length-delimited value begins and ends.

    Raises:
        WireError: it would end after `end`.
    """
    if at >= end:
        raise WireError("unexpected EOF")
    length = data[at]
    if length < 0x80:
        at += 1
    elif at + 1 < end and data[at + 1] < 0x80:
        length, at = length - 0x80 + (data[at + 1] << 7), at + 2
    else:
        length, at = read_varint(data, at)
    stop = at + length
    if stop > end:
        raise WireError("unexpected EOF")
    return at, stop


def skip(data: bytes, at: int, end: int, wire_type: int) -> int:
    """Return the offset after a value of an unknown field.

    Raises:
        WireError: the wire type does not exist, or the data ends within.
    """
    if wire_type == VARINT:
        return read_varint(data, at)[1]
    if wire_type == BYTES:
        return read_length(data, at, end)[1]
    size = {FIXED64: 8, FIXED32: 4}.get(wire_type)
    if size is None:
        raise WireError(f"proto: illegal wireType {wire_type}")
    if at + size > end:
        raise WireError("unexpected EOF")
    return at + size


@lru_cache(maxsize=4096)
def varint(number: int) -> bytes:
    """Write a number; a negative one takes ten bytes. Remembered, as most are lengths that occur again."""
    if 0 <= number < 0x80:
        return ONE_BYTE[number]
    if 0 <= number < 0x4000:
        return bytes((number & 0x7F | 0x80, number >> 7))
    number &= _WRAP - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


@lru_cache(maxsize=1024)
def tag(number: int, wire_type: int) -> bytes:
    """Write what comes before a field."""
    return varint(number << 3 | wire_type)


def delimited(number: int, value: bytes) -> bytes:
    """Write a length-delimited field."""
    return tag(number, BYTES) + varint(len(value)) + value
