"""At which addresses the processes of a pod listen on a port: the kernel's table of sockets, and who holds each.

Source of the table's format: linux ``Documentation/networking/proc_net_tcp.rst``.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hyperkube_runtime.process.network_namespaces import connect_inside
from hyperkube_runtime.process.shim.descendants import descendants

_LISTENS = "0A"
_CONNECT_SECONDS = 5.0
_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def connect_to_pod(shims: Iterable[int], port: int, namespace: str, preferred: Sequence[str]) -> int:
    """Return the descriptor of a connection to a port of a pod.

    On the node's network all pods share the loopback device, so an address alone does not say whose port it is.

    Args:
        shims: the pids of the processes above the pod's own.
        port: the TCP port.
        namespace: the path of the pod's network namespace, in which no other pod listens; empty for the node's.
        preferred: the pod's addresses.

    Raises:
        OSError: no process of the pod listens on it.
    """
    if namespace:
        return connect_inside(namespace, port, ("127.0.0.1", "::1", *preferred))
    problem: OSError = ConnectionRefusedError("Connection refused: no process of the pod listens on it")
    for address in addresses_listening(shims, port, preferred=preferred):
        try:
            return socket.create_connection((address, port), timeout=_CONNECT_SECONDS).detach()
        except OSError as error:
            problem = error
    raise problem


def addresses_listening(shims: Iterable[int], port: int, *, preferred: Sequence[str]) -> list[str]:
    """Return the addresses to connect to, those of the pod first.

    Args:
        shims: the pids of the processes above the pod's own.
        port: the TCP port.
        preferred: the pod's addresses, which stand for a socket that listens on all.
    """
    held = {inode for shim in shims for pid in descendants(shim) for inode in _sockets(pid)}
    found: list[str] = []
    for address, inode in _listeners(port):
        if inode in held:
            found += [*preferred, _ANY[address]] if address in _ANY else [address]
    return sorted(dict.fromkeys(found), key=lambda address: address not in preferred)


def _sockets(pid: int) -> Iterator[str]:
    """Yield the inode numbers of a process's sockets."""
    with contextlib.suppress(OSError):  # it ended meanwhile
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                kind, _, inode = str(entry.readlink()).partition(":")
                if kind == "socket":
                    yield inode.strip("[]")


def _listeners(port: int) -> Iterator[tuple[str, str]]:
    """Yield (address, inode number) of the sockets that listen on a port."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError):  # without IPv6 there is no second table
            for line in Path(table).read_text(encoding="ascii").splitlines()[1:]:
                fields = line.split()
                address, _, number = fields[1].partition(":")
                if fields[3] == _LISTENS and int(number, 16) == port:
                    yield _address(address), fields[9]


def _address(text: str) -> str:
    """Return an address of the table: words of 32 bits, each in this machine's byte order."""
    words = [int(text[start : start + 8], 16) for start in range(0, len(text), 8)]
    address = ipaddress.ip_address(struct.pack(f"={len(words)}I", *words))
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)
