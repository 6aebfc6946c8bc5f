"""Cluster IPs as addresses of this node: without one, nothing can listen there.

As kube-proxy's IPVS mode binds them to a dummy device, they are put on ``lo``, each with prefix 32 (128) and, for IPv4,
with the label `LABEL`, by which `remove_all` finds those that a proxy left behind when it was killed. That needs
CAP_NET_ADMIN.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Collection

from hyperkube_lib.proxy_rules.interface_addresses import (
    ADDRESS_HEADER,
    IFA_ADDRESS,
    IFA_LABEL,
    IFA_LOCAL,
    labelled_addresses,
)
from hyperkube_lib.proxy_rules.netlink import ACK, CREATE, EXCLUSIVE, ask, attribute

DEVICE = "lo"
LABEL = "lo:kube-svc"
_NEWADDR, _DELADDR = 20, 21
_NODAD = 0x02


class NodeAddresses:
    """The addresses that this process has put on ``lo``."""

    def __init__(self) -> None:
        self._added: set[str] = set()

    def add(self, ip: str) -> None:
        """Make an address one of this node's.

        Raises:
            OSError: that is not allowed.
        """
        try:
            _change(_NEWADDR, CREATE | EXCLUSIVE, ip)
        except FileExistsError:
            return
        self._added.add(ip)

    def keep(self, wanted: Collection[str]) -> None:
        """Remove those that were added and are wanted no more."""
        for ip in self._added.difference(wanted):
            self._added.discard(ip)
            _remove(ip)


def remove_all() -> None:
    """Remove the addresses that proxies of this machine left behind."""
    for row in list(labelled_addresses("IPv4")):
        if row.label == LABEL:
            _remove(row.ip)


def _remove(ip: str) -> None:
    try:
        _change(_DELADDR, 0, ip)
    except OSError as error:
        if error.errno != errno.EADDRNOTAVAIL:  # else an administrator was quicker
            raise


def _change(kind: int, flags: int, ip: str) -> None:
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    packed = socket.inet_pton(family, ip)
    body = ADDRESS_HEADER.pack(family, len(packed) * 8, _NODAD, 0, socket.if_nametoindex(DEVICE))
    body += attribute(IFA_LOCAL, packed) + attribute(IFA_ADDRESS, packed)
    if family == socket.AF_INET:
        body += attribute(IFA_LABEL, LABEL.encode() + b"\0")
    list(ask(socket.NETLINK_ROUTE, kind, flags | ACK, body))
