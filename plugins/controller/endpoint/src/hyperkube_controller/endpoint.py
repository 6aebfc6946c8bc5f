"""endpoint: the addresses behind each service that selects pods, as one Endpoints object of the same name.

Older than slices and still read by many. Source: kubernetes ``pkg/controller/endpoint/endpoints_controller.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from hyperkube_lib import endpoints

from hyperkube.client.actions import Action, Create, Delete, Update, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import NotYet, ReconcileLoop, namespace_is_going
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import ENDPOINTS, PODS, SERVICES
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import (
    Object,
    annotations_of,
    key_of,
    labels_of,
    metadata,
    name_of,
    namespace_of,
    resource_version_of,
    split_key,
)
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

MAX_ADDRESSES = 1000
MAX_RETRIES = 15
OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity"
MANAGED_BY = "endpoints.kubernetes.io/managed-by"

FAILED_TO_CREATE = "FailedToCreateEndpoint"
FAILED_TO_UPDATE = "FailedToUpdateEndpoint"

_Port = tuple[tuple[str, Any], ...]
_Place = tuple[str, str]
"""By what entries are sorted: the address, and the uid of the pod."""
_Listed = tuple[_Place, bool, Object]
"""The place of an entry, whether it is ready, and the entry, which is read-only."""


def decide(
    service: Object, pods: Iterable[endpoints.EndpointPod], present: Object | None, trigger_time: str = ""
) -> list[Action]:
    """Return what makes the Endpoints object list the service's pods; `pods` are those that it selects."""
    subsets, truncated = truncate(subsets_of(service, pods))
    labels = {key: value for key, value in labels_of(service).items() if key != endpoints.HEADLESS}
    labels[MANAGED_BY] = "endpoint-controller"
    if endpoints.is_headless(service):
        labels[endpoints.HEADLESS] = ""
    before = annotations_of(present) if present is not None else {}
    annotations = {key: value for key, value in before.items() if key != OVER_CAPACITY}
    if truncated:
        annotations[OVER_CAPACITY] = "truncated"
    if present is None:
        meta: Object = {"name": name_of(service), "namespace": namespace_of(service), "labels": labels}
        made: Object = {"kind": "Endpoints", "apiVersion": "v1", "metadata": {**meta, "annotations": annotations}}
        made |= {"subsets": subsets} if subsets else {}
        return [Create(ENDPOINTS, endpoints.with_trigger_time(made, trigger_time))]
    listed = present.get("subsets") or []
    same = listed == subsets or _without_versions(listed) == subsets
    if same and labels_of(present) == labels and before == annotations:
        return []
    meta = {**metadata(present), "labels": labels, "annotations": annotations}
    changed = {key: value for key, value in present.items() if key != "subsets"} | {"metadata": meta}
    changed |= {"subsets": subsets} if subsets else {}
    return [Update(ENDPOINTS, endpoints.with_trigger_time(changed, trigger_time))]


def _without_versions(subsets: Iterable[Object]) -> list[Object]:
    """Return subsets without the pods' versions, which older controllers wrote and which say nothing."""

    def bare(entry: Object) -> Object:
        target = entry.get("targetRef") or {}
        if "resourceVersion" not in target:
            return entry
        return {**entry, "targetRef": {key: value for key, value in target.items() if key != "resourceVersion"}}

    kinds = ("addresses", "notReadyAddresses")
    return [{**subset, **{kind: [*map(bare, subset[kind])] for kind in kinds if kind in subset}} for subset in subsets]


def subsets_of(service: Object, pods: Iterable[endpoints.EndpointPod]) -> list[Object]:
    """Return the subsets: ports that the same addresses offer stand together.

    A named port that not all pods have, or have under other numbers, splits only itself off. Only a headless service
    lists its pods without any port.
    """
    spec = service.get("spec") or {}
    publishes, common = endpoints.publishes_not_ready(service), endpoints.common_ports_of(service)
    by_port: dict[_Port | None, list[_Listed]] = {}
    for pod in pods:
        if not endpoints.has_address(pod, service, terminating=False):
            continue
        address = endpoints.address_of(pod, ipv6=_is_ipv6(service, pod))
        if not address:
            continue
        listed = (address, pod.uid), publishes or pod.is_ready, _entry(address, pod, service)
        for port in endpoints.ports_of(pod, service) if common is None else common:
            by_port.setdefault(port, []).append(listed)
        if not spec.get("ports") and spec.get("clusterIP") == "None":
            by_port.setdefault(None, []).append(listed)
    groups: dict[tuple[tuple[_Place, bool], ...], list[_Port]] = {}
    entries_of: dict[tuple[tuple[_Place, bool], ...], list[_Listed]] = {}
    for offered, entries in by_port.items():
        entries.sort(key=itemgetter(0))
        key = tuple((place, ready) for place, ready, _ in entries)
        entries_of[key] = entries
        groups.setdefault(key, []).extend([offered] if offered is not None else [])
    subsets = [_subset(entries_of[key], ports) for key, ports in groups.items()]
    return subsets if len(subsets) < 2 else sorted(subsets, key=_subset_order)


def _subset(entries: Sequence[_Listed], ports: Iterable[_Port]) -> Object:
    subset: Object = {}
    for kind, wanted in (("addresses", True), ("notReadyAddresses", False)):
        if found := [entry for _, ready, entry in entries if ready is wanted]:
            subset[kind] = found
    if rows := [{key: value for key, value in port if value} for port in ports]:
        subset["ports"] = sorted(rows, key=lambda row: (row.get("name", ""), row["port"], row["protocol"]))
    return subset


def _subset_order(subset: Object) -> tuple[str, str]:
    return repr(subset.get("ports")), repr(subset)


