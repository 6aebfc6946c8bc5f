"""The proxy: watches Services and EndpointSlices and keeps one proxier in sync with them.

Changes are collected for a moment, so that a rollout costs a few syncs rather than one per endpoint. A port that
could not be served becomes an Event on its Service, once per reason.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from hyperkube_host.proxy.change_tracker import ServiceKey
from hyperkube_host.proxy.family_sync import FamilySync, KernelFamilySync
from hyperkube_host.proxy.health import ProxyHealth
from hyperkube_host.proxy.metrics import Change, ProxyMetrics
from hyperkube_host.proxy.node_manager import proxy_node
from hyperkube_host.proxy.options import ProxyOptions
from hyperkube_host.proxy.projections import TRIGGER_ANNOTATION, projected_service, projected_slice
from hyperkube_host.proxy.proxiers import build_host, cleanup_others
from hyperkube_host.proxy.service_ports import (
    SERVICE_NAME_LABEL,
    SERVICE_SELECTOR,
    SLICE_SELECTOR,
    node_port_hint,
)
from hyperkube_host.proxy.sync_limit import SyncLimit
from hyperkube_lib.proxy_rules.families import FAMILIES
from hyperkube_lib.proxy_rules.kernel import KernelProxier, TidiesLater
from hyperkube_lib.proxy_rules.node_port_addresses import node_port_addresses

from hyperkube.client.client import Client
from hyperkube.client.events import EventRecorder
from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs.proxier import IPFamily, Proxier, ProxyNode, UnservedPort
from hyperkube.kinds.resources import ENDPOINT_SLICES, NODES, SERVICE_CIDRS, SERVICES
from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.machinery.objects import Object, labels_of, metadata, name_of, namespace_of
from hyperkube.machinery.times import TimeError, parse_time

if TYPE_CHECKING:
    from hyperkube_host.proxy.service_health import ServiceHealth

_log = logging.getLogger("hyperkube.proxy")

COLLECT_SECONDS = 0.05
"""How long changes are collected before a sync."""
RETRY_SECONDS = 30.0
"""How long until ports that could not be served are synced again."""
FULL_SYNC_SECONDS = 3600.0
"""How often a proxier with rules in the kernel is told to write all of them again."""
_BY_SERVICE = "service"


def _service_of_slice(each: Object) -> list[str]:
    owner = labels_of(each).get(SERVICE_NAME_LABEL)
    return [f"{namespace_of(each)}/{owner}"] if owner else []


class Proxy:
    """kube-proxy for one node."""

    def __init__(self, *, client: Client, options: ProxyOptions, clock: Clock | None = None) -> None:
        """Prepare; nothing is served or watched before `start`.

        Args:
            client: the API, as ``system:kube-proxy``.
            options: what its flags say.
            clock: the cluster's time.
        """
        self._clock = clock or SystemClock()
        self._options = options
        self._recorder = EventRecorder(client, self._clock, "kube-proxy", options.node_name)
        self._informers = InformerFactory(client, self._clock)
        self._services = self._informers.informer(SERVICES, label_selector=SERVICE_SELECTOR, project=projected_service)
        self._slices = self._informers.informer(ENDPOINT_SLICES, label_selector=SLICE_SELECTOR, project=projected_slice)
        self._slices.add_index(_BY_SERVICE, _service_of_slice)
        self._service_cidrs = self._informers.informer(SERVICE_CIDRS)
        self._nodes = self._informers.informer(NODES, field_selector=f"metadata.name={options.node_name}")
        self.metrics = ProxyMetrics(self._clock, FAMILIES)
        self.health = ProxyHealth(self._clock, FAMILIES, 2 * options.sync_seconds, self.metrics.answered)
        self.mode = options.mode
        self._host = build_host(options, self._clock, self.metrics)
        self._proxier: Proxier | None = None
        self._kernel: KernelProxier | None = None
        self._families: list[FamilySync] = []
        self._limit = SyncLimit(0.0)
        self._sync_needed = threading.Event()
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._touched: set[ServiceKey] = set()
        self._node = ProxyNode(name=options.node_name)
        self._full_sync_due = threading.Event()
        self._full_sync_at = self._clock.monotonic()
        self._started = self._clock.now()
        self._synced = False
        self._unserved: set[UnservedPort] = set()
        self._service_health: dict[IPFamily, ServiceHealth] = {}
        self._thread = threading.Thread(target=self._run, name="proxy", daemon=True)

    def start(self) -> None:
        """Start watching and serving; returns at once.

        Raises:
            UsageError: the proxier cannot run on this node.
        """
        self._host.start()
        self._proxier = self._host.hook.proxier_build()
        self._set_up(self._proxier)
        for informer, what in ((self._services, Change.SERVICE), (self._slices, Change.ENDPOINT)):
            changed = partial(self._changed, what)
            informer.add_handler(changed, partial(self._updated, what), changed)
        self._nodes.add_handler(self._see_node, lambda _old, new: self._see_node(new), self._node_deleted)
        self._service_cidrs.add_handler(self._all_changed, lambda _old, new: self._all_changed(new), self._all_changed)
        self._informers.start()
        self._thread.start()
        name = self._options.node_name
        about = {"kind": "Node", "apiVersion": "v1", "name": name, "uid": name}
        self._recorder.event(about, "Normal", "Starting", "Starting kube-proxy.")

    def _set_up(self, proxier: Proxier) -> None:
        """Prepare for a proxier, and the node if its rules are in the kernel."""
        shape: type[FamilySync] = FamilySync
        families: Sequence[IPFamily] = FAMILIES
        if isinstance(proxier, KernelProxier):
            from hyperkube_host.proxy.conntrack.sysctls import set_up

            self._kernel = proxier
            self._limit = SyncLimit(self._options.min_sync_seconds)
            shape, families = KernelFamilySync, proxier.families
            set_up(self._options.conntrack)
            cleanup_others(self._options)
        name = self._options.node_name
        self._families = [shape(family, proxier, name, self.metrics, self._clock) for family in families]

    def ready(self) -> bool:
        """Tell whether the proxier has the first complete state."""
        return self._synced

    def close(self) -> None:
        """Stop serving and watching."""
        self._stopped.set()
        self._sync_needed.set()
        self._informers.stop()
        if self._thread.is_alive():
            self._thread.join(2.0)
        for health in self._service_health.values():
            health.close()
        if self._proxier is not None:
            self._proxier.close()
        self._host.close()

    def _changed(self, what: Change, *objects: Object) -> None:
        """Note that a Service or an EndpointSlice changed; the first object is the new one, or the one that went."""
        keys = {_key_of(what, each) for each in objects}
        if what is Change.ENDPOINT:
            self._note_trigger(objects[0])
        with self._lock:
            self._touched.update(key for key in keys if key is not None)
        self._queue(what)

    def _updated(self, what: Change, old: Object, new: Object) -> None:
        self._changed(what, new, old)

    def _queue(self, what: Change) -> None:
        self.metrics.changed(what)
        self.health.queued()
        self._sync_needed.set()

    def _note_trigger(self, endpoint_slice: Object) -> None:
        text = (metadata(endpoint_slice).get("annotations") or {}).get(TRIGGER_ANNOTATION, "")
        try:
            when = parse_time(text)
        except TimeError:
            return
        if when < self._started:
            return
        for sync in self._families:
            if sync.family == endpoint_slice.get("addressType"):
                sync.triggered(when)

    def _see_node(self, node: Object) -> None:
        self.health.see_node(node)
        self._use_node(proxy_node(node, self._options.node_name, self._options.bind_address))

    def _node_deleted(self, node: Object) -> None:
        self.health.node_deleted(node)
        self._use_node(proxy_node(None, self._options.node_name, self._options.bind_address))

    def _use_node(self, known: ProxyNode) -> None:
        if known != self._node:
            self._node = known
            self._all_changed()

    def _all_changed(self, *_objects: Object) -> None:
        """Have everything written again; from any thread."""
        self._full_sync_due.set()
        self._sync_needed.set()

    def _run(self) -> None:
        self._informers.wait_synced()
        self._sync_needed.set()
        failed = False
        while not self._stopped.is_set():
            seconds = [self._longest_wait(failed=failed), self._tidy()]
            self._clock.wait(self._sync_needed, min((each for each in seconds if each is not None), default=None))
            self._look_for_rules()
            delay = max(COLLECT_SECONDS, self._limit.delay(self._clock.monotonic()))
            if self._clock.wait(self._stopped, delay):
                return
            failed = self._sync_once()

    def _longest_wait(self, *, failed: bool) -> float | None:
        if self._kernel is not None:
            return self._options.sync_seconds
        return RETRY_SECONDS if failed else None

    def _tidy(self) -> float | None:
        """Have removed what a sync made needless; return in how many seconds that is to be done again."""
        return self._kernel.tidy() if isinstance(self._kernel, TidiesLater) else None

    def _look_for_rules(self) -> None:
        """Have everything written again if the rules in the kernel are gone, or the time for it has come."""
        if self._kernel is None:
            return
        now = self._clock.monotonic()
        if self._kernel.rules_lost() or now - self._full_sync_at >= FULL_SYNC_SECONDS:
            self._full_sync_due.set()

    def _sync_once(self) -> bool:
        """Sync all families; tell whether one failed, or something could not be served."""
        self._limit.take(self._clock.monotonic())
        # Cleared before the state is read: a change that comes later sets it again and causes another sync.
        self._sync_needed.clear()
        with self._lock:
            touched, self._touched = self._touched, set()
        self.metrics.sync_started()
        keys = sorted(touched, key=self._age_of)
        if self._full_sync_due.is_set():
            self._full_sync_due.clear()
            self._full_sync_at = self._clock.monotonic()
            for sync in self._families:
                sync.need_full_sync()
        unserved: set[UnservedPort] = set()
        failed = False
        for sync in self._families:
            sync.tracker.update(keys, self._services.get, self._slices_of)
            try:
                unserved.update(sync.sync(self._node, self._ranges()))
                self.health.updated(sync.family)
            except Exception:  # noqa: BLE001  a sync that fails must not end the proxying; it is logged, and done again
                _log.exception("%s: sync failed; the next one is in %g s", sync.family, self._longest_wait(failed=True))
                failed = True
        self._synced = self._synced or not failed
        self._record_unserved(unserved)
        self._sync_service_health()
        return failed or bool(unserved)

    def _ranges(self) -> list[str]:
        return [text for each in self._service_cidrs.list() for text in each.get("spec", {}).get("cidrs") or ()]

    def _slices_of(self, key: ServiceKey) -> Sequence[Object]:
        return self._slices.by_index(_BY_SERVICE, f"{key.namespace}/{key.name}")

    def _age_of(self, key: ServiceKey) -> str:
        """Return when a Service was created: of two that want one address, the older keeps it."""
        service = self._services.get(*key)
        return "" if service is None else str(metadata(service).get("creationTimestamp", ""))

    def _record_unserved(self, unserved: set[UnservedPort]) -> None:
        """Record an event for each port and reason that is new."""
        for port in sorted(unserved - self._unserved):
            service = self._services.get(port.name.namespace, port.name.name)
            if service is not None:
                hint = node_port_hint(service, port.name.port)
                self._recorder.event(service, "Warning", "FailedToServe", f"{port.reason}; {hint}")
        self._unserved = unserved

    def _sync_service_health(self) -> None:
        """Tell load balancers what there is of each Service with a port for that."""
        for sync in self._families:
            ports = sync.tracker.health_check_node_ports
            if ports and sync.family not in self._service_health:
                from hyperkube_host.proxy.service_health import ServiceHealth

                self._service_health[sync.family] = ServiceHealth(
                    partial(self._health_check_addresses, sync.family),
                    self.health.alive,
                    self._record_health_check_failure,
                )
            if sync.family in self._service_health:
                self._service_health[sync.family].sync(ports, sync.tracker.local_ready_endpoints(ports))

    def _health_check_addresses(self, family: IPFamily) -> list[str]:
        where = node_port_addresses(self._options.node_port_addresses, self._node, family)
        if where.match_all:
            return ["::" if family == "IPv6" else "0.0.0.0"]
        return where.listen_addresses()

    def _record_health_check_failure(self, key: ServiceKey, port: int, why: str) -> None:
        service = self._services.get(*key)
        if service is not None:
            name = f'"{key.namespace}/{key.name}"'
            text = f"node {self._options.node_name} failed to start healthcheck {name} on port {port}: {why}"
            self._recorder.event(service, "Warning", "FailedToStartServiceHealthcheck", text)


def _key_of(what: Change, obj: Object) -> ServiceKey | None:
    """Return which Service an object is about; None for a slice of none."""
    if what is Change.SERVICE:
        return ServiceKey(namespace_of(obj), name_of(obj))
    owner = labels_of(obj).get(SERVICE_NAME_LABEL)
    return ServiceKey(namespace_of(obj), owner) if owner else None
