"""The addresses of this machine's interfaces, asked of the kernel.

Source of the messages' layout: ``linux/rtnetlink.h``, ``linux/if_addr.h``.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from typing import NamedTuple

from hyperkube_lib.proxy_rules.netlink import DUMP, ask, attributes

from hyperkube.hookspecs.proxier import IPFamily

ADDRESS_HEADER = struct.Struct("=BBBBI")
"""``ifaddrmsg``: family, prefix length, flags, scope, index of the interface."""
IFA_ADDRESS, IFA_LOCAL, IFA_LABEL = 1, 2, 3
FAMILY_NUMBERS = {"IPv4": socket.AF_INET, "IPv6": socket.AF_INET6}
_GETADDR = 22


class LabelledAddress(NamedTuple):
    """An address of an interface; only those of IPv4 have labels."""

    ip: str
    label: str


def labelled_addresses(family: IPFamily) -> Iterator[LabelledAddress]:
    """Yield the addresses of one family that the interfaces have now."""
    number = FAMILY_NUMBERS[family]
    for body in ask(socket.NETLINK_ROUTE, _GETADDR, DUMP, ADDRESS_HEADER.pack(number, 0, 0, 0, 0)):
        rows = attributes(body[ADDRESS_HEADER.size :])
        # Of a point-to-point link, IFA_ADDRESS is the other end; IPv6 has IFA_LOCAL only there.
        packed = rows.get(IFA_LOCAL) or rows[IFA_ADDRESS]
        yield LabelledAddress(socket.inet_ntop(number, packed), rows.get(IFA_LABEL, b"").rstrip(b"\0").decode())


def interface_addresses(family: IPFamily) -> list[str]:
    """Return the addresses that the node's interfaces have now."""
    return [row.ip for row in labelled_addresses(family)]
