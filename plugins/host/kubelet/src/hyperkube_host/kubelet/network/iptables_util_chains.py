"""Chains of iptables that the kubelet makes for other components, and the rule that guards 127.0.0.0/8.

``KUBE-IPTABLES-HINT`` tells programs in containers which of the two kinds of iptables this node uses. kube-proxy lets
NodePorts be reached at localhost, which opens the node's own services to its neighbours: packets from elsewhere to
127.0.0.0/8 are dropped in ``KUBE-FIREWALL``, where kube-proxy has the same rule. A flush of the tables takes the
canary chains along, by which it is found out.

Source: kubernetes ``pkg/kubelet/kubelet_network_linux.go`` (initNetworkUtil), ``pkg/util/iptables`` (Monitor).
"""

from __future__ import annotations

import logging
import subprocess
from collections.abc import Callable, Sequence
from shutil import which

PERIOD_SECONDS = 60.0
HINT_CHAIN, FIREWALL_CHAIN, CANARY_CHAIN = "KUBE-IPTABLES-HINT", "KUBE-FIREWALL", "KUBE-KUBELET-CANARY"
_CANARY_TABLES = ("mangle", "nat", "filter")
_MARTIANS = (
    "-m", "comment", "--comment", "block incoming localnet connections", "--dst", "127.0.0.0/8",
    "!", "--src", "127.0.0.0/8", "-m", "conntrack", "!", "--ctstate", "RELATED,ESTABLISHED,DNAT", "-j", "DROP",
)  # fmt: skip
_PROTOCOLS = {"iptables": "IPv4", "ip6tables": "IPv6"}
_WAIT_SECONDS = "5"
_TIMEOUT_SECONDS = 30.0
_log = logging.getLogger("hyperkube.kubelet")

Run = Callable[[Sequence[str]], bool]
"""Runs a program; tells whether it succeeded."""


def run_program(line: Sequence[str]) -> bool:
    """Run a program; tell whether it succeeded in time."""
    try:
        return subprocess.run(line, capture_output=True, check=False, timeout=_TIMEOUT_SECONDS).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


class IptablesUtilChains:
    """Keeps the chains there, for each IP family whose program is."""

    def __init__(self, programs: Sequence[str] = tuple(_PROTOCOLS), run: Run = run_program) -> None:
        """Look for the programs of `programs` that this node has."""
        self._programs = [program for program in programs if which(program)]
        self._run = run
        self._made: dict[str, bool] = {}
        if not self._programs:
            # No error: nothing can use iptables here that would need the chains.
            _log.info("No iptables support on this system; not creating the KUBE-IPTABLES-HINT chain")

    def sync(self) -> float:
        """Make what is missing; return the seconds until the next look."""
        for program in self._programs:
            first = program not in self._made
            if not first and all(self._has_chain(program, table, CANARY_CHAIN) for table in _CANARY_TABLES):
                continue
            made = self._make(program)
            if first or made != self._made[program]:
                protocol = _PROTOCOLS[program]
                if made:
                    _log.info("Initialized iptables rules (%s).", protocol)
                else:
                    text = "Failed to initialize iptables rules (%s); some functionality may be missing."
                    _log.warning(text, protocol)
            self._made[program] = made
        return PERIOD_SECONDS

    def _make(self, program: str) -> bool:
        made = self._ensure_chain(program, "mangle", HINT_CHAIN)
        if program == "iptables":  # IPv6 has one address of its own host, and no route to it from elsewhere
            made = made and self._ensure_firewall(program)
        return made and all(self._ensure_chain(program, table, CANARY_CHAIN) for table in _CANARY_TABLES)

    def _ensure_firewall(self, program: str) -> bool:
        jump = ("-j", FIREWALL_CHAIN)
        return (
            self._ensure_chain(program, "filter", FIREWALL_CHAIN)
            and self._ensure_rule(program, "-I", "OUTPUT", jump)
            and self._ensure_rule(program, "-I", "INPUT", jump)
            and self._ensure_rule(program, "-A", FIREWALL_CHAIN, _MARTIANS)
        )

    def _has_chain(self, program: str, table: str, chain: str) -> bool:
        return self._run([program, "-w", _WAIT_SECONDS, "-S", chain, "1", "-t", table])

    def _ensure_chain(self, program: str, table: str, chain: str) -> bool:
        return self._has_chain(program, table, chain) or self._run(
            [program, "-w", _WAIT_SECONDS, "-N", chain, "-t", table]
        )

    def _ensure_rule(self, program: str, add: str, chain: str, rule: Sequence[str]) -> bool:
        line = [program, "-w", _WAIT_SECONDS]
        return self._run([*line, "-C", chain, "-t", "filter", *rule]) or self._run(
            [*line, add, chain, "-t", "filter", *rule]
        )
