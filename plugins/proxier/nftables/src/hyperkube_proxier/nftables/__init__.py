"""nftables: Services as maps and rules of nftables; what kube-proxy's nftables mode does.

A packet to a service's address is looked up in one map, however many services there are, and led to the chain of its
service port, which chooses among the endpoints.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from shutil import which

from hyperkube_lib.proxy_rules.families import FAMILIES
from hyperkube_proxier.nftables.metrics import TableMetrics
from hyperkube_proxier.nftables.programs import Nft, NftProgram
from hyperkube_proxier.nftables.settings import NftablesSettings
from hyperkube_proxier.nftables.table import TIDY_SECONDS, FamilyTable

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.proxier import IPFamily, ProxyState, UnservedPort
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import Plugin

__all__ = ["Nftables", "NftablesProxier"]

_IPV6 = Path("/proc/net/if_inet6")


class NftablesProxier:
    """Keeps the table of each IP family; a `KernelProxier` that `TidiesLater`."""

    def __init__(
        self, settings: NftablesSettings, programs: Mapping[IPFamily, Nft], metrics: TableMetrics, clock: Clock
    ) -> None:
        self.families: tuple[IPFamily, ...] = tuple(programs)
        self._tables = {
            family: FamilyTable(family, settings, each, metrics, clock) for family, each in programs.items()
        }

    def sync(self, state: ProxyState) -> list[UnservedPort]:
        """Write what changed; everything can be served.

        Raises:
            TransactionFailed: the kernel refused.
        """
        self._tables[state.family].sync(state)
        return []

    def rules_lost(self) -> bool:
        """Tell whether another program has removed a table."""
        return any(table.lost() for table in self._tables.values())

    def tidy(self) -> float | None:
        """Delete the chains that have been empty for long enough."""
        waits = [table.delete_stale_chains(TIDY_SECONDS) for table in self._tables.values()]
        return min((seconds for seconds in waits if seconds is not None), default=None)

    def cleanup(self) -> None:
        """Remove the tables."""
        for table in self._tables.values():
            table.cleanup()

    def close(self) -> None:
        """Do nothing: the tables stay, and serve until the next proxy comes."""


class Nftables(Plugin):
    """Builds the proxier from the proxy's own flags."""

    @hookimpl
    def proxier_build(self) -> NftablesProxier:
        """Return the proxier; it has written nothing yet."""
        settings = self.settings(NftablesSettings)
        settings.check()
        if which("nft") is None:
            raise UsageError("--proxy-mode=nftables needs the program nft")
        if os.geteuid() != 0:
            raise UsageError("--proxy-mode=nftables needs root; another mode, like userspace, may not")
        families = [family for family in FAMILIES if family == "IPv4" or _IPV6.exists()]
        programs: dict[IPFamily, Nft] = {family: NftProgram(family) for family in families}
        try:
            for program in programs.values():
                program.is_there()
        except OSError as error:
            # Root of a container may have no right to it, and a kernel may come without.
            raise UsageError(f"--proxy-mode=nftables needs nftables in the kernel: {error.strerror}") from error
        metrics = TableMetrics()
        if self.context.metrics is not None:
            self.context.metrics.register(metrics)
        return NftablesProxier(settings, programs, metrics, self.context.clock)
