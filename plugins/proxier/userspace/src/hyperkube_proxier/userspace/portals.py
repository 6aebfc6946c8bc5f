"""Portals: rules that lead packets for addresses which are not this machine's to the ports the proxier listens on.

External IPs and a load balancer's addresses belong to other devices; making them the node's own would have it answer
for them on its network. As kube-proxy's userspace mode did, two chains of table ``nat`` redirect what passes the node
on its way to them, and what the node itself sends. That needs root and iptables; else the address is not served.
Source: kubernetes 1.15 ``pkg/proxy/userspace/proxier.go`` (openPortal).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from shutil import which
from typing import NamedTuple, Protocol

from hyperkube_lib.proxy_rules.families import FAMILIES, of_family

CONTAINER, HOST = "KUBE-PORTALS-CONTAINER", "KUBE-PORTALS-HOST"
"""The chains for what comes in, and for what the node sends."""
_PROGRAMS = {"IPv4": "iptables", "IPv6": "ip6tables"}
_COMMENT = "handle ClusterIPs; NOTE: this must be before the NodePort rules"
_JUMPS = (("PREROUTING", CONTAINER), ("OUTPUT", HOST))


class Portal(NamedTuple):
    """An address and port that are served elsewhere; `protocol` in upper case."""

    protocol: str
    ip: str
    port: int


class Runner(Protocol):
    """Runs a program."""

    def __call__(self, argv: list[str], text: str = "") -> bool:
        """Run a program with that input; tell whether it succeeded."""


def run(argv: list[str], text: str = "") -> bool:
    """See `Runner`."""
    return subprocess.run(argv, input=text, capture_output=True, text=True, check=False).returncode == 0


def can_have_portals() -> bool:
    """Tell whether this process may write rules."""
    return os.geteuid() == 0 and which("iptables-restore") is not None


class Portals:
    """The portals of this machine; used on one thread."""

    def __init__(self, runner: Runner = run) -> None:
        self._run = runner
        self._open: dict[Portal, int] = {}

    def keep(self, wanted: Mapping[Portal, int]) -> bool:
        """Lead exactly these addresses to these ports of the node; tell whether the kernel took that."""
        if dict(wanted) == self._open:
            return True
        done = True
        for family in FAMILIES:
            ips = set(of_family((portal.ip for portal in (*wanted, *self._open)), family))
            if ips:
                rows = {portal: port for portal, port in wanted.items() if portal.ip in ips}
                done = self._write(_PROGRAMS[family], rows) and done
        self._open = dict(wanted) if done else {}
        return done

    def _write(self, program: str, rows: Mapping[Portal, int]) -> bool:
        """Write the chains anew in one transaction, then see to what leads to them."""
        lines = ["*nat", *(f":{chain} - [0:0]" for _, chain in _JUMPS)]
        for (protocol, ip, port), target in rows.items():
            kind = protocol.lower()
            lines += [
                f"-A {chain} -d {ip} -p {kind} -m {kind} --dport {port} -j REDIRECT --to-ports {target}"
                for _, chain in _JUMPS
            ]
        if not self._run([f"{program}-restore", "-w", "5", "--noflush"], "\n".join([*lines, "COMMIT\n"])):
            return False
        return all(self._jump(program, source, chain) for source, chain in _JUMPS)

    def _jump(self, program: str, source: str, chain: str) -> bool:
        rule = [source, "-m", "comment", "--comment", _COMMENT, "-j", chain]
        start = [program, "-w", "5", "-t", "nat"]
        return self._run([*start, "-C", *rule]) or self._run([*start, "-I", *rule])

    def remove_all(self) -> None:
        """Remove the chains, also those of a proxy that was killed."""
        self._open.clear()
        for program in filter(which, _PROGRAMS.values()):
            start = [program, "-w", "5", "-t", "nat"]
            if not self._run([*start, "-S", CONTAINER]):
                continue
            for source, chain in _JUMPS:
                self._run([*start, "-D", source, "-m", "comment", "--comment", _COMMENT, "-j", chain])
                self._run([*start, "-F", chain])
                self._run([*start, "-X", chain])
