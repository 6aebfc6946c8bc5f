"""iptables: Services as rules of iptables, legacy or nf_tables; what kube-proxy's iptables mode does.

Every service port has chains of its own, whose names are hashes; a packet to one of its addresses is led there from
chains that all services share, and on to a chain of one endpoint, chosen by chance.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

from hyperkube_lib.proxy_rules.families import FAMILIES
from hyperkube_lib.proxy_rules.node_port_addresses import node_port_addresses
from hyperkube_lib.proxy_rules.sysctls import ROUTE_LOCALNET, ensure_sysctl
from hyperkube_proxier.iptables import nfacct
from hyperkube_proxier.iptables.metrics import RuleMetrics
from hyperkube_proxier.iptables.programs import IptablesPrograms, Programs, is_there
from hyperkube_proxier.iptables.settings import IptablesSettings
from hyperkube_proxier.iptables.tables import FamilyTables

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.proxier import IPFamily, ProxyState, UnservedPort
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import Plugin

__all__ = ["Iptables", "IptablesProxier"]

_IPV6 = Path("/proc/net/if_inet6")


class IptablesProxier:
    """Keeps the tables of each IP family; a `KernelProxier`."""

    def __init__(
        self,
        settings: IptablesSettings,
        programs: Mapping[IPFamily, Programs],
        metrics: RuleMetrics,
        *,
        has_counter: Callable[[str], bool],
        ensure: Callable[[str, int], bool] = ensure_sysctl,
    ) -> None:
        self.families: tuple[IPFamily, ...] = tuple(programs)
        self._settings = settings
        self._ensure_sysctl = ensure
        self._tables = {
            family: FamilyTables(family, settings, each, metrics, has_counter) for family, each in programs.items()
        }

    def sync(self, state: ProxyState) -> list[UnservedPort]:
        """Write what changed; everything can be served.

        Raises:
            RestoreFailed: the kernel refused.
        """
        if state.family == "IPv4" and state.changed is None:
            self._open_loopback(state)
        self._tables[state.family].sync(state)
        return []

    def _open_loopback(self, state: ProxyState) -> None:
        """Let packets to loopback be translated, where node ports are open on it."""
        where = node_port_addresses(self._settings.nodeport_addresses, state.node, state.family)
        if self._settings.localhost_node_ports and where.contains_ipv4_loopback:
            self._ensure_sysctl(ROUTE_LOCALNET, 1)

    def rules_lost(self) -> bool:
        """Tell whether another program has removed rules."""
        return any(tables.lost() for tables in self._tables.values())

    def cleanup(self) -> None:
        """Remove all rules and chains but the kubelet's."""
        for tables in self._tables.values():
            tables.cleanup()

    def close(self) -> None:
        """Do nothing: the rules stay, and serve until the next proxy comes."""


class Iptables(Plugin):
    """Builds the proxier from ``--iptables-*`` and the proxy's own flags."""

    @hookimpl
    def proxier_build(self) -> IptablesProxier:
        """Return the proxier; it has written nothing yet."""
        settings = self.settings(IptablesSettings)
        settings.check()
        families = [family for family in FAMILIES if is_there(family)]
        if not families:
            raise UsageError("--proxy-mode=iptables needs the programs iptables, iptables-save and iptables-restore")
        if os.geteuid() != 0:
            raise UsageError("--proxy-mode=iptables needs root; another mode, like userspace, may not")
        if not _IPV6.exists():
            families = [family for family in families if family != "IPv6"]
        metrics = RuleMetrics(nfacct.packets)
        if self.context.metrics is not None:
            self.context.metrics.register(metrics)
        programs: dict[IPFamily, Programs] = {family: IptablesPrograms(family) for family in families}
        return IptablesProxier(settings, programs, metrics, has_counter=lru_cache(nfacct.ensure_counter))