def _is_ipv6(service: Object, pod: endpoints.EndpointPod) -> bool:
    """Tell of which family a pod's address is to be: the service's first, else that of its or of the pod's address."""
    spec = service.get("spec") or {}
    if spec.get("ipFamilies"):
        return bool(spec["ipFamilies"][0] == "IPv6")
    cluster_ip = spec.get("clusterIP") or "None"
    return ":" in (cluster_ip if cluster_ip != "None" else pod.pod_ip)


def truncate(subsets: list[Object]) -> tuple[list[Object], bool]:
    """Return the subsets with at most a thousand addresses, and whether any were left out.

    Those of ready pods come first; each subset keeps its share of what is cut.
    """
    ready = sum(len(subset.get("addresses", ())) for subset in subsets)
    unready = sum(len(subset.get("notReadyAddresses", ())) for subset in subsets)
    if ready + unready <= MAX_ADDRESSES:
        return subsets, False
    kind, total, most = "notReadyAddresses", unready, MAX_ADDRESSES - ready
    if ready > MAX_ADDRESSES:
        kind, total, most = "addresses", ready, MAX_ADDRESSES
    left = most
    cut: list[Object] = []
    for subset in subsets:
        # Shares are rounded up, so the last subset may get less than its own.
        share = min(left, -(-len(subset.get(kind, ())) * most // total))
        left -= min(share, len(subset.get(kind, ())))
        kept = {key: value for key, value in subset.items() if key != "notReadyAddresses" or kind == key}
        kept = {**kept, kind: subset.get(kind, [])[:share]}
        cut.append({key: value for key, value in kept.items() if value})
    return [subset for subset in cut if subset.keys() - {"ports"}], True


def _entry(address: str, pod: endpoints.EndpointPod, service: Object) -> Object:
    """Return the pod's entry, which is the same dict as long as neither the pod nor its address and hostname change."""
    hostname = endpoints.hostname_of(pod, service)
    made = pod.made  # read once: another service may select the pod, too
    if made is not None and made[0] == (address, hostname):
        known: Object = made[1]
        return known
    entry: Object = {"ip": address}
    if hostname:
        entry["hostname"] = hostname
    if pod.node_name:
        entry["nodeName"] = pod.node_name
    entry["targetRef"] = endpoints.target_of(pod)
    pod.made = (address, hostname), entry
    return entry


class Settings(Record):
    """How many endpoints are synced at once, and how long changes of pods are gathered."""

    concurrent_endpoint_syncs: int = 5
    endpoint_updates_batch_period: float = 0.0


class Endpoint(Plugin):
    """Keeps an Endpoints object for each service that selects pods."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        settings = self.settings(Settings)
        self._services = self.informers.informer(SERVICES)
        self._pods = endpoints.EndpointPods(self.informers.informer(PODS))
        self._endpoints = self.informers.informer(ENDPOINTS)
        self._trigger_times = endpoints.TriggerTimeTracker()
        self._stale: dict[str, str] = {}
        self._recorder = EventRecorder(self.client, self.context.clock, "endpoint-controller")
        loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=self.context.clock,
            logger=self.context.logger,
            workers=settings.concurrent_endpoint_syncs,
            max_retries=MAX_RETRIES,
        )
        batch_period = settings.endpoint_updates_batch_period
        self._spacing = endpoints.SyncSpacing(self.context.clock)
        endpoints.watch_services(loop, self._services, self._pods, self._spacing, batch_period=batch_period)

        def on_add(present: Object) -> None:
            # Those whose service went while no controller ran; such as people write, their services may come yet.
            if MANAGED_BY in labels_of(present):
                loop.enqueue(present)

        self._endpoints.add_handler(on_add, on_delete=loop.enqueue)
        return loop

    def _sync(self, key: str) -> None:
        namespace, name = split_key(key)
        service = self._services.get(namespace, name)
        present = self._endpoints.get(namespace, name)
        if service is None:
            self._trigger_times.forget(key)
            self._spacing.forget(key)
            self._stale.pop(key, None)
            if (
                present is not None
            ):  # also one that was written by hand: it went with its service before there were owners
                perform(self.client, None, [Delete.of(ENDPOINTS, present)])
        elif endpoints.is_managed(service):
            if present is not None and self._stale.get(key) == resource_version_of(present):
                raise NotYet(f"endpoints {key!r} have been changed already and are not seen yet")
            pods = self._pods.of(service)
            self._spacing.synced(key, len(pods))
            self._write(service, decide(service, pods, present, self._trigger_times.compute(key, service, pods)))

    def _write(self, service: Object, actions: Sequence[Action]) -> None:
        try:
            for action in actions:
                if isinstance(action, Update):
                    self._update(action)
                else:
                    perform(self.client, None, [action])
        except ApiError as error:
            if not namespace_is_going(error):
                self._report(service, actions, error)
            raise

    def _update(self, action: Update) -> None:
        """Write, and remember the version that is the old one now.

        No event of endpoints makes a service be looked at again: what is decided on an old version would stay so.
        An update that changed nothing keeps its version.
        """
        before = resource_version_of(action.object)
        written = self.client.update(action.resource, action.object, namespace_of(action.object))
        if resource_version_of(written) != before:
            self._stale[key_of(action.object)] = before

    def _report(self, service: Object, actions: Sequence[Action], error: ApiError) -> None:
        where = f"{namespace_of(service)}/{name_of(service)}"
        for action in actions:
            if isinstance(action, Create):
                text = f"Failed to create endpoint for service {where}: {error}"
                self._recorder.event(action.object, "Warning", FAILED_TO_CREATE, text)
            elif isinstance(action, Update):
                text = f"Failed to update endpoint {where}: {error}"
                self._recorder.event(action.object, "Warning", FAILED_TO_UPDATE, text)
