"""The tables of one IP family: what is in them, and the syncs that write what changed.

What a sync wrote is remembered and not read back: only a full one, at the start, after a failure and now and then,
looks at what is there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from hyperkube_lib.proxy_rules.local_detector import local_detector
from hyperkube_lib.proxy_rules.node_port_addresses import NodePortAddresses, node_port_addresses
from hyperkube_proxier.iptables.chains import CANARY, KUBELET_FIREWALL, MARK_MASQ, SERVICE_PREFIXES
from hyperkube_proxier.iptables.common_rules import (
    FILTER_CHAINS,
    INVALID_DROPPED,
    JUMPS,
    KUBELET_JUMPS,
    NAT_CHAINS,
    forward_rules,
    localnet_rule,
    mark_rule,
    masquerade_rules,
    node_port_rules,
)
from hyperkube_proxier.iptables.metrics import RuleMetrics
from hyperkube_proxier.iptables.programs import Programs, RestoreFailed, Saved, parse
from hyperkube_proxier.iptables.service_rules import LOCALHOST_ACCEPTED, Context, ServiceRules, service_rules
from hyperkube_proxier.iptables.settings import IptablesSettings

from hyperkube.hookspecs.proxier import IPFamily, ProxyNode, ProxyState, ServicePortName

SERVICES_PER_BATCH = 100
"""Service ports whose chains are written in one transaction when everything is."""
LARGE_CLUSTER_ENDPOINTS = 1000
"""Endpoints above which their chains say no more whose they are: that is a third of the text."""
TABLES = ("mangle", "nat", "filter")
_KERNEL_CHAINS = frozenset({"INPUT", "OUTPUT", "FORWARD", "PREROUTING", "POSTROUTING"})


class _Written(NamedTuple):
    """What is in the tables for one service port."""

    filter: tuple[str, ...]
    nat: tuple[str, ...]
    chains: tuple[str, ...]
    own_rules: int


class Batch:
    """The input of ``iptables-restore`` for one table: chains first, as it wants them."""

    def __init__(self, table: str) -> None:
        self._table = table
        self._chains: dict[str, None] = {}
        self.rules: list[str] = []

    def flush(self, chains: Iterable[str]) -> None:
        """Make chains, or empty them."""
        self._chains.update(dict.fromkeys(chains))

    def add(self, other: Batch) -> None:
        """Do what another batch of the table does, too."""
        self.flush(other._chains)
        self.rules += other.rules

    def delete(self, chains: Iterable[str]) -> None:
        """Delete chains."""
        names = sorted(chains)
        self.flush(names)
        self.rules += [f"-X {name}" for name in names]

    def text(self) -> str:
        """Return it; empty if nothing is to be done."""
        if not (self._chains or self.rules):
            return ""
        chains = [f":{chain} - [0:0]" for chain in self._chains]
        return "\n".join([f"*{self._table}", *chains, *self.rules, "COMMIT\n"])


class FamilyTables:
    """The tables of one family; used on one thread."""

    def __init__(
        self,
        family: IPFamily,
        settings: IptablesSettings,
        programs: Programs,
        metrics: RuleMetrics,
        has_counter: Callable[[str], bool],
    ) -> None:
        self._family = family
        self._settings = settings
        self._programs = programs
        self._metrics = metrics
        self._has_counter = has_counter
        self._written: dict[ServicePortName, _Written] = {}
        self._is_known = False
        self._node = ProxyNode()
        self._addresses: list[str] | None = None
        self._log = logging.getLogger("hyperkube.proxier.iptables")

    def sync(self, state: ProxyState) -> None:
        """Write what changed, or everything.

        Raises:
            RestoreFailed: a table could not be changed; the next sync writes everything.
        """
        changed = state.changed
        full = changed is None or not self._is_known
        self._is_known, self._node = False, state.node
        try:
            if changed is None or full:
                self._sync_fully(state)
            else:
                self._sync_partially(state, changed)
        except RestoreFailed:
            self._metrics.failed(self._family, partial=not full)
            raise
        self._is_known = True

    def _sync_fully(self, state: ProxyState) -> None:
        saved = parse(self._programs.save(), _KERNEL_CHAINS)
        context = self._context(state)
        rules = {name: service_rules(port, context) for name, port in state.services.items()}
        written = {name: _written(each) for name, each in rules.items()}
        filters, nat = Batch("filter"), Batch("nat")
        filters.flush(FILTER_CHAINS)
        filters.flush(chain for chain in (CANARY, KUBELET_FIREWALL) if not saved.has("filter", chain))
        if self._localhost_node_ports:
            filters.flush([KUBELET_FIREWALL])
            filters.rules.append(localnet_rule())
        nat.flush(NAT_CHAINS)
        nat.flush(chain for chain in (CANARY,) if not saved.has("nat", chain))
        active = {chain for each in rules.values() for chain in each.chains}
        self._common_filter(filters, written)
        nat.rules += masquerade_rules(self._settings.mark)
        self._common_nat(nat, written)
        *earlier, last = self._own_batches(rules.values())
        nat.add(last)
        stale = {chain for chain in saved.chains.get("nat", ()) if chain.startswith(SERVICE_PREFIXES)} - active
        nat.delete(stale)
        for batch, table in ((filters, "filter"), (nat, "nat")):
            batch.rules += _missing_jumps(saved, table)
        mangle = Batch("mangle")
        mangle.flush(chain for chain in (CANARY,) if not saved.has("mangle", chain))
        self._restore(mangle, *earlier, filters, nat, deleted=len(stale), written=written)

    def _own_batches(self, rules: Iterable[ServiceRules]) -> list[Batch]:
        """Return the services' own chains, some services a batch.

        The time that iptables of nf_tables takes for a transaction grows with the square of its chains: 5,000 services
        at once are twelve seconds of CPU, in parts less than two. Each part is whole for its services, and nothing
        leads to new chains before the last batch, which has the shared ones.
        """
        waiting = list(rules)
        batches = []
        for start in range(0, max(len(waiting), 1), SERVICES_PER_BATCH):
            batch = Batch("nat")
            if start + SERVICES_PER_BATCH < len(waiting):
                batch.flush([MARK_MASQ])
                batch.rules.append(mark_rule(self._settings.mark))
            for each in waiting[start : start + SERVICES_PER_BATCH]:
                batch.flush(each.chains)
                batch.rules += each.own
            batches.append(batch)
        return batches

    def _sync_partially(self, state: ProxyState, changed: frozenset[ServicePortName]) -> None:
        context = self._context(state)
        rules = {
            name: service_rules(state.services[name], context) for name in changed if name in state.services
        }  # fmt: skip
        new = {name: _written(each) for name, each in rules.items()}
        old = {name: self._written[name] for name in changed if name in self._written}
        written = {name: each for name, each in self._written.items() if name not in old or name in new} | new
        filters, nat = Batch("filter"), Batch("nat")
        if _shared(old, "filter") != _shared(new, "filter"):
            filters.flush(chain for chain in FILTER_CHAINS)
            self._common_filter(filters, written)
        active = {chain for each in new.values() for chain in each.chains}
        nat.flush(active)
        if _shared(old, "nat") != _shared(new, "nat"):
            nat.flush(chain for chain in NAT_CHAINS)
            nat.rules += masquerade_rules(self._settings.mark)
            self._common_nat(nat, written)
        nat.rules += [line for each in rules.values() for line in each.own]
        stale = {chain for each in old.values() for chain in each.chains} - active
        nat.delete(stale)
        self._restore(filters, nat, deleted=len(stale), written=written)

    def _restore(self, *batches: Batch, deleted: int, written: dict[ServicePortName, _Written]) -> None:
        text = "".join(batch.text() for batch in batches)
        if text:
            self._programs.restore(text)
        self._written = written
        *earlier, filters, nat = batches
        self._metrics.wrote(
            self._family,
            total={
                "filter": _count(written, "filter") + len(self._forward_rules()),
                "nat": _count(written, "nat") + sum(each.own_rules for each in written.values()),
            },
            last={
                "filter": len(filters.rules),
                "nat": len(nat.rules) + sum(len(each.rules) for each in earlier) - deleted,
            },
        )

    def _common_filter(self, batch: Batch, written: Mapping[ServicePortName, _Written]) -> None:
        batch.rules += [line for each in written.values() for line in each.filter]
        batch.rules += self._forward_rules()

    def _forward_rules(self) -> list[str]:
        drops = not self._settings.conntrack_tcp_be_liberal
        counts = drops and self._has_counter(INVALID_DROPPED)
        return list(forward_rules(self._settings.mark, drops_invalid=drops, counts_invalid=counts))

    def _common_nat(self, batch: Batch, written: Mapping[ServicePortName, _Written]) -> None:
        batch.rules += [line for each in written.values() for line in each.nat]
        self._addresses = self._own_addresses()
        batch.rules += node_port_rules(self._family, self._addresses, localhost=self._localhost_node_ports)

    @property
    def _where(self) -> NodePortAddresses:
        return node_port_addresses(self._settings.nodeport_addresses, self._node, self._family)

    @property
    def _localhost_node_ports(self) -> bool:
        return self._settings.localhost_node_ports and self._where.contains_ipv4_loopback

    def _own_addresses(self) -> list[str] | None:
        """Return the addresses that node ports are open on; None for all."""
        if self._where.match_all:
            return None
        loopback = ("127.", "::1") if not self._localhost_node_ports else ("::1",)
        return [address for address in self._where.addresses() if not address.startswith(loopback)]

    def _context(self, state: ProxyState) -> Context:
        endpoints = sum(len(port.endpoints) for port in state.services.values())
        return Context(
            family=self._family,
            node=state.node,
            detector=local_detector(self._settings.detection, state.node, self._family),
            masquerade_all=self._settings.masquerade_all,
            comments=endpoints <= LARGE_CLUSTER_ENDPOINTS,
            counts_localhost=self._localhost_node_ports and self._has_counter(LOCALHOST_ACCEPTED),
        )

    def lost(self) -> bool:
        """Tell whether another program has removed rules, or node ports are open on other addresses by now."""
        if not self._is_known:
            return False
        if not all(self._programs.has_chain(table, CANARY) for table in TABLES):
            self._log.info("%s: the rules are gone; all are written again", self._family)
            return True
        return self._own_addresses() != self._addresses

    def cleanup(self) -> None:
        """Remove every chain of the proxy's and what leads to it.

        Raises:
            RestoreFailed: a table could not be changed.
        """
        self._is_known, self._written = False, {}
        saved = parse(self._programs.save(), _KERNEL_CHAINS)
        batches = [_removal(saved, table) for table in TABLES]
        text = "".join(batch.text() for batch in batches)
        if text:
            self._programs.restore(text)


def _removal(saved: Saved, table: str) -> Batch:
    batch = Batch(table)
    own = {"filter": FILTER_CHAINS, "nat": NAT_CHAINS}.get(table, ())
    batch.rules += [
        f"-D {jump.source} {jump.rule}"
        for jump in JUMPS
        if jump.table == table and (table, f"{jump.source} {jump.rule}") in saved.rules
    ]
    chains = saved.chains.get(table, set())
    batch.delete(
        chain for chain in chains if chain in (*own, CANARY) or (table == "nat" and chain.startswith(SERVICE_PREFIXES))
    )
    return batch


def _missing_jumps(saved: Saved, table: str) -> list[str]:
    return [
        f"-I {jump.source} {jump.rule}"
        for jump in (*JUMPS, *KUBELET_JUMPS)
        if jump.table == table and (table, f"{jump.source} {jump.rule}") not in saved.rules
    ]


def _written(rules: ServiceRules) -> _Written:
    return _Written(rules.filter, rules.nat, rules.chains, len(rules.own))


def _shared(written: Mapping[ServicePortName, _Written], table: str) -> dict[ServicePortName, tuple[str, ...]]:
    return {name: lines for name, each in written.items() if (lines := getattr(each, table))}


def _count(written: Mapping[ServicePortName, _Written], table: str) -> int:
    return sum(len(getattr(each, table)) for each in written.values())
