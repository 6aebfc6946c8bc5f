"""The programs of iptables, of one IP family; the legacy ones or those of nf_tables, as the node has them.

Source: kubernetes ``pkg/util/iptables/iptables.go``.
"""

from __future__ import annotations

import re
import subprocess
from shutil import which
from typing import NamedTuple, Protocol

from hyperkube.hookspecs.proxier import IPFamily

_NAMES = {"IPv4": "iptables", "IPv6": "ip6tables"}
_LOCK_SECONDS = "5"
_TIMEOUT = 600
_LINE = re.compile(r"line:? (\d+)")


class RestoreFailed(RuntimeError):
    """``iptables-restore`` refused: each table is as it was, or as it should be."""


class Saved(NamedTuple):
    """What ``iptables-save`` shows: the chains, and the rules, of each table."""

    chains: dict[str, set[str]]
    rules: set[tuple[str, str]]

    def has(self, table: str, chain: str) -> bool:
        """Tell whether there is a chain."""
        return chain in self.chains.get(table, ())


class Programs(Protocol):
    """Reads and writes rules of one IP family."""

    def save(self) -> str:
        """Return all tables, as ``iptables-save`` shows them."""

    def restore(self, text: str) -> None:
        """Change what the text names, each table at once or not at all, and leave the rest.

        Raises:
            RestoreFailed: a table could not be changed.
        """

    def has_chain(self, table: str, chain: str) -> bool:
        """Tell whether there is a chain."""


class IptablesPrograms:
    """The programs in ``PATH``."""

    def __init__(self, family: IPFamily) -> None:
        self._name = _NAMES[family]

    def save(self) -> str:
        """See `Programs`."""
        return self._run([f"{self._name}-save"], "").stdout

    def restore(self, text: str) -> None:
        """See `Programs`."""
        done = self._run([f"{self._name}-restore", "-w", _LOCK_SECONDS, "--noflush"], text)
        if done.returncode:
            raise RestoreFailed(f"{self._name}-restore: {done.stderr.strip()}{_near(text, done.stderr)}")

    def has_chain(self, table: str, chain: str) -> bool:
        """See `Programs`."""
        done = self._run([self._name, "-w", _LOCK_SECONDS, "-t", table, "-S", chain], "")
        return done.returncode == 0

    @staticmethod
    def _run(argv: list[str], text: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(argv, input=text, capture_output=True, text=True, timeout=_TIMEOUT, check=False)


def is_there(family: IPFamily) -> bool:
    """Tell whether the programs of a family are in ``PATH``."""
    return all(which(f"{_NAMES[family]}{end}") for end in ("", "-save", "-restore"))


def parse(text: str, interesting: frozenset[str]) -> Saved:
    """Return what ``iptables-save`` shows: all chains, and the rules of the `interesting` ones by table."""
    chains: dict[str, set[str]] = {}
    rules: set[tuple[str, str]] = set()
    table = ""
    for line in text.splitlines():
        if line.startswith("*"):
            table = line[1:]
        elif line.startswith(":"):
            chains.setdefault(table, set()).add(line[1:].partition(" ")[0])
        elif line.startswith("-A ") and line[3:].partition(" ")[0] in interesting:
            rules.add((table, line[3:]))
    return Saved(chains, rules)


def _near(text: str, message: str) -> str:
    """Return the line that a message is about, for people."""
    found = _LINE.search(message)
    lines = text.splitlines()
    number = int(found[1]) if found else 0
    return f" ({lines[number - 1]})" if 0 < number <= len(lines) else ""
