"""The kernel's table of tracked connections, read and pruned over netlink.

Source of the numbers: Linux ``include/uapi/linux/netfilter/nfnetlink.h`` and ``nfnetlink_conntrack.h``.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from typing import NamedTuple

from hyperkube.hookspecs.proxier import IPFamily

_NETLINK_NETFILTER = 12
_CT_GET, _CT_DELETE = 0x0101, 0x0102
_REQUEST, _ACK, _DUMP = 0x1, 0x4, 0x300
_ERROR, _DONE = 2, 3
_TUPLE_ORIG, _TUPLE_REPLY, _ID, _ZONE = 1, 2, 12, 18
_IP, _PROTO = 1, 2
_SOURCE, _DESTINATION = (1, 3), (2, 4)
_PROTO_NUMBER, _SOURCE_PORT, _DESTINATION_PORT = 1, 2, 3
_TYPE_MASK = 0x3FFF
_NUMBERS = {"IPv4": socket.AF_INET, "IPv6": socket.AF_INET6}
_HEADER = struct.Struct("=IHHII")
_ATTRIBUTE = struct.Struct("=HH")
_BUFFER = 1 << 18


class Entry(NamedTuple):
    """A tracked connection of UDP: where it was sent, and who answers; `key` names it to the kernel."""

    destination: str
    destination_port: int
    reply_source: str
    reply_source_port: int
    key: bytes


class ConntrackTable:
    """The table of this network namespace; needs the right to administer it.

    Raises:
        OSError: the kernel has no such table, or does not let us see it; from the methods.
    """

    def udp_entries(self, family: IPFamily) -> list[Entry]:
        """Return the connections of UDP."""
        with _socket() as netlink:
            netlink.send(_message(_CT_GET, _REQUEST | _DUMP, _NUMBERS[family], b""))
            return [entry for body in _answers(netlink) if (entry := _entry(family, body)) is not None]

    def delete(self, family: IPFamily, entry: Entry) -> bool:
        """Forget a connection; tell whether it was still there."""
        with _socket() as netlink:
            netlink.send(_message(_CT_DELETE, _REQUEST | _ACK, _NUMBERS[family], entry.key))
            try:
                list(_answers(netlink))
            except FileNotFoundError:
                return False
            return True


def _socket() -> socket.socket:
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_NETFILTER)


def _message(kind: int, flags: int, family: int, attributes: bytes) -> bytes:
    body = struct.pack("=BBH", family, 0, 0) + attributes
    return _HEADER.pack(_HEADER.size + len(body), kind, flags, 1, 0) + body


def _answers(netlink: socket.socket) -> Iterator[bytes]:
    """Yield the attributes of each answer until the last one."""
    while True:
        data = netlink.recv(_BUFFER)
        offset = 0
        while offset < len(data):
            length, kind, _, _, _ = _HEADER.unpack_from(data, offset)
            body = data[offset + _HEADER.size : offset + length]
            offset += -(-length // 4) * 4
            if kind == _DONE:
                return
            if kind == _ERROR:
                code = -struct.unpack_from("=i", body)[0]
                if code:
                    raise OSError(code, "conntrack over netlink")
                return
            yield body[4:]


def _attributes(data: bytes) -> dict[int, bytes]:
    found, offset = {}, 0
    while offset + _ATTRIBUTE.size <= len(data):
        length, kind = _ATTRIBUTE.unpack_from(data, offset)
        found[kind & _TYPE_MASK] = data[offset + _ATTRIBUTE.size : offset + length]
        offset += max(-(-length // 4) * 4, _ATTRIBUTE.size)
    return found


def _entry(family: IPFamily, data: bytes) -> Entry | None:
    """Return an answer as an entry; None if it is not about UDP."""
    rows = _attributes(data)
    sent = _attributes(rows.get(_TUPLE_ORIG, b""))
    protocol = _attributes(sent.get(_PROTO, b""))
    if protocol.get(_PROTO_NUMBER, b"")[:1] != bytes([socket.IPPROTO_UDP]):
        return None
    reply = _attributes(rows.get(_TUPLE_REPLY, b""))
    reply_protocol = _attributes(reply.get(_PROTO, b""))
    return Entry(
        _address(family, sent, _DESTINATION),
        _port(protocol, _DESTINATION_PORT),
        _address(family, reply, _SOURCE),
        _port(reply_protocol, _SOURCE_PORT),
        b"".join(_attribute(kind, rows[kind]) for kind in (_TUPLE_ORIG, _ID, _ZONE) if kind in rows),
    )


def _address(family: IPFamily, rows: dict[int, bytes], kinds: tuple[int, int]) -> str:
    four, six = kinds
    packed = _attributes(rows[_IP])[four if family == "IPv4" else six]
    return socket.inet_ntop(_NUMBERS[family], packed)


def _port(rows: dict[int, bytes], kind: int) -> int:
    return int.from_bytes(rows.get(kind, b"")[:2], "big")


def _attribute(kind: int, data: bytes) -> bytes:
    nested = 0x8000 if kind == _TUPLE_ORIG else 0
    return _ATTRIBUTE.pack(_ATTRIBUTE.size + len(data), kind | nested) + data + bytes(-len(data) % 4)
