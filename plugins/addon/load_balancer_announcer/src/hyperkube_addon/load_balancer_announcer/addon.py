"""The addon, on each node: tells the others that it lives, and answers for the addresses that fall to this node.

Each node renews a Lease of its own while there is any address to answer for. A node whose Lease has not changed for
its duration, by the observer's clock, is taken for gone, and its addresses fall to others.
"""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

from hyperkube_addon.load_balancer_announcer.speakers import addresses, key, own_addresses, owner_key

from hyperkube.client.client import MERGE_PATCH
from hyperkube.hookspecs import hookimpl
from hyperkube.kinds.resources import ENDPOINT_SLICES, LEASES, SERVICES
from hyperkube.machinery.errors import ApiError, NotFound, UsageError
from hyperkube.machinery.objects import Object, name_of
from hyperkube.machinery.record import Record
from hyperkube.machinery.times import format_micro_time
from hyperkube.plugin import Plugin, PluginContext

if TYPE_CHECKING:
    from hyperkube_addon.load_balancer_announcer.neighbours import Neighbours

    from hyperkube.client.informer import Informer

NAMESPACE = "kube-system"
PREFIX = "load-balancer-announcer-"
LABEL = "load-balancer-announcer.hyperkube.dev/node"
BY_SERVICE = "service"
RENEWALS = 3
"""How often a Lease is renewed within its duration."""


class Settings(Record):
    """Where is answered.

    Attributes:
        node_name: this node; empty for the machine's host name.
        interfaces: on which is answered; empty for those of default routes.
        lease_seconds: after which a node that is not heard of any more is taken for gone.
    """

    node_name: str = ""
    interfaces: tuple[str, ...] = ()
    lease_seconds: float = 5.0


class LoadBalancerAnnouncer(Plugin):
    """Answers for a node's share of the addresses."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._settings = self.settings(Settings)
        self._node = self._settings.node_name or socket.gethostname().lower()
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._neighbours: Neighbours | None = None
        self._informers: tuple[Informer, ...] = ()
        self._heard: dict[str, tuple[str, float]] = {}
        self._renew_at = 0.0
        self._renewed_at: float | None = None
        self._owned: set[str] = set()

    @hookimpl
    def addon_start(self) -> None:
        """Answer until `close`.

        Raises:
            UsageError: raw sockets are not allowed here, or an interface is missing.
        """
        if self.context.client is None or self.context.informers is None or self._stopped.is_set():
            return
        from hyperkube_addon.load_balancer_announcer.neighbours import Neighbours, default_interfaces

        names = self._settings.interfaces or default_interfaces()
        try:
            neighbours = Neighbours(names)
        except OSError as error:
            raise UsageError(f"cannot answer on {', '.join(names)}: {error.strerror} (needs CAP_NET_RAW)") from error
        with self._lock:
            self._neighbours = neighbours
        self._watch(neighbours)
        if self._stopped.is_set():
            neighbours.close()
        try:
            neighbours.run(self._wait, self._due)
        finally:
            self._give_up()

    def close(self) -> None:
        """Answer no more, and leave the addresses to others at once."""
        self._stopped.set()
        for informer in self._informers:
            informer.stop()
        with self._lock:
            if self._neighbours is not None:
                self._neighbours.close()

    def _watch(self, neighbours: Neighbours) -> None:
        services = self.informers.informer(SERVICES)
        slices = self.informers.informer(ENDPOINT_SLICES)
        leases = self.informers.informer(LEASES, NAMESPACE, label_selector=LABEL)
        slices.add_index(BY_SERVICE, lambda piece: [owner_key(piece)])
        self._informers = (services, slices, leases)
        for informer in self._informers:
            informer.add_handler(
                lambda _obj: neighbours.wake(), lambda _old, _new: neighbours.wake(), lambda _obj: neighbours.wake()
            )

    def _wait(self) -> float | None:
        """Return how long nothing is due: until the next renewal, or for ever where there is nothing to answer for."""
        return max(0.0, self._renew_at - self.context.clock.monotonic()) if self._renew_at else None

    def _due(self) -> None:
        """Renew the Lease if it is time, and answer for what falls to this node now."""
        services, slices, leases = self._informers
        neighbours = self._neighbours
        if neighbours is None or not all(informer.has_synced() for informer in self._informers):
            return
        now = self.context.clock.monotonic()
        with_addresses = [service for service in services.list() if addresses(service)]
        if not with_addresses:
            self._renew_at = 0.0
        elif now >= self._renew_at:
            if self._renew():
                self._renewed_at = now
            self._renew_at = now + self._settings.lease_seconds / RENEWALS
        alive = self._alive(leases, now)
        by_service = {key(service): slices.by_index(BY_SERVICE, key(service)) for service in with_addresses}
        owned = own_addresses(self._node, alive, with_addresses, by_service)
        if owned != self._owned:
            self.context.logger.info("answering for %s", ", ".join(sorted(owned)) or "nothing")
            self._owned = owned
            neighbours.answer_for(owned)

    def _alive(self, leases: Informer, now: float) -> list[str]:
        """Return the nodes of which something was heard lately; this one unless it could not tell the others so."""
        heard = {}
        for lease in leases.list():
            node, text = lease["spec"].get("holderIdentity") or "", lease["spec"].get("renewTime") or ""
            old = self._heard.get(node)
            heard[node] = old if old is not None and old[0] == text else (text, now)
        self._heard = heard
        fresh = {node for node, (_, since) in heard.items() if now - since < self._settings.lease_seconds}
        told = self._renewed_at is not None and now - self._renewed_at < self._settings.lease_seconds
        return sorted(fresh - {"", self._node} | ({self._node} if told else set()))

    def _renew(self) -> bool:
        """Tell the others that this node lives; tell whether that succeeded."""
        spec = {
            "holderIdentity": self._node,
            "leaseDurationSeconds": max(1, round(self._settings.lease_seconds)),
            "renewTime": format_micro_time(self.context.clock.now()),
        }
        patch: Object = {"metadata": {"labels": {LABEL: ""}}, "spec": spec}
        name = PREFIX + self._node
        try:
            try:
                self.client.patch(LEASES, name, patch, NAMESPACE, patch_type=MERGE_PATCH)
            except NotFound:
                meta = {"name": name, "namespace": NAMESPACE, **patch["metadata"]}
                made = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta, "spec": spec}
                self.client.create(LEASES, made, NAMESPACE)
        except (ApiError, OSError) as error:
            self.context.logger.warning("cannot renew lease %s: %s", name, error)
            return False
        return True

    def _give_up(self) -> None:
        """Delete the Lease, so that others need not wait until it ends."""
        try:
            if any(name_of(lease) == PREFIX + self._node for lease in self._informers[2].list()):
                self.client.delete(LEASES, PREFIX + self._node, NAMESPACE)
        except (ApiError, OSError) as error:
            self.context.logger.debug("the lease stays until it ends: %s", error)
