"""Cluster IPs as addresses of this node: without one, nothing can listen there.

As kube-proxy's IPVS mode binds them to a dummy device, they are put on ``lo``, each with prefix 32 (128) and, for IPv4,
with the label `LABEL`, by which `remove_all` finds those that a proxy left behind when it was killed. That needs
CAP_NET_ADMIN.

Source of the messages' layout: ``linux/rtnetlink.h``, ``linux/if_addr.h``.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Collection, Iterator

DEVICE = "lo"
LABEL = "lo:kube-svc"
_NEWADDR, _DELADDR, _GETADDR, _ERROR, _DONE = 20, 21, 22, 2, 3
_REQUEST, _ACK, _CREATE_NEW, _DUMP = 0x1, 0x4, 0x600, 0x300
_HEADER, _ADDRESS, _ATTRIBUTE = struct.Struct("=IHHII"), struct.Struct("=BBBBI"), struct.Struct("=HH")
_IFA_ADDRESS, _IFA_LOCAL, _IFA_LABEL = 1, 2, 3
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
            _change(_NEWADDR, _CREATE_NEW, ip)
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
    for ip in list(_labelled()):
        _remove(ip)


def _remove(ip: str) -> None:
    try:
        _change(_DELADDR, 0, ip)
    except OSError as error:
        if error.errno != errno.EADDRNOTAVAIL:  # else an administrator was quicker
            raise


def _change(kind: int, flags: int, ip: str) -> None:
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    packed = socket.inet_pton(family, ip)
    body = _ADDRESS.pack(family, len(packed) * 8, _NODAD, 0, socket.if_nametoindex(DEVICE))
    body += _attribute(_IFA_LOCAL, packed) + _attribute(_IFA_ADDRESS, packed)
    if family == socket.AF_INET:
        body += _attribute(_IFA_LABEL, LABEL.encode() + b"\0")
    list(_ask(kind, flags | _ACK, body))


def _labelled() -> Iterator[str]:
    for body in _ask(_GETADDR, _DUMP, _ADDRESS.pack(socket.AF_INET, 0, 0, 0, 0)):
        attributes = dict(_attributes(body[_ADDRESS.size :]))
        if attributes.get(_IFA_LABEL, b"").rstrip(b"\0") == LABEL.encode():
            yield socket.inet_ntop(socket.AF_INET, attributes[_IFA_LOCAL])


def _attribute(kind: int, value: bytes) -> bytes:
    size = _ATTRIBUTE.size + len(value)
    return _ATTRIBUTE.pack(size, kind) + value + bytes(-size % 4)


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= _ATTRIBUTE.size:
        size, kind = _ATTRIBUTE.unpack_from(data)
        yield kind, data[_ATTRIBUTE.size : size]
        data = data[size + (-size % 4) :]


def _ask(kind: int, flags: int, body: bytes) -> Iterator[bytes]:
    """Send one request to the kernel; yield the messages of its answer.

    Raises:
        OSError: it refuses.
    """
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE) as link:
        link.send(_HEADER.pack(_HEADER.size + len(body), kind, flags | _REQUEST, 1, 0) + body)
        while True:
            data = link.recv(65536)
            while data:
                size, answer = _HEADER.unpack_from(data)[:2]
                message, data = data[_HEADER.size : size], data[size + (-size % 4) :]
                if answer == _ERROR:
                    (code,) = struct.unpack_from("=i", message)
                    if code:
                        raise OSError(-code, os.strerror(-code))
                    return
                if answer == _DONE:
                    return
                yield message
