"""The proxy: watches Services and EndpointSlices and keeps one proxier in sync with them.

Changes are collected for a moment, so that a rollout costs a few syncs rather than one per endpoint. A port that
could not be served becomes an Event on its Service, once per reason.
"""

from __future__ import annotations

import logging
import socket
import threading
from functools import partial

from hyperkube_host.proxy.flags import FAMILIES, FLAGS, NAME
from hyperkube_host.proxy.health import ProxyHealth
from hyperkube_host.proxy.metrics import Change, ProxyMetrics
from hyperkube_host.proxy.options import ProxyOptions
from hyperkube_host.proxy.service_map import SLICE_SELECTOR, age_key, changed_services, node_port_hint, service_map

from hyperkube.client.client import Client
from hyperkube.client.events import EventRecorder
from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs import proxier as specs
from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.proxier import Proxier, ProxierHooks, ServicePort, ServicePortName, UnservedPort
from hyperkube.kinds.resources import ENDPOINT_SLICES, NODES, SERVICES
from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.machinery.objects import Object
from hyperkube.plugin import PluginHost, load
from hyperkube.plugin.settings import PluginSettings

_log = logging.getLogger("hyperkube.proxy")

MIN_SYNC_SECONDS = 0.05
"""How long changes are collected before a sync."""
RETRY_SECONDS = 30.0
"""How long until ports that could not be served are tried again."""


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
        self._services = self._informers.informer(SERVICES)
        self._slices = self._informers.informer(ENDPOINT_SLICES, label_selector=SLICE_SELECTOR)
        self.health = ProxyHealth(self._clock)
        self.metrics = ProxyMetrics(self._clock)
        self.mode = options.mode
        self._host = build_host(options, self._clock)
        self._proxier: Proxier | None = None
        self._sync_needed = threading.Event()
        self._stopped = threading.Event()
        self._synced = False
        self._served: dict[ServicePortName, ServicePort] = {}
        self._unserved: set[UnservedPort] = set()
        self._thread = threading.Thread(target=self._run, name="proxy", daemon=True)

    def start(self) -> None:
        """Start watching and serving; returns at once.

        Raises:
            UsageError: the proxier cannot run on this node.
        """
        self._host.start()
        self._proxier = self._host.hook.proxier_build()
        for informer, what in ((self._services, Change.SERVICE), (self._slices, Change.ENDPOINT)):
            changed = partial(self._changed, what)
            informer.add_handler(changed, changed, changed)
        if self._options.node_name and self._options.healthz is not None:
            node = self._informers.informer(NODES, field_selector=f"metadata.name={self._options.node_name}")
            node.add_handler(self.health.see_node, lambda _old, new: self.health.see_node(new))
        self._informers.start()
        self._thread.start()
        name = self._options.node_name or socket.gethostname().lower()
        about = {"kind": "Node", "apiVersion": "v1", "name": name, "uid": name}
        self._recorder.event(about, "Normal", "Starting", "Starting kube-proxy.")

    def _changed(self, what: Change, *_objects: Object) -> None:
        self.metrics.changed(what)
        self.health.queued()
        self._sync_needed.set()

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
        if self._proxier is not None:
            self._proxier.close()
        self._host.close()

    def _run(self) -> None:
        self._informers.wait_synced()
        self._sync_needed.set()
        failed = False
        while not self._stopped.is_set():
            self._clock.wait(self._sync_needed, RETRY_SECONDS if failed else None)
            if self._clock.wait(self._stopped, MIN_SYNC_SECONDS):
                return
            # Cleared before the state is read: a change that comes later sets it again and causes another sync.
            self._sync_needed.clear()
            self.metrics.sync_started()
            begun = self._clock.monotonic()
            try:
                failed = self._sync()
                self.metrics.sync_finished(self._clock.monotonic() - begun)
                self.health.updated()
            except Exception:  # noqa: BLE001  a bug in one sync must not end the proxying; it is logged
                _log.exception("sync failed; it is tried again in %d s", RETRY_SECONDS)
                failed = True

    def _sync(self) -> bool:
        """Pass the current state to the proxier; tell whether a port could not be served."""
        services = sorted(self._services.list(), key=age_key)
        wanted = service_map(services, self._slices.list(), self._options.node_name)
        changed = changed_services(self._served, wanted)
        if self._proxier is None or (self._synced and not changed and not self._unserved):
            return False
        unserved = self._proxier.sync(wanted)
        self._served, self._synced = wanted, True
        _log.info("serving %d service ports (%d changed, %d not served)", len(wanted), len(changed), len(unserved))
        self._record_unserved(set(unserved))
        return bool(unserved)

    def _record_unserved(self, unserved: set[UnservedPort]) -> None:
        """Record an event for each port and reason that is new."""
        for port in sorted(unserved - self._unserved):
            service = self._services.get(port.name.namespace, port.name.name)
            if service is None:
                continue
            hint = node_port_hint(service, port.name.port)
            self._recorder.event(service, "Warning", "FailedToServe", f"{port.reason}; {hint}")
        self._unserved = unserved


def build_host(options: ProxyOptions, clock: Clock) -> PluginHost[ProxierHooks]:
    """Load the proxier that ``--proxy-mode`` names.

    Raises:
        PluginNotFound: it is not installed; the message lists the installed ones.
    """
    name = options.mode
    logger = logging.getLogger(f"hyperkube.proxier.{name}")
    settings = PluginSettings(NAME, FAMILIES, options.values, FLAGS)

    def context(plugin: str) -> PluginContext:
        given = settings.of("proxier", plugin)
        return PluginContext(name=plugin, clock=clock, logger=logger, settings=given)

    host = load("proxier", [name], specs, context)
    for line in settings.without_effect():
        _log.warning("%s", line)
    return host


def cleanup(options: ProxyOptions) -> None:
    """Remove all traces of the proxier from the node."""
    host = build_host(options, SystemClock())
    proxier: Proxier = host.hook.proxier_build()
    proxier.cleanup()
    proxier.close()
    host.close()
