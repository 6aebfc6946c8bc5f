"""One IP family of the proxy: what is to be served in it, and the sync that hands it to the proxier."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence
from datetime import datetime

from hyperkube_host.proxy.change_tracker import ChangeTracker
from hyperkube_host.proxy.metrics import ProxyMetrics
from hyperkube_lib.proxy_rules.topology import categorize_endpoints, externally_accessible

from hyperkube.hookspecs.proxier import IPFamily, Proxier, ProxyNode, ProxyState, ServicePortName, UnservedPort
from hyperkube.machinery.clock import Clock

_log = logging.getLogger("hyperkube.proxy")

INTERNAL, EXTERNAL = "internal", "external"
"""The traffic policies, as a metric names them."""


class FamilySync:
    """The state of one family; used on the thread that syncs, `triggered` on any."""

    def __init__(self, family: IPFamily, proxier: Proxier, node: str, metrics: ProxyMetrics, clock: Clock) -> None:
        self.family = family
        self.tracker = ChangeTracker(family, node)
        self._proxier = proxier
        self._metrics = metrics
        self._clock = clock
        self._needs_full_sync = True
        self._unserved: Sequence[UnservedPort] = ()
        self._lacking: dict[str, set[ServicePortName]] = {INTERNAL: set(), EXTERNAL: set()}
        self._lock = threading.Lock()
        self._triggers: list[datetime] = []

    def triggered(self, when: datetime) -> None:
        """Note when the change was made that is to be served."""
        with self._lock:
            self._triggers.append(when)

    def need_full_sync(self) -> None:
        """Have the next sync write everything."""
        self._needs_full_sync = True

    def sync(self, node: ProxyNode, service_cidrs: Iterable[str]) -> Sequence[UnservedPort]:
        """Pass the state to the proxier if anything changed, or if something could not be served; return what cannot.

        What the proxier raises goes through; the next sync writes everything then.
        """
        full, changed = self._needs_full_sync, self.tracker.changed
        if not (full or changed or self._unserved):
            return ()
        with self._lock:
            triggers, self._triggers = self._triggers, []
        state = ProxyState(
            self.family, self.tracker.services, None if full else changed, node, tuple(service_cidrs)
        )  # fmt: skip
        begun = self._clock.monotonic()
        self._needs_full_sync = True
        try:
            self._unserved = self._proxier.sync(state)
            self._needs_full_sync = False
        finally:
            seconds = self._clock.monotonic() - begun
            self._metrics.sync_ended(self.family, seconds, full=full, succeeded=not self._needs_full_sync)
        _log.info(
            "%s: serving %d service ports (%d changed, %d not served) after %.3f s",
            self.family, len(state.services), len(changed), len(self._unserved), seconds,
        )  # fmt: skip
        self._report(changed, node, triggers)
        self._forget_stale_connections(changed, full=full)
        self.tracker.applied()
        return self._unserved

    def _report(self, changed: Iterable[ServicePortName], node: ProxyNode, triggers: Iterable[datetime]) -> None:
        now = self._clock.now()
        for when in triggers:
            self._metrics.programmed(self.family, (now - when).total_seconds())
        for name in changed:
            port = self.tracker.services.get(name)
            found = categorize_endpoints(port, node) if port else None
            lacks = bool(found and found.any_endpoints and not found.local)
            self._note(INTERNAL, name, lacks=bool(lacks and port and port.internal_local))
            external = port is not None and port.external_local and externally_accessible(port)
            self._note(EXTERNAL, name, lacks=lacks and external)
        self._metrics.no_local_endpoints(self.family, {policy: len(names) for policy, names in self._lacking.items()})

    def _note(self, policy: str, name: ServicePortName, *, lacks: bool) -> None:
        (self._lacking[policy].add if lacks else self._lacking[policy].discard)(name)

    def _forget_stale_connections(self, changed: Iterable[ServicePortName], *, full: bool) -> None:
        """Do nothing: what relays connections in a process ends them itself."""


class KernelFamilySync(FamilySync):
    """The state of one family whose proxier has rules in the kernel, which tracks connections."""

    def _forget_stale_connections(self, changed: Iterable[ServicePortName], *, full: bool) -> None:
        """Forget connections of UDP that lead to what is no endpoint any more, after ports of UDP have changed."""
        from hyperkube_host.proxy.conntrack.cleanup import stale_entries
        from hyperkube_host.proxy.conntrack.netlink import ConntrackTable

        services = self.tracker.services
        udp = [port for port in services.values() if port.protocol == "UDP"]
        if not udp or not (full or any(port.name in changed for port in udp)):
            return
        begun, table, deleted = self._clock.monotonic(), ConntrackTable(), 0
        try:
            for entry in stale_entries(table.udp_entries(self.family), udp):
                deleted += table.delete(self.family, entry)
        except OSError as error:
            _log.warning("%s: cannot forget stale connections: %s", self.family, error)
        self._metrics.reconciled(self.family, self._clock.monotonic() - begun, deleted)
