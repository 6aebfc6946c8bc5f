"""Answers to those on the network who ask where an address is: raw sockets, one loop.

The kernel does not know the addresses: should this process end, nobody answers for them any more, and another node can.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import selectors
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from hyperkube_addon.load_balancer_announcer.packets import (
    ETHERTYPE_ARP,
    ETHERTYPE_IPV6,
    announcement,
    answer,
    group,
    question,
)

ROUTES = Path("/proc/thread-self/net/route")
_SIOCGIFHWADDR = 0x8927
_ETHERNET = 1
_SOL_PACKET, _ADD_MEMBERSHIP, _DROP_MEMBERSHIP, _MULTICAST = 263, 1, 2, 0
_ATTACH_FILTER = 26
_FRAME = 2048
# Of IPv6 only neighbour solicitations: next header 58 at byte 20, type 135 at byte 54 of the frame.
_SOLICITATIONS = (
    (0x30, 0, 0, 20),
    (0x15, 0, 3, 58),
    (0x30, 0, 0, 54),
    (0x15, 0, 1, 135),
    (0x06, 0, 0, 0xFFFF),
    (0x06, 0, 0, 0),
)


def default_interfaces() -> list[str]:
    """Return the interfaces of default routes, else all but loopback."""
    rows = [line.split() for line in ROUTES.read_text(encoding="ascii").splitlines()[1:]]
    found = [row[0] for row in rows if row[1] == "00000000"]
    return list(dict.fromkeys(found)) or [name for _, name in socket.if_nameindex() if name != "lo"]


class Neighbours:
    """Answers for some addresses on some interfaces, from `run` to `close`.

    Args:
        interfaces: their names; those that are no Ethernet are left out.

    Raises:
        OSError: raw sockets are not allowed, or an interface is missing.
    """

    def __init__(self, interfaces: Iterable[str]) -> None:
        self._lock = threading.Lock()
        self._addresses: frozenset[str] = frozenset()
        self._arp = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE_ARP))
        self._ndp = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE_IPV6))
        self._woken, self._waker = socket.socketpair()
        try:
            _filter(self._ndp)
            self._macs = {name: mac for name in interfaces if (mac := _mac(self._arp, name))}
        except BaseException:
            self._close_sockets()
            raise

    @property
    def interfaces(self) -> Sequence[str]:
        """The interfaces on which is answered."""
        return list(self._macs)

    def answer_for(self, addresses: Iterable[str]) -> None:
        """Answer for these addresses from now on, and tell everyone of those that are new."""
        wanted = frozenset(addresses)
        with self._lock:
            old, self._addresses = self._addresses, wanted
        for address in old - wanted:
            self._member(address, _DROP_MEMBERSHIP)
        for address in wanted - old:
            self._member(address, _ADD_MEMBERSHIP)
            self._announce(address)

    def announce_all(self) -> None:
        """Tell everyone once more where the addresses are: a frame may have been lost."""
        with self._lock:
            addresses = self._addresses
        for address in addresses:
            self._announce(address)

    def run(self, wait: Callable[[], float | None], due: Callable[[], None]) -> None:
        """Answer until `close`, on this thread.

        Args:
            wait: how many seconds to sleep at most.
            due: called after `wake`, and when so many seconds have passed.
        """
        try:
            with selectors.DefaultSelector() as selector:
                for one in (self._arp, self._ndp, self._woken):
                    selector.register(one, selectors.EVENT_READ)
                while True:
                    seconds = wait()
                    ready = [key.fileobj for key, _ in selector.select(seconds)]
                    if self._woken in ready and not self._woken.recv(4096):
                        return
                    for one in (self._arp, self._ndp):
                        if one in ready:
                            self._answer(one)
                    if self._woken in ready or not ready or seconds == 0:
                        due()
        finally:
            self._close_sockets()

    def wake(self) -> None:
        """Let `run` look at what is due, from any thread."""
        with contextlib.suppress(OSError):
            self._waker.send(b"\0")

    def close(self) -> None:
        """End `run`, from any thread."""
        with contextlib.suppress(OSError):
            self._waker.shutdown(socket.SHUT_WR)

    def _answer(self, source: socket.socket) -> None:
        try:
            frame, (name, *_) = source.recvfrom(_FRAME)
        except OSError:  # an interface went
            return
        asked = question(frame)
        with self._lock:
            is_ours = asked is not None and asked.address in self._addresses
        if asked is not None and is_ours and name in self._macs:
            self._send(name, answer(asked, self._macs[name]))

    def _announce(self, address: str) -> None:
        for name, mac in self._macs.items():
            self._send(name, announcement(address, mac))

    def _send(self, name: str, frame: bytes) -> None:
        with contextlib.suppress(OSError):  # the interface is down: there is nobody to tell
            self._arp.sendto(frame, (name, 0))

    def _member(self, address: str, option: int) -> None:
        if ":" not in address:
            return
        for name in self._macs:
            with contextlib.suppress(OSError):
                request = struct.pack("iHH8s", socket.if_nametoindex(name), _MULTICAST, 6, group(address))
                self._ndp.setsockopt(_SOL_PACKET, option, request)

    def _close_sockets(self) -> None:
        for one in (self._arp, self._ndp, self._woken, self._waker):
            one.close()


def _mac(probe: socket.socket, name: str) -> bytes | None:
    """Return the address of an Ethernet interface, None of another one."""
    found = fcntl.ioctl(probe.fileno(), _SIOCGIFHWADDR, struct.pack("256s", name.encode()))
    return found[18:24] if int.from_bytes(found[16:18], "little") == _ETHERNET else None


def _filter(one: socket.socket) -> None:
    """Let the kernel hand over neighbour solicitations only."""
    program = b"".join(struct.pack("HBBI", *row) for row in _SOLICITATIONS)
    held = ctypes.create_string_buffer(program)
    one.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, struct.pack("HP", len(_SOLICITATIONS), ctypes.addressof(held)))
