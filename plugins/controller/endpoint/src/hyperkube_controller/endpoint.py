"""endpoint: the addresses behind each service that selects pods, as one Endpoints object of the same name.

Older than slices and still read by many. Source: kubernetes ``pkg/controller/endpoint/endpoints_controller.go``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from hyperkube_lib import endpoints

from hyperkube.client.actions import Action, Create, Delete, Update, perform
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.pods import is_ready, spec_of
from hyperkube.kinds.resources import ENDPOINTS, PODS, SERVICES
from hyperkube.machinery.objects import (
    Object,
    annotations_of,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    split_key,
)
from hyperkube.plugin import Plugin

MAX_ADDRESSES = 1000
OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity"
MANAGED_BY = "endpoints.kubernetes.io/managed-by"

_Ports = tuple[tuple[tuple[str, Any], ...], ...]


def decide(service: Object, pods: Iterable[Object], present: Object | None) -> list[Action]:
    """Return what makes the Endpoints object list the service's pods."""
    subsets, cut = subsets_of(service, endpoints.pods_of(service, pods))
    labels = {key: value for key, value in labels_of(service).items() if key != endpoints.HEADLESS}
    labels[MANAGED_BY] = "endpoint-controller"
    if endpoints.is_headless(service):
        labels[endpoints.HEADLESS] = ""
    before = annotations_of(present) if present is not None else {}
    annotations = {key: value for key, value in before.items() if key != OVER_CAPACITY}
    if cut:
        annotations[OVER_CAPACITY] = "truncated"
    if present is None:
        meta: Object = {"name": name_of(service), "namespace": namespace_of(service), "labels": labels}
        if annotations:
            meta["annotations"] = annotations
        made = {"kind": "Endpoints", "apiVersion": "v1", "metadata": meta}
        return [Create(ENDPOINTS, made | ({"subsets": subsets} if subsets else {}))]
    if (present.get("subsets") or []) == subsets and labels_of(present) == labels and before == annotations:
        return []
    meta = {**metadata(present), "labels": labels, "annotations": annotations}
    changed = {key: value for key, value in present.items() if key != "subsets"} | {"metadata": meta}
    return [Update(ENDPOINTS, changed | ({"subsets": subsets} if subsets else {}))]


def subsets_of(service: Object, pods: Iterable[Object]) -> tuple[list[Object], bool]:
    """Return the subsets, addresses with equal ports together, and whether some were cut off."""
    groups: dict[_Ports, dict[str, list[Object]]] = {}
    count = 0
    cut = False
    ipv6 = ((service.get("spec") or {}).get("ipFamilies") or ["IPv4"])[0] == "IPv6"
    for pod in sorted(pods, key=name_of):
        address = endpoints.address_of(pod, ipv6=ipv6)
        if not address or not endpoints.has_address(pod, service, terminating=False):
            continue
        ports = endpoints.ports_of(pod, service)
        if not ports and (service.get("spec") or {}).get("ports"):
            continue
        if count >= MAX_ADDRESSES:
            cut = True
            break
        count += 1
        ready = is_ready(pod) or endpoints.publishes_not_ready(service)
        kind = "addresses" if ready else "notReadyAddresses"
        groups.setdefault(ports, {}).setdefault(kind, []).append(_entry(address, pod, service))
    subsets = []
    for ports, kinds in groups.items():
        subset: Object = {
            kind: sorted(kinds[kind], key=_place) for kind in ("addresses", "notReadyAddresses") if kind in kinds
        }
        if ports:
            rows = [{key: value for key, value in row if value} for row in ports]
            subset["ports"] = sorted(rows, key=lambda row: (row.get("name", ""), row["port"], row["protocol"]))
        subsets.append(subset)
    return sorted(subsets, key=lambda subset: repr(subset.get("ports"))), cut


def _place(entry: Object) -> tuple[str, str]:
    return entry["ip"], entry["targetRef"]["uid"]


def _entry(address: str, pod: Object, service: Object) -> Object:
    entry: Object = {"ip": address}
    hostname = endpoints.hostname_of(pod, service)
    if hostname:
        entry["hostname"] = hostname
    if spec_of(pod).get("nodeName"):
        entry["nodeName"] = spec_of(pod)["nodeName"]
    return {**entry, "targetRef": endpoints.target_of(pod)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How many endpoints are synced at once."""

    concurrent_endpoint_syncs: int = 5


class Endpoint(Plugin):
    """Keeps an Endpoints object for each service that selects pods."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._services = self.informers.informer(SERVICES)
        self._pods = self.informers.informer(PODS)
        self._endpoints = self.informers.informer(ENDPOINTS)
        loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=self.context.clock,
            logger=self.context.logger,
            workers=self.settings(Settings).concurrent_endpoint_syncs,
        )
        endpoints.watch_services(loop, self._services, self._pods)
        self._endpoints.add_handler(
            on_update=lambda old, new: loop.enqueue(new) if old.get("subsets") != new.get("subsets") else None,
            on_delete=loop.enqueue,
        )
        return loop

    def _sync(self, key: str) -> None:
        namespace, name = split_key(key)
        service = self._services.get(namespace, name)
        present = self._endpoints.get(namespace, name)
        if service is None:
            if present is not None and labels_of(present).get(MANAGED_BY):
                perform(self.client, None, [Delete.of(ENDPOINTS, present)])
        elif endpoints.is_managed(service):
            perform(self.client, None, decide(service, self._pods.list(namespace), present))
