"""endpointslicemirroring: endpoints that were written by hand are shown as slices too.

That is for services without a selector; those with one have slices of their own.
Source: kubernetes ``pkg/controller/endpointslicemirroring``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import ip_address

from hyperkube_lib.endpoints import MANAGED_BY, SERVICE_NAME, ManagedSlices

from hyperkube.client.actions import Action, Create, Delete, Update, perform
from hyperkube.client.expectations import Expectations
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import ENDPOINT_SLICES, ENDPOINTS, SERVICES
from hyperkube.kinds.workloads import controller_reference
from hyperkube.machinery.objects import (
    Object,
    annotations_of,
    is_being_deleted,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    split_key,
)
from hyperkube.plugin import Plugin

CONTROLLER = "endpointslicemirroring-controller.k8s.io"
SKIP = "endpointslice.kubernetes.io/skip-mirror"
LEADER = "control-plane.alpha.kubernetes.io/leader"
TRIGGER = "endpoints.kubernetes.io/last-change-trigger-time"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
MOST = 1000


def is_mirrored(endpoints: Object, service: Object | None) -> bool:
    """Tell whether endpoints are to be shown as slices."""
    if service is None or is_being_deleted(service) or (service.get("spec") or {}).get("selector"):
        return False
    return labels_of(endpoints).get(SKIP) != "true" and LEADER not in annotations_of(endpoints)


def wanted_slices(endpoints: Object) -> Iterator[Object]:
    """Yield what slices are to say: one for each subset and address family, with at most a thousand addresses."""
    for subset in endpoints.get("subsets") or []:
        rows: dict[str, list[Object]] = {}
        for part, ready in (("addresses", True), ("notReadyAddresses", False)):
            for address in subset.get(part) or []:
                family = f"IPv{ip_address(address['ip']).version}"
                rows.setdefault(family, []).append(_endpoint(address, ready=ready))
        for family, entries in rows.items():
            ports = [{"protocol": "TCP", **port} for port in subset.get("ports") or []]
            yield {"addressType": family, "endpoints": entries[:MOST], "ports": ports}


def _endpoint(address: Object, *, ready: bool) -> Object:
    entry: Object = {"addresses": [address["ip"]], "conditions": {"ready": ready}}
    for source, target in (("hostname", "hostname"), ("nodeName", "nodeName"), ("targetRef", "targetRef")):
        if address.get(source):
            entry[target] = address[source]
    return entry


def decide(endpoints: Object, slices: Sequence[Object]) -> list[Action]:
    """Return the fewest writes after which the slices say what the endpoints say."""
    hidden = {TRIGGER, LAST_APPLIED}
    labels = {**labels_of(endpoints), SERVICE_NAME: name_of(endpoints), MANAGED_BY: CONTROLLER}
    annotations = {key: value for key, value in annotations_of(endpoints).items() if key not in hidden}
    left = list(slices)
    actions: list[Action] = []
    for wanted in wanted_slices(endpoints):
        present = _nearest(wanted, left)
        meta: Object = {"labels": labels} | ({"annotations": annotations} if annotations else {})
        if present is None:
            meta |= {
                "generateName": f"{name_of(endpoints)}-",
                "namespace": namespace_of(endpoints),
                "ownerReferences": [controller_reference(endpoints, "v1", "Endpoints")],
            }
            made = {"kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1", "metadata": meta, **wanted}
            actions.append(Create(ENDPOINT_SLICES, made))
            continue
        left.remove(present)
        same = all(present.get(part) == value for part, value in wanted.items())
        if not same or labels_of(present) != labels or annotations_of(present) != annotations:
            kept = {key: value for key, value in metadata(present).items() if key != "annotations"}
            actions.append(Update(ENDPOINT_SLICES, {**present, **wanted, "metadata": {**kept, **meta}}))
    return actions + [Delete.of(ENDPOINT_SLICES, present) for present in left]


def _nearest(wanted: Object, slices: Sequence[Object]) -> Object | None:
    """Return the slice to keep for what is wanted: its family cannot be changed, its ports are best not."""
    family = [each for each in slices if each.get("addressType") == wanted["addressType"]]
    return next((each for each in family if each.get("ports") == wanted["ports"]), family[0] if family else None)


class Endpointslicemirroring(Plugin):
    """Keeps slices of hand-written endpoints."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._endpoints = self.informers.informer(ENDPOINTS)
        self._services = self.informers.informer(SERVICES)
        slices = self.informers.informer(ENDPOINT_SLICES)
        self._loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        self._loop.watch(self._endpoints)
        self._loop.watch(self._services)
        self._own = ManagedSlices(CONTROLLER, slices, self._loop, Expectations(self.context.clock))
        return self._loop

    def _sync(self, key: str) -> None:
        namespace, name = split_key(key)
        slices = self._own.of(key)
        endpoints = self._endpoints.get(namespace, name)
        if endpoints is None or not is_mirrored(endpoints, self._services.get(namespace, name)):
            self._own.forget(key)
            perform(self.client, None, [Delete.of(ENDPOINT_SLICES, each) for each in slices])
            return
        if is_being_deleted(endpoints) or not self._own.settled(key):
            return
        self._own.perform(self.client, key, decide(endpoints, slices))
