"""What comes around a message of Kubernetes: its type, as a body has it, and the frame of a watch's event.

Source: kubernetes apimachinery ``pkg/runtime/serializer/protobuf``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from hyperkube_lib.protobuf.wire import BYTES, WireError, delimited, read_length, tag, varint
from hyperkube_lib.protobuf.wire_scalars import piece, read_numbers, text

from hyperkube.machinery.recent import Recent

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\x00"
_HEAD, _RAW = MAGIC + tag(1, BYTES), tag(2, BYTES)
ENVELOPE_TAIL = delimited(3, b"") + delimited(4, b"")
"""What comes behind the message in a body: two empty strings, as clients write them."""
_TAIL_SIZE = len(ENVELOPE_TAIL)
_SIZE_AT = len(_HEAD)
"""Where the length of the TypeMeta stands."""
_ONE_BYTE = 0x80
"""From here on a length has more than one byte."""
_LONGEST_HEAD = 256
"""Bytes of a TypeMeta that is remembered."""
NOT_PROTOBUF = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"


class Envelope(NamedTuple):
    """What came around a message: its type, and its bytes."""

    api_version: str
    kind: str
    raw: bytes


class ProtobufError(ValueError):
    """A body that is no protobuf of Kubernetes."""


def open_envelope(body: bytes) -> Envelope:
    """Return the type and the message of a body.

    Raises:
        ProtobufError: the body does not begin as it must, or is broken.
    """
    if not body:
        raise ProtobufError("empty data")
    if not body.startswith(MAGIC):
        raise ProtobufError(NOT_PROTOBUF)
    if len(body) == len(MAGIC):
        raise ProtobufError("empty body")
    try:
        if len(body) > _SIZE_AT:  # as clients write it: a head that came before, the message, two empty strings
            end = _SIZE_AT + body[_SIZE_AT] + 2
            known = _heads.get(body[:end])
            if known is not None and body.endswith(ENVELOPE_TAIL):
                start, stop = read_length(body, end, len(body))
                if len(body) - stop == _TAIL_SIZE:
                    return Envelope(*known, body[start:stop])
        fields = read_numbers(body[len(MAGIC) :])
        head = piece(fields, 1, "TypeMeta")
        api_version, kind = _type_meta(head) if len(head) <= _LONGEST_HEAD else _type_meta.__wrapped__(head)
        raw = piece(fields, 2, "Raw")
    except WireError as error:
        raise ProtobufError(str(error)) from error
    if len(head) < _ONE_BYTE:
        _heads.keep(_HEAD + varint(len(head)) + head + _RAW, (api_version, kind))
    return Envelope(api_version, kind, raw)


_heads: Recent[bytes, tuple[str, str]] = Recent(1024)
"""The apiVersion and kind of what comes before a message, its length excluded."""


@lru_cache(maxsize=1024)
def _type_meta(message: bytes) -> tuple[str, str]:
    """Return the apiVersion and kind that a TypeMeta holds."""
    fields = read_numbers(message)
    return text(piece(fields, 1, "APIVersion")), text(piece(fields, 2, "Kind"))


def close_envelope(api_version: str, kind: str, message: bytes) -> bytes:
    """Return the body for a message of a type."""
    return b"".join((envelope_head(api_version, kind), _RAW, varint(len(message)), message, ENVELOPE_TAIL))


def around(api_version: str, kind: str, begin: bytes, size: int) -> tuple[bytes, bytes]:
    """Return what comes before and after the rest of a message that begins so and has `size` more bytes."""
    return envelope_head(api_version, kind) + _RAW + varint(len(begin) + size) + begin, ENVELOPE_TAIL


def enveloped(api_version: str, kind: str, raw: bytes) -> bytes:
    """Return the body for a message that has its tag and length already: field 2, as the items of lists have it."""
    return envelope_head(api_version, kind) + raw + ENVELOPE_TAIL


@lru_cache(maxsize=1024)
def envelope_head(api_version: str, kind: str) -> bytes:
    """Return what comes before the message in a body of a type, as Go writes it: before tag and length of field 2."""
    return MAGIC + delimited(1, delimited(1, api_version.encode()) + delimited(2, kind.encode()))


def watch_frame(event: str, body: bytes) -> bytes:
    """Return one event of a watch stream: its length in four bytes, then a WatchEvent around an enveloped object."""
    message = delimited(1, event.encode()) + delimited(2, delimited(1, body))
    return len(message).to_bytes(4, "big") + message
