"""What is in the kernel's table of one IP family: written by ``nft``, and asked for over netlink, which is quicker.

Source of the numbers: Linux ``include/uapi/linux/netfilter/nf_tables.h``.
"""

from __future__ import annotations

import socket
import subprocess
from typing import Protocol

from hyperkube_lib.proxy_rules.netlink import DUMP, ask_netfilter, attribute, attributes
from hyperkube_proxier.nftables.common_rules import ip_word
from hyperkube_proxier.nftables.names import SERVICES, TABLE

from hyperkube.hookspecs.proxier import IPFamily

_TIMEOUT = 600
_GET_CHAIN, _GET_SET = 0x0A04, 0x0A0A
_CHAIN_TABLE, _CHAIN_NAME = 1, 3
_SET_TABLE, _SET_NAME, _SET_TIMEOUT = 1, 2, 11
_ANONYMOUS = "__"
"""What the names of sets begin with that are part of a rule."""


class TransactionFailed(RuntimeError):
    """``nft`` refused: the table is as it was."""


class Nft(Protocol):
    """Reads and writes the table of one IP family."""

    def run(self, text: str) -> None:
        """Make all changes of a transaction at once.

        Raises:
            TransactionFailed: none could be made.
        """

    def chains(self) -> set[str]:
        """Return the names of the chains; none if there is no table."""

    def sets(self) -> dict[str, int]:
        """Return the named sets and maps, each with the seconds its elements stay; 0 for ever."""

    def is_there(self) -> bool:
        """Tell whether the chain is there that leads to the services."""


class NftProgram:
    """The program ``nft`` in ``PATH``, and the kernel."""

    def __init__(self, family: IPFamily) -> None:
        self.ip = ip_word(family)
        self._family = socket.AF_INET6 if family == "IPv6" else socket.AF_INET

    def run(self, text: str) -> None:
        """See `Nft`."""
        done = subprocess.run(
            ["nft", "-f", "-"], input=text, capture_output=True, text=True, timeout=_TIMEOUT, check=False
        )
        if done.returncode:
            raise TransactionFailed(f"nft: {done.stderr.strip()[:2000]}")

    def chains(self) -> set[str]:
        """See `Nft`."""
        rows = [attributes(answer) for answer in ask_netfilter(_GET_CHAIN, DUMP, self._family, b"")]
        return {_text(row[_CHAIN_NAME]) for row in rows if _text(row[_CHAIN_TABLE]) == TABLE}

    def sets(self) -> dict[str, int]:
        """See `Nft`."""
        rows = [attributes(answer) for answer in ask_netfilter(_GET_SET, DUMP, self._family, b"")]
        found = {
            _text(row[_SET_NAME]): int.from_bytes(row.get(_SET_TIMEOUT, b""), "big") // 1000
            for row in rows
            if _text(row[_SET_TABLE]) == TABLE
        }
        return {name: seconds for name, seconds in found.items() if not name.startswith(_ANONYMOUS)}

    def is_there(self) -> bool:
        """See `Nft`."""
        request = attribute(_CHAIN_TABLE, TABLE.encode() + b"\0") + attribute(_CHAIN_NAME, SERVICES.encode() + b"\0")
        try:
            return bool(list(ask_netfilter(_GET_CHAIN, 0, self._family, request)))
        except FileNotFoundError:
            return False


def _text(data: bytes) -> str:
    return data.rstrip(b"\0").decode()
