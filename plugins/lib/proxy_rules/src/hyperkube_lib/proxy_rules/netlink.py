"""Messages to the kernel over netlink: requests, answers, and the attributes in both.

Source of the format: Linux ``include/uapi/linux/netlink.h`` and ``linux/netfilter/nfnetlink.h``.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator

REQUEST, ACK, DUMP, EXCLUSIVE, CREATE = 0x1, 0x4, 0x300, 0x200, 0x400
"""Flags of a request."""
NETLINK_NETFILTER = 12
_ERROR, _DONE = 2, 3
_NESTED, _TYPE_MASK = 0x8000, 0x3FFF
_HEADER = struct.Struct("=IHHII")
_NETFILTER_HEADER = struct.Struct("=BBH")
_ATTRIBUTE = struct.Struct("=HH")
_BUFFER = 1 << 18


def ask(protocol: int, kind: int, flags: int, body: bytes) -> Iterator[bytes]:
    """Send a request; yield the bodies of its answers.

    Args:
        protocol: which part of the kernel.
        kind: of the message.
        flags: of the request; with neither `ACK` nor `DUMP` there is one answer.
        body: of the message.

    Raises:
        OSError: the kernel refused, or has no such part.
    """
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, protocol) as netlink:
        netlink.send(_HEADER.pack(_HEADER.size + len(body), kind, flags | REQUEST, 1, 0) + body)
        while True:
            data = netlink.recv(_BUFFER)
            offset = 0
            while offset < len(data):
                length, answered, _, _, _ = _HEADER.unpack_from(data, offset)
                rest = data[offset + _HEADER.size : offset + length]
                offset += _padded(length)
                if answered == _ERROR:
                    code = -struct.unpack_from("=i", rest)[0]
                    if code:
                        raise OSError(code, os.strerror(code))
                    return
                if answered == _DONE:
                    return
                yield rest
            if not flags & (ACK | DUMP):
                return


def ask_netfilter(kind: int, flags: int, family: int, request: bytes) -> Iterator[bytes]:
    """Send a request with these attributes to netfilter; yield the attributes of its answers.

    Raises:
        OSError: see `ask`.
    """
    body = _NETFILTER_HEADER.pack(family, 0, 0) + request
    for answer in ask(NETLINK_NETFILTER, kind, flags, body):
        yield answer[_NETFILTER_HEADER.size :]


def attributes(data: bytes) -> dict[int, bytes]:
    """Return attributes by their number."""
    found, offset = {}, 0
    while offset + _ATTRIBUTE.size <= len(data):
        length, kind = _ATTRIBUTE.unpack_from(data, offset)
        found[kind & _TYPE_MASK] = data[offset + _ATTRIBUTE.size : offset + length]
        offset += max(_padded(length), _ATTRIBUTE.size)
    return found


def attribute(kind: int, data: bytes, *, nested: bool = False) -> bytes:
    """Return an attribute as it is sent."""
    head = _ATTRIBUTE.pack(_ATTRIBUTE.size + len(data), kind | (_NESTED if nested else 0))
    return head + data + bytes(_padded(len(data)) - len(data))


def _padded(length: int) -> int:
    return -(-length // 4) * 4
