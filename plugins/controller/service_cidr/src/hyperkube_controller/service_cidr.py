"""service-cidr: a range of service addresses is ready when it is there, and stays while addresses of it are in use.

Source: kubernetes ``pkg/controller/servicecidrs/servicecidrs_controller.go``.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from hyperkube.client.actions import Patch, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.conditions import with_condition
from hyperkube.kinds.resources import IP_ADDRESSES, SERVICE_CIDRS
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, is_being_deleted, labels_of, metadata, name_of, uid_of
from hyperkube.machinery.times import parse_time
from hyperkube.plugin import Plugin

FINALIZER = "networking.k8s.io/service-cidr-finalizer"
DELETION_GRACE_PERIOD = timedelta(seconds=10)
MANAGED_BY = ("ipaddress.kubernetes.io/managed-by", "ipallocator.k8s.io")
READY = {"type": "Ready", "status": "True", "reason": "", "message": "Kubernetes Service CIDR is ready"}
IN_USE = {
    "type": "Ready",
    "status": "False",
    "reason": "Terminating",
    "message": (
        "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR"
    ),
}


def networks(service_cidr: Object) -> list[IPv4Network | IPv6Network]:
    """Return the ranges of an object, one or two."""
    return [ip_network(text, strict=False) for text in (service_cidr.get("spec") or {}).get("cidrs") or []]


def in_use(service_cidr: Object, others: Iterable[Object], addresses: Iterable[str]) -> bool:
    """Tell whether an address is in a range of this object and in none of the others."""
    mine = networks(service_cidr)
    covered = [network for other in others if not is_being_deleted(other) for network in networks(other)]
    return any(
        any(address in network for network in mine) and not any(address in network for network in covered)
        for address in map(ip_address, addresses)
    )


def decide(service_cidr: Object, *, used: bool, now: datetime) -> list[Patch]:
    """Return what the object needs to be ready, to say that it cannot go, or to go."""
    finalizers = list(metadata(service_cidr).get("finalizers") or [])
    if not is_being_deleted(service_cidr):
        actions: list[Patch] = []
        if FINALIZER not in finalizers:
            actions.append(_finalizers(service_cidr, [*finalizers, FINALIZER]))
        return actions + _say(service_cidr, READY, now)
    if FINALIZER not in finalizers:
        return []
    if used:
        return _say(service_cidr, IN_USE, now)
    return [_finalizers(service_cidr, [name for name in finalizers if name != FINALIZER])]


def _finalizers(service_cidr: Object, finalizers: list[str]) -> Patch:
    patch = {"metadata": {"uid": uid_of(service_cidr), "finalizers": finalizers}}
    return Patch(SERVICE_CIDRS, name_of(service_cidr), patch)


def _say(service_cidr: Object, said: Object, now: datetime) -> list[Patch]:
    conditions = (service_cidr.get("status") or {}).get("conditions") or []
    wanted = with_condition(conditions, said, now)
    if wanted == conditions:
        return []
    patch = {"metadata": {"uid": uid_of(service_cidr)}, "status": {"conditions": wanted}}
    return [Patch(SERVICE_CIDRS, name_of(service_cidr), patch, subresource="status")]


class ServiceCidr(Plugin):
    """Looks after the ranges of service addresses."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._recorder = EventRecorder(self.client, self.context.clock, "service-cidr-controller")
        self._ranges = self.informers.informer(SERVICE_CIDRS)
        self._addresses = self.informers.informer(IP_ADDRESSES)
        self._loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        self._ranges.add_handler(self._changed, lambda _old, new: self._changed(new), self._changed)
        self._addresses.add_handler(on_delete=lambda _address: self._leaving())
        return self._loop

    def _changed(self, service_cidr: Object) -> None:
        self._loop.enqueue(service_cidr)
        self._leaving()

    def _leaving(self) -> None:
        """Look at the ranges that wait to go."""
        for service_cidr in self._ranges.list():
            if is_being_deleted(service_cidr):
                self._loop.enqueue(service_cidr)

    def _sync(self, name: str) -> None:
        service_cidr = self._ranges.get("", name)
        if service_cidr is None:
            return
        now = self.context.clock.now()
        used = False
        if is_being_deleted(service_cidr):
            used = self._in_use(service_cidr)
            # That none is in use is not enough: an API server that has not seen the deletion may still give one.
            left = parse_time(metadata(service_cidr)["deletionTimestamp"]) + DELETION_GRACE_PERIOD - now
            if not used and left > timedelta():
                self._loop.queue.add_after(name, left.total_seconds())
                return
        for action in decide(service_cidr, used=used, now=now):
            self._patch(service_cidr, action)

    def _patch(self, service_cidr: Object, action: Patch) -> None:
        try:
            perform(self.client, None, [action])
        except (ApiError, OSError):
            if action.subresource and not is_being_deleted(service_cidr):
                text = "The ServiceCIDR Status can not be set to Ready=True"
                self._recorder.event(service_cidr, "Warning", "KubernetesServiceCIDRError", text)
            raise

    def _in_use(self, service_cidr: Object) -> bool:
        """Tell whether an API server gave an address that this range alone has; addresses of others do not count."""
        others = [other for other in self._ranges.list() if name_of(other) != name_of(service_cidr)]
        label, allocator = MANAGED_BY
        given = [name_of(each) for each in self._addresses.list() if labels_of(each).get(label) == allocator]
        return in_use(service_cidr, others, given)
