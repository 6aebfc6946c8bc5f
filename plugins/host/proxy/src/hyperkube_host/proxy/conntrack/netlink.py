"""The kernel's table of tracked connections, read and pruned over netlink.

Source of the numbers: Linux ``include/uapi/linux/netfilter/nfnetlink_conntrack.h``.
"""

from __future__ import annotations

import socket
from typing import NamedTuple

from hyperkube_lib.proxy_rules.netlink import ACK, DUMP, ask_netfilter, attribute, attributes

from hyperkube.hookspecs.proxier import IPFamily

_CT_GET, _CT_DELETE = 0x0101, 0x0102
_TUPLE_ORIG, _TUPLE_REPLY, _ID, _ZONE = 1, 2, 12, 18
_IP, _PROTO = 1, 2
_SOURCE, _DESTINATION = (1, 3), (2, 4)
"""Attribute of an address in IPv4, and in IPv6."""
_PROTO_NUMBER, _SOURCE_PORT, _DESTINATION_PORT = 1, 2, 3
_NUMBERS = {"IPv4": socket.AF_INET, "IPv6": socket.AF_INET6}


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
        answers = ask_netfilter(_CT_GET, DUMP, _NUMBERS[family], b"")
        return [entry for body in answers if (entry := _entry(family, body)) is not None]

    def delete(self, family: IPFamily, entry: Entry) -> bool:
        """Forget a connection; tell whether it was still there."""
        try:
            list(ask_netfilter(_CT_DELETE, ACK, _NUMBERS[family], entry.key))
        except FileNotFoundError:
            return False
        return True


def _entry(family: IPFamily, data: bytes) -> Entry | None:
    """Return an answer as an entry; None if it is not about UDP."""
    rows = attributes(data)
    sent = attributes(rows.get(_TUPLE_ORIG, b""))
    protocol = attributes(sent.get(_PROTO, b""))
    if protocol.get(_PROTO_NUMBER, b"")[:1] != bytes([socket.IPPROTO_UDP]):
        return None
    reply = attributes(rows.get(_TUPLE_REPLY, b""))
    reply_protocol = attributes(reply.get(_PROTO, b""))
    return Entry(
        _address(family, sent, _DESTINATION),
        _port(protocol, _DESTINATION_PORT),
        _address(family, reply, _SOURCE),
        _port(reply_protocol, _SOURCE_PORT),
        b"".join(
            attribute(kind, rows[kind], nested=kind == _TUPLE_ORIG)
            for kind in (_TUPLE_ORIG, _ID, _ZONE)
            if kind in rows
        ),
    )


def _address(family: IPFamily, rows: dict[int, bytes], kinds: tuple[int, int]) -> str:
    four, six = kinds
    packed = attributes(rows[_IP])[four if family == "IPv4" else six]
    return socket.inet_ntop(_NUMBERS[family], packed)


def _port(rows: dict[int, bytes], kind: int) -> int:
    return int.from_bytes(rows.get(kind, b"")[:2], "big")
