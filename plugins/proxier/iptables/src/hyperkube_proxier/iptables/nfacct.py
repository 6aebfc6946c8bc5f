"""Counters of packets in the kernel (nfacct), where it has them; rules name the counter they add to.

Source of the numbers: Linux ``include/uapi/linux/netfilter/nfnetlink_acct.h``; kubernetes ``pkg/util/nfacct``.
"""

from __future__ import annotations

import errno
import socket
import struct

_NETLINK_NETFILTER = 12
_NEW, _GET = 0x0700, 0x0701
_REQUEST, _ACK, _CREATE = 0x1, 0x4, 0x400
_ERROR = 2
_NAME, _PACKETS = 1, 2
_HEADER = struct.Struct("=IHHII")
_ATTRIBUTE = struct.Struct("=HH")


def ensure_counter(name: str) -> bool:
    """Make a counter unless it is there; tell whether it is there now."""
    try:
        code, _ = _ask(_NEW, _REQUEST | _ACK | _CREATE, name)
    except OSError:
        return False
    return code in {0, errno.EEXIST, errno.EBUSY}


def packets(name: str) -> int:
    """Return what a counter counted; 0 if there is none of the name."""
    try:
        code, body = _ask(_GET, _REQUEST, name)
    except OSError:
        return 0
    offset = 4
    while not code and offset + _ATTRIBUTE.size <= len(body):
        length, kind = _ATTRIBUTE.unpack_from(body, offset)
        if kind & 0x3FFF == _PACKETS:
            return int.from_bytes(body[offset + _ATTRIBUTE.size : offset + length], "big")
        offset += max(-(-length // 4) * 4, _ATTRIBUTE.size)
    return 0


def _ask(kind: int, flags: int, name: str) -> tuple[int, bytes]:
    """Send a message about a counter; return the error's number, and the body of an answer.

    Raises:
        OSError: the kernel has no netlink of this kind.
    """
    value = name.encode() + b"\0"
    attribute = _ATTRIBUTE.pack(_ATTRIBUTE.size + len(value), _NAME) + value + bytes(-len(value) % 4)
    body = struct.pack("=BBH", socket.AF_UNSPEC, 0, 0) + attribute
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_NETFILTER) as netlink:
        netlink.send(_HEADER.pack(_HEADER.size + len(body), kind, flags, 1, 0) + body)
        answer = netlink.recv(1 << 16)
    length, answered, _, _, _ = _HEADER.unpack_from(answer)
    rest = answer[_HEADER.size : length]
    return (-struct.unpack_from("=i", rest)[0], b"") if answered == _ERROR else (0, rest)
