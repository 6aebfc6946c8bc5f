"""The table of one IP family: what is in it, and the syncs that write what changed.

What a sync wrote is remembered and not read back: only a full one, at the start, after a failure and now and then,
looks at what is there.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from hyperkube_lib.proxy_rules.families import of_family
from hyperkube_lib.proxy_rules.local_detector import local_detector
from hyperkube_lib.proxy_rules.node_port_addresses import node_port_addresses
from hyperkube_proxier.nftables.common_rules import (
    BASE_CHAINS,
    COMMENTS,
    MAPS,
    CommonContext,
    address_type,
    common_chains,
    containers,
    ip_word,
)
from hyperkube_proxier.nftables.elements import SharedElements
from hyperkube_proxier.nftables.metrics import TableMetrics
from hyperkube_proxier.nftables.names import NODEPORT_IPS, is_service_chain
from hyperkube_proxier.nftables.programs import Nft, TransactionFailed
from hyperkube_proxier.nftables.service_rules import Context, Element, ServiceRules, service_rules
from hyperkube_proxier.nftables.settings import NftablesSettings
from hyperkube_proxier.nftables.transaction import Transaction

from hyperkube.hookspecs.proxier import IPFamily, ProxyNode, ProxyState, ServicePortName
from hyperkube.machinery.clock import Clock

STALE_SECONDS = 1.0
"""How long a chain stays, empty, that nothing leads to any more: before 6.2 the kernel learns of that late."""
TIDY_SECONDS = 3.0
"""The same where no sync comes: the original leaves it until then, and its syncs are at least a second apart."""
RETRY_SECONDS = 30.0
_NOTHING = ServiceRules()


class FamilyTable:
    """The table of one family; used on one thread."""

    def __init__(
        self, family: IPFamily, settings: NftablesSettings, nft: Nft, metrics: TableMetrics, clock: Clock
    ) -> None:
        self._family = family
        self._settings = settings
        self._nft = nft
        self._metrics = metrics
        self._clock = clock
        self._written: dict[ServicePortName, ServiceRules] = {}
        self._elements = SharedElements()
        self._common: CommonContext | None = None
        self._stale: dict[str, float] = {}
        """Empty chains, with the time since when."""
        self._is_known = False
        self._node = ProxyNode()
        self._log = logging.getLogger("hyperkube.proxier.nftables")

    def sync(self, state: ProxyState) -> None:
        """Write what changed, or everything.

        Raises:
            TransactionFailed: nothing could be changed; the next sync writes everything.
        """
        self.delete_stale_chains()
        changed, common = state.changed, self._common_context(state)
        full = changed is None or not self._is_known or common != self._common
        self._is_known, self._node, self._common = False, state.node, common
        try:
            if changed is None or full:
                self._sync_fully(state, common)
            else:
                self._sync_partially(state, changed)
        except TransactionFailed:
            self._metrics.sync_failed(self._family)
            raise
        self._is_known = True

    def _sync_fully(self, state: ProxyState, common: CommonContext) -> None:
        chains, sets = self._nft.chains(), self._nft.sets()
        try:
            self._write_all(state, common, chains, sets, afresh=False)
        except TransactionFailed as error:
            if not chains:
                raise
            # Something in the table is other than we make it, so it is made again, still in one transaction.
            self._log.warning("%s: the table is made afresh: %s", self._family, error)
            self._write_all(state, common, set(), {}, afresh=True)

    def _write_all(
        self, state: ProxyState, common: CommonContext, chains: set[str], sets: dict[str, int], *, afresh: bool
    ) -> None:
        context = self._context(state)
        self._written = {name: service_rules(port, context) for name, port in state.services.items()}
        self._elements, self._stale = SharedElements(), {}
        transaction = self._transaction()
        transaction.add_table(afresh=afresh)
        self._write_common(transaction, common, chains)
        wanted = {name: each.affinity_seconds for each in self._written.values() for name in each.affinity_sets}
        self._remove_leftovers(transaction, chains, sets, wanted, containers(common).keys())
        for name, rules in self._written.items():
            for chain, lines in rules.chains.items():
                self._write_chain(transaction, chain, lines, is_there=chain in chains)
            for element in rules.elements:
                self._elements.add(name, element)
        for affinity_set, seconds in wanted.items():
            if sets.get(affinity_set) != seconds:
                self._add_affinity_set(transaction, affinity_set, seconds)
        for element in self._elements.all():
            transaction.add_element(element)
        self._nft.run(transaction.text())

    def _write_common(self, transaction: Transaction, common: CommonContext, there: set[str]) -> None:
        """Make what all services share; its sets and maps are empty then, but for the node's addresses."""
        for name, definition in containers(common).items():
            kind = "map" if name in MAPS else "set"
            transaction.add_container(kind, name, definition)
            transaction.flush_container(kind, name)
        for chain, lines in common_chains(common).items():
            definition = BASE_CHAINS.get(chain, "")
            if chain in COMMENTS:
                definition = f'comment "{COMMENTS[chain]}" ;'
            self._write_chain(transaction, chain, lines, definition, is_there=chain in there)
        for ip in common.node_port_ips or ():
            transaction.add_element(Element(NODEPORT_IPS, ip))

    def _remove_leftovers(
        self,
        transaction: Transaction,
        chains: set[str],
        sets: dict[str, int],
        wanted_sets: dict[str, int],
        shared: Iterable[str],
    ) -> None:
        """Remove what another proxy has left, of whatever version."""
        own = {*BASE_CHAINS, *(common_chains(self._common) if self._common else ())}
        own.update(chain for rules in self._written.values() for chain in rules.chains)
        for chain in sorted(chains - own):
            transaction.flush_chain(chain)
            if is_service_chain(chain):
                self._stale[chain] = self._clock.monotonic()
            else:
                transaction.delete_chain(chain)
        for name in sorted(sets.keys() - set(shared)):
            if wanted_sets.get(name) != sets[name]:
                transaction.delete_set(name)

    def _sync_partially(self, state: ProxyState, changed: frozenset[ServicePortName]) -> None:
        context, transaction = self._context(state), self._transaction()
        for name in changed:
            old = self._written.pop(name, _NOTHING)
            new = _NOTHING
            if name in state.services:
                new = self._written[name] = service_rules(state.services[name], context)
            self._write_changes(transaction, old, new)
            for element in old.elements:
                self._elements.remove(name, element)
            for element in new.elements:
                self._elements.add(name, element)
        for before, after in self._elements.changes():
            if before is not None:
                transaction.delete_element(before)
            if after is not None:
                transaction.add_element(after)
        text = transaction.text()
        if text:
            self._nft.run(text)

    def _write_changes(self, transaction: Transaction, old: ServiceRules, new: ServiceRules) -> None:
        """Write the chains of a port that are not as they were, and its affinity sets."""
        # How long clients stay cannot be changed: the sets are replaced, and so are all rules that name them.
        replaces_sets = bool(old.affinity_sets) and old.affinity_seconds != new.affinity_seconds
        for chain, lines in new.chains.items():
            if replaces_sets or lines != old.chains.get(chain):
                self._write_chain(transaction, chain, lines, is_there=chain in old.chains)
        for chain in old.chains.keys() - new.chains.keys():
            transaction.flush_chain(chain)
            self._stale[chain] = self._clock.monotonic()
        for name in old.affinity_sets:
            if replaces_sets or name not in new.affinity_sets:
                transaction.delete_set(name)
        for name in new.affinity_sets:
            if replaces_sets or name not in old.affinity_sets:
                self._add_affinity_set(transaction, name, new.affinity_seconds)

    def _write_chain(
        self, transaction: Transaction, chain: str, lines: Iterable[str], definition: str = "", *, is_there: bool
    ) -> None:
        """Write all rules of a chain again; a definition it has is repeated, lest it differs from ours."""
        self._stale.pop(chain, None)
        if definition or not is_there:
            transaction.add_chain(chain, definition)
        if is_there:
            transaction.flush_chain(chain)
        transaction.add_rules(chain, lines)

    def _add_affinity_set(self, transaction: Transaction, name: str, seconds: int) -> None:
        definition = f"type {address_type(self._family)} ; flags dynamic,timeout ; timeout {seconds}s ;"
        transaction.add_container("set", name, definition)

    def delete_stale_chains(self, after: float = STALE_SECONDS) -> float | None:
        """Delete chains that have been empty for `after` seconds; return when the next one has been, None without one.

        Those that the kernel keeps, as something unknown leads to them, are tried again after `RETRY_SECONDS`. After a
        sync that failed it is not known which are empty; the next one, of everything, finds out.
        """
        if not self._is_known:
            return None
        now = self._clock.monotonic()
        due = [chain for chain, since in self._stale.items() if now - since >= after]
        if due:
            transaction = self._transaction()
            for chain in due:
                transaction.delete_chain(chain)
            try:
                self._nft.run(transaction.text())
            except TransactionFailed as error:
                self._log.warning("%s: stale chains cannot be deleted yet: %s", self._family, error)
                self._metrics.cleanup_failed(self._family)
                self._stale |= dict.fromkeys(due, now + RETRY_SECONDS - after)
            else:
                for chain in due:
                    del self._stale[chain]
        return min((since + after - now for since in self._stale.values()), default=None)

    def _transaction(self) -> Transaction:
        return Transaction(ip_word(self._family))

    def _context(self, state: ProxyState) -> Context:
        detector = local_detector(self._settings, state.node, self._family)
        return Context(self._family, state.node, detector, self._settings.mark)

    def _common_context(self, state: ProxyState) -> CommonContext:
        return CommonContext(
            family=self._family,
            mark=self._settings.mark,
            detector=local_detector(self._settings, state.node, self._family),
            node_port_ips=self._node_port_ips(state.node),
            service_cidrs=tuple(sorted(of_family(state.service_cidrs, self._family))),
            masquerade_all=self._settings.masquerade_all,
        )

    def _node_port_ips(self, node: ProxyNode) -> tuple[str, ...] | None:
        """Return the addresses that node ports are open on; None for all, loopback aside."""
        where = node_port_addresses(self._settings.nodeport_addresses, node, self._family)
        if where.match_all:
            return None
        return tuple(ip for ip in where.addresses() if not ip.startswith(("127.", "::1")))

    def lost(self) -> bool:
        """Tell whether another program has removed the table, or node ports are open on other addresses by now."""
        if not self._is_known or self._common is None:
            return False
        if not self._nft.is_there():
            self._log.info("%s: the table is gone; it is written again", self._family)
            return True
        return self._node_port_ips(self._node) != self._common.node_port_ips

    def cleanup(self) -> None:
        """Remove the table.

        Raises:
            TransactionFailed: it could not be removed.
        """
        self._is_known = False
        if self._nft.chains():
            transaction = self._transaction()
            transaction.delete_table()
            self._nft.run(transaction.text())
