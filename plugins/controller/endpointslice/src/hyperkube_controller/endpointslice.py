"""endpointslice: the addresses behind each service, in slices of at most a hundred, so that a change stays small.

Unlike Endpoints, slices tell serving from ready and list pods that are on their way out, for proxies that drain.
Source: kubernetes ``staging/src/k8s.io/endpointslice/reconciler.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hyperkube_lib import endpoints

from hyperkube.client.actions import Action, Create, Delete, Update
from hyperkube.client.expectations import Expectations
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.pods import is_ready, spec_of
from hyperkube.kinds.resources import ENDPOINT_SLICES, NODES, PODS, SERVICES
from hyperkube.kinds.workloads import controller_reference
from hyperkube.machinery.objects import (
    Object,
    is_being_deleted,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    split_key,
)
from hyperkube.plugin import Plugin

CONTROLLER = "endpointslice-controller.k8s.io"
ZONE = "topology.kubernetes.io/zone"
MAX_ENDPOINTS = 100

_Ports = tuple[tuple[tuple[str, Any], ...], ...]


@dataclass(frozen=True, slots=True)
class Observed:
    """What a decision knows: the service, its namespace's pods, a node's zone, and the slices it has."""

    service: Object
    pods: Sequence[Object]
    zone_of: Callable[[str], str]
    slices: Sequence[Object]
    limit: int = MAX_ENDPOINTS


def decide(observed: Observed) -> list[Action]:
    """Return the fewest writes after which the slices list the service's pods."""
    selected = endpoints.pods_of(observed.service, observed.pods)
    actions: list[Action] = []
    families = families_of(observed.service)
    for family in families:
        slices = [entry for entry in observed.slices if entry.get("addressType") == family]
        actions += _decide_family(observed, family, selected, slices)
    actions += [
        Delete.of(ENDPOINT_SLICES, entry) for entry in observed.slices if entry.get("addressType") not in families
    ]
    return actions


def families_of(service: Object) -> list[str]:
    """Return the address types that the service has: IPv4, IPv6 or both."""
    return list((service.get("spec") or {}).get("ipFamilies") or ["IPv4"])


def _decide_family(observed: Observed, family: str, pods: Iterable[Object], slices: Sequence[Object]) -> list[Action]:
    wanted: dict[_Ports, dict[str, Object]] = {}
    for pod in pods:
        address = endpoints.address_of(pod, ipv6=family == "IPv6")
        if not address or not endpoints.has_address(pod, observed.service, terminating=True):
            continue
        entry = _entry(address, pod, observed)
        wanted.setdefault(endpoints.ports_of(pod, observed.service), {})[entry["targetRef"]["uid"]] = entry
    if not wanted:
        wanted[()] = {}
    by_ports: dict[_Ports, list[Object]] = {}
    for present in slices:
        by_ports.setdefault(_ports_key(present), []).append(present)
    actions: list[Action] = []
    for ports, entries in wanted.items():
        actions += _fill(observed, family, ports, entries, by_ports.pop(ports, []))
    actions += [Delete.of(ENDPOINT_SLICES, present) for stale in by_ports.values() for present in stale]
    return actions


def _fill(
    observed: Observed, family: str, ports: _Ports, wanted: dict[str, Object], slices: Sequence[Object]
) -> list[Action]:
    """Keep each endpoint in its slice, put new ones where there is room, open and close slices."""
    left = dict(wanted)
    kept: list[tuple[Object, list[Object]]] = []
    for present in sorted(slices, key=name_of):
        uids = [(entry.get("targetRef") or {}).get("uid", "") for entry in present.get("endpoints") or []]
        kept.append((present, [left.pop(uid) for uid in uids if uid in left]))
    rest = list(left.values())
    changed = {id(present) for present, entries in kept if entries != (present.get("endpoints") or [])}
    for _, entries in sorted(kept, key=lambda pair: (id(pair[0]) not in changed, -len(pair[1]))):
        room = max(0, observed.limit - len(entries))
        entries.extend(rest[:room])
        rest = rest[room:]
    actions: list[Action] = []
    labels = _labels(observed.service)
    used = sum(bool(entries) for _, entries in kept)
    spare = 1 if not used and not rest else 0  # one empty slice shows that the service is looked after
    for present, entries in kept:
        if not entries and spare == 0:
            actions.append(Delete.of(ENDPOINT_SLICES, present))
            continue
        spare -= not entries
        if entries != (present.get("endpoints") or []) or labels_of(present) != labels:
            meta = {**metadata(present), "labels": labels}
            actions.append(Update(ENDPOINT_SLICES, {**present, "metadata": meta, "endpoints": entries}))
    while rest or spare > 0:
        actions.append(Create(ENDPOINT_SLICES, _slice(observed.service, family, ports, rest[: observed.limit], labels)))
        rest = rest[observed.limit :]
        spare = 0
    return actions


