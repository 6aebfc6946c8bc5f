"""Pods as network namespaces around a router, on which the rules are: all sockets belong to the test's own process."""

import contextlib
import ctypes
import ipaddress
import os
import selectors
import socket
import subprocess
import threading
from pathlib import Path
from typing import NamedTuple

from hyperkube.machinery.clock import SystemClock

CLONE_NEWNET = 0x40000000
SECONDS = 60.0
GRACE = 0.03
"""How long is listened for what must not come, once all has come that must."""
PORTS = (("tcp", 80), ("tcp", 81), ("udp", 80))
NAMES = ("a-web", "a-api", "b-web", "b-db", "outside")


class Cell(NamedTuple):
    """One attempt to reach someone."""

    source: str
    target: str
    protocol: str
    port: int
    version: int


def address(name, version):
    """Return the address of a pod."""
    number = NAMES.index(name) + 1
    return f"10.9.{number}.2" if version == 4 else f"fd09:{number}::2"


CELLS = [
    Cell(source, target, protocol, port, version)
    for source in NAMES
    for target in NAMES
    if source != target
    for protocol, port in PORTS
    for version in (4, 6)
]


class World:
    """The namespaces and the listening sockets in them; use it as a context."""

    def __init__(self):
        self._prefix = f"np{os.getpid()}-"
        self._listeners = []
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._sent = 0

    def __enter__(self):
        try:
            self._make()
            for name in NAMES:
                self._listeners += self.within(name, self._listen)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for one in self._listeners:
            one.close()
        for name in ("router", *NAMES):
            subprocess.run(["ip", "netns", "del", self._prefix + name], capture_output=True, check=False)

    def _make(self):
        p = self._prefix
        lines = [f"ip netns add {p}{name}" for name in ("router", *NAMES)]
        lines.append(f"ip netns exec {p}router sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1")
        for number, name in enumerate(NAMES, 1):
            inside, router = f"ip -n {p}{name}", f"ip -n {p}router"
            lines += [
                f"{router} link add v{number} type veth peer name eth0 netns {p}{name}",
                f"{router} addr add 10.9.{number}.1/24 dev v{number}",
                f"{router} addr add fd09:{number}::1/64 dev v{number} nodad",
                f"{router} link set v{number} up",
                f"{inside} addr add 10.9.{number}.2/24 dev eth0",
                f"{inside} addr add fd09:{number}::2/64 dev eth0 nodad",
                f"{inside} link set eth0 up",
                f"{inside} route add default via 10.9.{number}.1",
                f"{inside} route add default via fd09:{number}::1",
            ]
        subprocess.run(["sh", "-ec", "\n".join(lines)], check=True, timeout=SECONDS)

    def within(self, name, call):
        """Call on a thread that is in a pod's namespace; sockets made there stay there."""
        outcome = []

        def run():
            with Path(f"/run/netns/{self._prefix}{name}").open() as namespace:
                if self._libc.setns(namespace.fileno(), CLONE_NEWNET):
                    raise OSError(ctypes.get_errno(), "setns")
            outcome.append(call())

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        return outcome[0]

    def apply(self, text):
        """Hand the router a transaction of nftables."""
        command = ["ip", "netns", "exec", f"{self._prefix}router", "nft", "-f", "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=SECONDS)
        assert done.returncode == 0, f"{done.stderr}\n{text}"

    def shown(self, *words):
        """Return what a program on the router prints."""
        command = ["ip", "netns", "exec", f"{self._prefix}router", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS).stdout

    def _listen(self):
        made = []
        for version, family in ((4, socket.AF_INET), (6, socket.AF_INET6)):
            for protocol, port in PORTS:
                one = socket.socket(family, socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM)
                made.append(one)
                one.setblocking(False)
                if version == 6:
                    one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                one.bind(("::" if version == 6 else "0.0.0.0", port))
                if protocol == "tcp":
                    one.listen(256)
        return made

    def connect(self, cell):
        """Return a socket that tries to reach a cell's target; each has a port that no earlier one had."""
        family = socket.AF_INET if cell.version == 4 else socket.AF_INET6
        one = socket.socket(family, socket.SOCK_STREAM if cell.protocol == "tcp" else socket.SOCK_DGRAM)
        one.setblocking(False)
        self._sent += 1
        # What the kernel remembers of an earlier connection from this port would let this one pass.
        one.bind(("0.0.0.0" if cell.version == 4 else "::", 10_000 + self._sent % 50_000))
        one.connect_ex((address(cell.target, cell.version), cell.port))
        if cell.protocol == "udp":
            with contextlib.suppress(OSError):
                one.send(b"?")
        return one

    def reached(self, cells, expected):
        """Return which cells are answered: all that are `expected` are waited for, the others only a moment."""
        expected, answered = set(expected), set()
        with contextlib.ExitStack() as stack:
            selector = stack.enter_context(selectors.DefaultSelector())
            for one in self._listeners:
                selector.register(one, selectors.EVENT_READ, None)
            for name in NAMES:
                own = [cell for cell in cells if cell.source == name]
                tried = self.within(name, lambda own=own: [(cell, self.connect(cell)) for cell in own])
                for cell, one in tried:
                    stack.callback(one.close)
                    wanted = selectors.EVENT_WRITE if cell.protocol == "tcp" else selectors.EVENT_READ
                    selector.register(one, wanted, cell)
            clock = SystemClock()
            deadline, closing = clock.monotonic() + SECONDS, None
            while clock.monotonic() < (closing or deadline):
                if closing is None and expected <= answered:
                    closing = clock.monotonic() + GRACE
                for key, _ in selector.select(GRACE):
                    if key.data is None:
                        _serve(key.fileobj)
                        continue
                    selector.unregister(key.fileobj)
                    if key.fileobj.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0:
                        answered.add(key.data)
        return answered


def _serve(one):
    with contextlib.suppress(BlockingIOError):
        if one.type == socket.SOCK_STREAM:
            one.accept()[0].close()
        else:
            one.sendto(b"!", one.recvfrom(64)[1])


def in_block(text, block):
    """Tell whether an address is in a range and in none that is left out of it."""
    one, cidr = ipaddress.ip_address(text), ipaddress.ip_network(block["cidr"])
    excepted = [ipaddress.ip_network(row) for row in block.get("except", ())]
    return one.version == cidr.version and one in cidr and not any(one in row for row in excepted)
