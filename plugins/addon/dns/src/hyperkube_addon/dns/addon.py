"""The addon: informers fill the records, a server answers, and the Service ``kube-dns`` leads to it.

The server listens on the address at which this machine is known to the cluster: that of the API server's endpoint,
beside which an addon runs. Its Service has the tenth address of the range, as every installer gives it.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hyperkube_addon.dns.objects import NAME, NAMESPACE, dns_address, endpoint_slice, service

from hyperkube.client.client import MERGE_PATCH
from hyperkube.hookspecs import hookimpl
from hyperkube.kinds.resources import ENDPOINT_SLICES, NAMESPACES, SERVICES
from hyperkube.machinery.errors import AlreadyExists, ApiError, UsageError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, name_of, namespace_of
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin, PluginContext

if TYPE_CHECKING:
    from hyperkube_addon.dns.forwarding import Routes
    from hyperkube_addon.dns.records import RecordSet, ServiceKey
    from hyperkube_addon.dns.server import Server

    from hyperkube.client.informer import Informer

RETRY_SECONDS = 1.0
BY_SERVICE = "service"
DEFAULT = "default"


class Settings(Record):
    """How names are answered.

    Attributes:
        cluster_domain: the cluster's zone.
        ttl: for how many seconds answers hold.
        service_ip: the address of the Service ``kube-dns``; empty for the tenth of the range.
        address: to listen on; empty for that of the API server's endpoint.
        port: to listen on; 0 for a free one.
        upstreams: servers for all other names, ``ADDRESS`` or ``ADDRESS:PORT``; empty for those of `resolv_conf`.
        stub_domains: domain → the servers for names in it.
        resolv_conf: the machine's resolver file.
    """

    cluster_domain: str = "cluster.local"
    ttl: int = 30
    service_ip: str = ""
    address: str = ""
    port: int = 0
    upstreams: tuple[str, ...] = ()
    stub_domains: Mapping[str, tuple[str, ...]] = {}
    resolv_conf: str = "/etc/resolv.conf"


class Dns(Plugin):
    """Serves the cluster's names from within the process that runs the addons."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._settings = self.settings(Settings)
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._server: Server | None = None
        self._service_ips: tuple[str, ...] = ()
        self._informers: tuple[Informer, ...] = ()

    @hookimpl
    def addon_start(self) -> None:
        """Serve until `close`.

        Raises:
            UsageError: a setting names no server.
        """
        if self.context.client is None or self.context.informers is None:
            return
        from hyperkube_addon.dns.records import RecordSet
        from hyperkube_addon.dns.server import Server
        from hyperkube_addon.dns.zone import Zone

        records = RecordSet()
        domain = self._settings.cluster_domain.strip(".").lower()
        zone = Zone(domain, records, self._settings.ttl, lambda: self._service_ips, random.shuffle)
        informers = self._fill(records, domain)
        place = self._place()
        if place is None or not all(informer.wait_synced() for informer in informers):
            return
        clock = self.context.clock
        try:
            server = Server(zone, self._lock, routes(self._settings), clock, place, self._settings.port)
        except OSError as error:
            raise UsageError(f"cluster DNS cannot listen on {place}: {error.strerror}") from error
        with self._lock:
            self._server = server
        if self._stopped.is_set():
            server.close()
        else:
            self._lead_here(place, server.port)
        server.run()

    def close(self) -> None:
        """Answer no more."""
        self._stopped.set()
        for informer in self._informers:
            informer.stop()
        with self._lock:
            if self._server is not None:
                self._server.close()

    def _fill(self, records: RecordSet, domain: str) -> tuple[Informer, ...]:
        """Keep the records as the API has it; return whose first lists they wait for."""
        from hyperkube_addon.dns.records import (
            ServiceKey,
            project_namespace,
            project_service,
            project_slice,
            service_of,
            service_records,
        )

        services = self.informers.informer(SERVICES, project=project_service)
        slices = self.informers.informer(ENDPOINT_SLICES, project=project_slice)
        namespaces = self.informers.informer(NAMESPACES, project=project_namespace)
        slices.add_index(BY_SERVICE, lambda piece: [f"{namespace_of(piece)}/{service_of(piece)}"])

        def update(key: ServiceKey) -> None:
            # Both informers may be at it: what is read and what is put belong together.
            with self._lock:
                found = services.get(key.namespace, key.name)
                pieces = slices.by_index(BY_SERVICE, f"{key.namespace}/{key.name}")
                records.put(key, service_records(found, pieces, domain) if found is not None else ())

        def on_service(obj: Object) -> None:
            update(ServiceKey(namespace_of(obj), name_of(obj)))

        def on_slice(piece: Object) -> None:
            update(ServiceKey(namespace_of(piece), service_of(piece)))

        def on_namespace(obj: Object, *, exists: bool) -> None:
            with self._lock:
                records.set_namespace(name_of(obj), exists=exists)

        services.add_handler(on_service, lambda _old, new: on_service(new), on_service)
        slices.add_handler(on_slice, lambda _old, new: on_slice(new), on_slice)
        namespaces.add_handler(
            lambda obj: on_namespace(obj, exists=True), on_delete=lambda obj: on_namespace(obj, exists=False)
        )
        self._informers = (services, slices, namespaces)
        return self._informers

    def _place(self) -> str | None:
        """Return where to listen, once that is known and the Service is there; None when closed before."""
        while not self._stopped.is_set():
            try:
                self._service_ips = self._put_service()
                return self._settings.address or self._own_address()
            except (ApiError, OSError, LookupError) as error:
                self.context.logger.debug("cluster DNS waits: %s", error)
            self.context.clock.wait(self._stopped, RETRY_SECONDS)
        return None

    def _own_address(self) -> str:
        """Return the address of the API server's endpoint.

        Raises:
            LookupError: it has none yet.
        """
        endpoints = self.client.get(ENDPOINT_SLICES, "kubernetes", DEFAULT).get("endpoints") or []
        address: str = endpoints[0]["addresses"][0]
        return address

    def _put_service(self) -> tuple[str, ...]:
        """Bring the Service into the cluster; return its addresses."""
        address = self._settings.service_ip
        if not address:
            address = dns_address(self.client.get(SERVICES, "kubernetes", DEFAULT)["spec"]["clusterIP"])
        found = self._put(SERVICES, service(address))
        return tuple(found["spec"].get("clusterIPs") or [found["spec"]["clusterIP"]])

    def _lead_here(self, place: str, port: int) -> None:
        try:
            self._put(ENDPOINT_SLICES, endpoint_slice("hyperkube", [place], port))
        except (ApiError, OSError) as error:
            self.context.logger.warning("cannot announce cluster DNS: %s", error)

    def _put(self, resource: GroupVersionResource, obj: Object) -> Object:
        """Create an object, or bring the one that an earlier run has left behind up to date."""
        try:
            return self.client.create(resource, obj, NAMESPACE, field_manager=NAME)
        except AlreadyExists:
            return self.client.patch(resource, name_of(obj), obj, NAMESPACE, patch_type=MERGE_PATCH, field_manager=NAME)


def routes(settings: Settings) -> Routes:
    """Return who is asked about names elsewhere.

    Raises:
        UsageError: a setting names no server.
    """
    from hyperkube_addon.dns.forwarding import Routes, resolver_servers, upstream

    names = settings.upstreams or resolver_servers(Path(settings.resolv_conf))
    stubs = {
        domain.strip(".").lower(): [upstream(text) for text in servers]
        for domain, servers in settings.stub_domains.items()
    }
    return Routes(stubs, [upstream(text) for text in names])
