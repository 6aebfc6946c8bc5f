"""Pods keep their addresses within the cluster; to the rest of the world they have the node's.

Source: kubernetes ``pkg/kubelet/dockershim/network/kubenet/kubenet_linux.go`` (ensureMasqRule).
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence

COMMENT = "kubenet: SNAT for outbound traffic from cluster"
_WAIT_SECONDS = "5"
_TIMEOUT_SECONDS = 30.0

Run = Callable[[Sequence[str]], bool]
"""Runs a program; tells whether it succeeded."""


def masquerade_rule(cidr: str) -> list[str]:
    """Return the rule of the chain POSTROUTING for all that is not to the addresses `cidr`."""
    return [
        "-m", "comment", "--comment", COMMENT,
        "-m", "addrtype", "!", "--dst-type", "LOCAL",
        "!", "-d", cidr,
        "-j", "MASQUERADE",
    ]  # fmt: skip


def ensure_masquerade(cidr: str, run: Run | None = None) -> bool:
    """Append the rule unless it is there; tell whether it is there now. For all addresses there is nothing to do."""
    if cidr in {"", "0.0.0.0/0", "::/0"}:
        return True
    run = run or run_quietly
    program = "ip6tables" if ":" in cidr else "iptables"
    rule = ["POSTROUTING", *masquerade_rule(cidr)]
    line = [program, "-w", _WAIT_SECONDS, "-t", "nat"]
    return run([*line, "-C", *rule]) or run([*line, "-A", *rule])


def run_quietly(line: Sequence[str]) -> bool:
    """Run a program; tell whether it is there and succeeded."""
    try:
        done = subprocess.run(line, capture_output=True, check=False, timeout=_TIMEOUT_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
