"""The proxy: watches Services and EndpointSlices and keeps one proxier at what they ask for.

Changes are gathered for a moment, so that a rollout costs a few syncs rather than one per endpoint. A port that
could not be served becomes an Event on its Service, once per reason.
"""

from __future__ import annotations

import logging
import threading
from functools import partial
from typing import Any

from hyperkube_host.proxy.health import ProxyHealth
from hyperkube_host.proxy.maps import SLICE_SELECTOR, age_key, changed_services, node_port_hint, service_map
from hyperkube_host.proxy.metrics import ENDPOINT, SERVICE, ProxyMetrics

from hyperkube.client.client import Client
from hyperkube.client.events import EventRecorder
from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs import proxier as specs
from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.proxier import Proxier, ServicePort, ServicePortName
from hyperkube.kinds.resources import ENDPOINT_SLICES, NODES, SERVICES
from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.machinery.objects import Object
from hyperkube.plugin import PluginHost, load

_log = logging.getLogger("hyperkube.proxy")

GATHER_SECONDS = 0.05
"""How long changes are gathered before a sync."""
RETRY_SECONDS = 30.0
"""How long until ports that could not be served are tried again."""


class Proxy:
    """kube-proxy for one node."""

    def __init__(self, *, client: Client, options: dict[str, Any], clock: Clock | None = None) -> None:
        """Prepare; nothing is served or watched before `start`.

        Args:
            client: the API, as ``system:kube-proxy``.
            options: the proxy's flags by name.
            clock: the cluster's time.
        """
        self._clock = clock or SystemClock()
        self._options = options
        self._node = str(options.get("hostname-override", ""))
        self._recorder = EventRecorder(client, self._clock, "kube-proxy", self._node)
        self._informers = InformerFactory(client, self._clock)
        self._services = self._informers.informer(SERVICES)
        self._slices = self._informers.informer(ENDPOINT_SLICES, label_selector=SLICE_SELECTOR)
        self.health = ProxyHealth(self._clock)
        self.metrics = ProxyMetrics(self._clock)
        self.mode = proxy_mode(options)
        self._host = build_host(options, self._clock)
        self._proxier: Proxier | None = None
        self._dirty = threading.Event()
        self._stopped = threading.Event()
        self._synced = False
        self._served: dict[ServicePortName, ServicePort] = {}
        self._complained: set[str] = set()
        self._thread = threading.Thread(target=self._run, name="proxy", daemon=True)

    def start(self) -> None:
        """Start watching and serving; returns at once.

        Raises:
            UsageError: the proxier cannot run on this node.
        """
        self._host.start()
        self._proxier = self._host.hook.proxier_build()
        for informer, what in ((self._services, SERVICE), (self._slices, ENDPOINT)):
            changed = partial(self._changed, what)
            informer.add_handler(changed, changed, changed)
        if self._node and self._options.get("healthz-port"):
            node = self._informers.informer(NODES, field_selector=f"metadata.name={self._node}")
            node.add_handler(self.health.see_node, lambda _old, new: self.health.see_node(new))
        self._informers.start()
        self._thread.start()

    def _changed(self, what: str, *_objects: Object) -> None:
        self.metrics.changed(what)
        self.health.queued()
        self._dirty.set()

    def ready(self) -> bool:
        """Tell whether the first complete state was handed to the proxier."""
        return self._synced

    def close(self) -> None:
        """Stop serving and watching."""
        self._stopped.set()
        self._dirty.set()
        self._informers.stop()
        if self._thread.is_alive():
            self._thread.join(2.0)
        if self._proxier is not None:
            self._proxier.close()
        self._host.close()

    def _run(self) -> None:
        self._informers.wait_synced()
        self._dirty.set()
        failed = False
        while not self._stopped.is_set():
            if not self._clock.wait(self._dirty, RETRY_SECONDS if failed else None):
                self._dirty.set()
            if self._clock.wait(self._stopped, GATHER_SECONDS):
                return
            self._dirty.clear()
            self.metrics.taken()
            begun = self._clock.monotonic()
            try:
                failed = self._sync()
                self.metrics.synced(self._clock.monotonic() - begun)
                self.health.updated()
            except Exception:  # noqa: BLE001  a bug in one sync must not end the proxying; it is logged
                _log.exception("sync failed; it is tried again in %d s", RETRY_SECONDS)
                failed = True

    def _sync(self) -> bool:
        """Hand the current state over; tell whether something could not be served."""
        services = sorted(self._services.list(), key=age_key)
        wanted = service_map(services, self._slices.list(), self._node)
        changed = changed_services(self._served, wanted)
        if self._proxier is None or (self._synced and not changed and not self._complained):
            return False
        refused = self._proxier.sync(wanted)
        self._served, self._synced = wanted, True
        _log.info("serving %d service ports (%d changed, %d refused)", len(wanted), len(changed), len(refused))
        self._complain(refused, services)
        return bool(refused)

    def _complain(self, refused: list[str] | Any, services: list[Object]) -> None:
        """Make an Event of each line ``NAMESPACE/NAME[:PORT]: WHY`` that is new."""
        lines = set(refused)
        for line in sorted(lines - self._complained):
            about, _, why = line.partition(": ")
            key, _, port = about.partition(":")
            namespace, _, name = key.partition("/")
            service = self._services.get(namespace, name)
            if service is None:
                continue
            hint = node_port_hint(service, port)
            self._recorder.event(service, "Warning", "FailedToServe", f"{why}; {hint}")
        self._complained = lines


def proxy_mode(options: dict[str, Any]) -> str:
    """Return the name of the proxier that is used."""
    return str(options.get("proxy-mode") or "userspace")


def build_host(options: dict[str, Any], clock: Clock) -> PluginHost:
    """Load the proxier that ``--proxy-mode`` names.

    Raises:
        PluginNotFound: it is not installed; the message lists the installed ones.
    """
    name = proxy_mode(options)
    logger = logging.getLogger(f"hyperkube.proxier.{name}")
    return load(
        "proxier", [name], specs, lambda plugin: PluginContext(name=plugin, clock=clock, logger=logger, options=options)
    )


def cleanup(options: dict[str, Any]) -> None:
    """Remove all traces of the proxier from the node."""
    host = build_host(options, SystemClock())
    proxier: Proxier = host.hook.proxier_build()
    proxier.cleanup()
    proxier.close()
    host.close()