def _slice(service: Object, family: str, ports: _Ports, entries: list[Object], labels: dict[str, str]) -> Object:
    return {
        "kind": "EndpointSlice",
        "apiVersion": "discovery.k8s.io/v1",
        "metadata": {
            "generateName": f"{name_of(service)}-",
            "namespace": namespace_of(service),
            "labels": labels,
            "ownerReferences": [controller_reference(service, "v1", "Service")],
        },
        "addressType": family,
        "endpoints": entries,
        "ports": [dict(row) for row in ports],
    }


def _ports_key(present: Object) -> _Ports:
    """Return a slice's ports in the shape that `hyperkube_lib.endpoints.ports_of` has."""
    rows = []
    for port in present.get("ports") or []:
        row: list[tuple[str, Any]] = [("name", port.get("name", "")), ("port", port.get("port"))]
        row.append(("protocol", port.get("protocol", "TCP")))
        if port.get("appProtocol"):
            row.append(("appProtocol", port["appProtocol"]))
        rows.append(tuple(row))
    return tuple(rows)


def _labels(service: Object) -> dict[str, str]:
    reserved = {endpoints.SERVICE_NAME, endpoints.MANAGED_BY, endpoints.HEADLESS}
    labels = {key: value for key, value in labels_of(service).items() if key not in reserved}
    if endpoints.is_headless(service):
        labels[endpoints.HEADLESS] = ""
    return {**labels, endpoints.MANAGED_BY: CONTROLLER, endpoints.SERVICE_NAME: name_of(service)}


def _entry(address: str, pod: Object, observed: Observed) -> Object:
    serving = is_ready(pod)
    terminating = is_being_deleted(pod)
    ready = endpoints.publishes_not_ready(observed.service) or (serving and not terminating)
    entry: Object = {
        "addresses": [address],
        "conditions": {"ready": ready, "serving": serving, "terminating": terminating},
        "targetRef": endpoints.target_of(pod),
    }
    hostname = endpoints.hostname_of(pod, observed.service)
    if hostname:
        entry["hostname"] = hostname
    node = spec_of(pod).get("nodeName", "")
    if node:
        entry["nodeName"] = node
        zone = observed.zone_of(node)
        if zone:
            entry["zone"] = zone
    return entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How many services are synced at once, and how many endpoints a slice holds at most."""

    concurrent_service_endpoint_syncs: int = 5
    max_endpoints_per_slice: int = MAX_ENDPOINTS


class Endpointslice(Plugin):
    """Keeps the slices of each service that selects pods."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        settings = self.settings(Settings)
        self._limit = settings.max_endpoints_per_slice
        self._services = self.informers.informer(SERVICES)
        self._pods = self.informers.informer(PODS)
        self._nodes = self.informers.informer(NODES)
        slices = self.informers.informer(ENDPOINT_SLICES)
        self._loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=self.context.clock,
            logger=self.context.logger,
            workers=settings.concurrent_service_endpoint_syncs,
        )
        endpoints.watch_services(self._loop, self._services, self._pods)
        expectations = Expectations(self.context.clock)
        self._own = endpoints.ManagedSlices(CONTROLLER, slices, self._loop, expectations)
        return self._loop

    def _sync(self, key: str) -> None:
        namespace, name = split_key(key)
        service = self._services.get(namespace, name)
        if service is None:
            self._own.forget(key)
            return  # its slices go with it, by their owner reference
        if not endpoints.is_managed(service) or is_being_deleted(service) or not self._own.settled(key):
            return
        observed = Observed(service, self._pods.list(namespace), self._zone_of, self._own.of(key), self._limit)
        self._own.perform(self.client, key, decide(observed))

    def _zone_of(self, node: str) -> str:
        found = self._nodes.get("", node)
        return "" if found is None else labels_of(found).get(ZONE, "")
