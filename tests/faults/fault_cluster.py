"""Three etcd members behind proxies, and API servers that reach them only through these."""

from __future__ import annotations

import contextlib

from fault_proxies import Proxy
from server_processes import ApiServer, Etcd, running

OPEN = ("--authorization-mode=AlwaysAllow", "--disable-admission-plugins=ServiceAccount")
NAMES = ("m0", "m1", "m2")


class Member(Etcd):
    """One of three etcds.

    Attributes:
        front: the proxy between it and its clients.
        side: the proxy between it and what the other members send and ask it.
    """

    def __init__(self, folder, name):
        super().__init__(folder)
        self.name = name
        self.log, self.data = folder / f"{name}.log", folder / f"{name}-data"
        self.front, self.side = Proxy(_port(self.url)), Proxy(_port(self.peer))
        self.members: list[Member] = []

    def command(self):
        cluster = ",".join(f"{member.name}={member.side.url}" for member in self.members)
        return [
            "etcd", f"--data-dir={self.data}", f"--name={self.name}", "--logger=zap",
            f"--listen-client-urls={self.url}", f"--advertise-client-urls={self.front.url}",
            f"--listen-peer-urls={self.peer}", f"--initial-advertise-peer-urls={self.side.url}",
            f"--initial-cluster={cluster}", "--heartbeat-interval=100", "--election-timeout=1000",
        ]  # fmt: skip


def _port(url):
    return int(url.rpartition(":")[2])


@contextlib.contextmanager
def three_members(folder):
    """Start three members of one cluster."""
    members = [Member(folder, name) for name in NAMES]
    for member in members:
        member.members = members
    try:
        for member in members:
            member.launch()
        for member in members:
            member.wait()
        yield members
    finally:
        for member in members:
            member.stop()
            member.front.close()
            member.side.close()


@contextlib.contextmanager
def two_servers(folder, members, *flags):
    """Start two API servers; each begins with another member."""
    urls = [member.front.url for member in members]
    servers = [
        ApiServer(
            folder, f"--etcd-servers={','.join(urls[number:] + urls[:number])}", *OPEN, *flags, name=f"api{number}"
        )
        for number in range(2)
    ]
    with running(*servers):
        yield servers
