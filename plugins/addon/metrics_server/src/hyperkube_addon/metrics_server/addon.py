"""The addon: a scraper, and a server of the resource metrics API behind the aggregator.

It begins a moment after the cluster, so that no start is slower for it, and takes its APIService away when it ends: a
group version without a server would spoil discovery for everything that needs all of it.
"""

from __future__ import annotations

import base64
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hyperkube_addon.metrics_server.objects import (
    GROUP,
    NAME,
    READER_ROLE,
    SERVER_NAME,
    VERSION,
    routing,
)

from hyperkube.client.client import MERGE_PATCH, Client
from hyperkube.hookspecs import hookimpl
from hyperkube.kinds.resources import API_SERVICES, CONFIG_MAPS, ENDPOINT_SLICES, PODS, SERVICES
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import AlreadyExists, ApiError
from hyperkube.machinery.objects import Object, name_of, namespace_of
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin, PluginContext

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hyperkube_lib.serving.edge import Edge

START_SECONDS = 1.0
FIRST_SECONDS = 2.0
"""From the first scrape to the second, which is the first to tell something."""
IDLE_SECONDS = 60.0
"""From one scrape to the next while there is no pod: metrics-server's own resolution unless its manifest sets 15 s."""
RETRY_SECONDS = 5.0
ADDRESS = "127.0.0.1"
_RESOURCES = {"Service": SERVICES, "EndpointSlice": ENDPOINT_SLICES, "APIService": API_SERVICES}


class Settings(Record):
    """How often kubelets are asked, in seconds."""

    metric_resolution: float = 15.0


class MetricsServer(Plugin):
    """Serves metrics.k8s.io from within the cluster's process."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._resolution = self.settings(Settings).metric_resolution
        self._stopped = threading.Event()

    @hookimpl
    def addon_objects(self) -> Sequence[Object]:
        """Return the role of readers."""
        return [READER_ROLE]

    @hookimpl
    def addon_start(self) -> None:
        """Serve until `close`."""
        client, clock = self.context.client, self.context.clock
        if client is None or clock.wait(self._stopped, START_SECONDS):
            return
        while not self._stopped.is_set():
            try:
                with tempfile.TemporaryDirectory(prefix="metrics-server-") as folder:
                    self._serve(client, clock, Path(folder))
            except (ApiError, OSError) as error:
                self.context.logger.warning("the resource metrics API cannot be served yet: %s", error)
                clock.wait(self._stopped, RETRY_SECONDS)

    def close(self) -> None:
        """Serve no more."""
        self._stopped.set()

    def _serve(self, client: Client, clock: Clock, folder: Path) -> None:
        from hyperkube_addon.metrics_server.scraper import Scraper
        from hyperkube_addon.metrics_server.storage import MetricsStorage

        storage = MetricsStorage(self._resolution)
        edge, authority = _edge(storage, client, clock, folder)
        edge.start()
        try:
            for obj in routing(edge.port, ADDRESS, authority):
                _put(client, obj)
            scraper = Scraper(client, clock, self.context.logger)
            while not self._stopped.is_set():
                try:
                    storage.store(scraper.scrape())
                except (ApiError, OSError) as error:
                    self.context.logger.warning("cannot list the nodes to scrape: %s", error)
                if storage.is_ready:
                    self._rest(client, clock)
                else:
                    clock.wait(self._stopped, FIRST_SECONDS)
            client.delete(API_SERVICES, f"{VERSION}.{GROUP}")
        finally:
            edge.close()

    def _rest(self, client: Client, clock: Clock) -> None:
        """Wait until the next scrape is due; kubelets without pods are asked less often."""
        since = clock.monotonic()
        while not clock.wait(self._stopped, self._resolution):
            if clock.monotonic() - since >= IDLE_SECONDS - self._resolution / 2 or _has_pods(client):
                return


def _has_pods(client: Client) -> bool:
    try:
        return bool(client.list(PODS, limit=1).items)
    except (ApiError, OSError):  # what is wrong is told by the scrape
        return True


def _put(client: Client, obj: Object) -> None:
    """Create an object, or bring the one that an earlier run has left behind up to date."""
    resource, namespace = _RESOURCES[obj["kind"]], namespace_of(obj)
    try:
        client.create(resource, obj, namespace, field_manager=NAME)
    except AlreadyExists:
        client.patch(resource, name_of(obj), obj, namespace, patch_type=MERGE_PATCH, field_manager=NAME)


def _edge(storage: Any, client: Client, clock: Clock, folder: Path) -> tuple[Edge, str]:
    """Return what serves, not started, and its authority in base64.

    Raises:
        ApiError, OSError: the API server does not tell whom to believe.
    """
    from hyperkube_addon.metrics_server.handler import MetricsHandler
    from hyperkube_lib.client_certificates.noted import notes_of
    from hyperkube_lib.serving.certificates_apart import AUTHORITY, CERTIFICATE, KEY, issue_apart
    from hyperkube_lib.serving.delegated_authentication import DelegatedAuthentication
    from hyperkube_lib.serving.delegated_authorization import DelegatedAuthorization
    from hyperkube_lib.serving.edge import Edge
    from hyperkube_lib.serving.loop import shared_loop
    from hyperkube_lib.serving.published_authority import (
        CLIENT_CA,
        PUBLISHED,
        REQUEST_HEADER_CA,
        REQUEST_HEADER_NOTES,
        front_proxy_of,
    )
    from hyperkube_lib.serving.tls import TlsFiles

    namespace, name = PUBLISHED
    published = client.get(CONFIG_MAPS, name, namespace).get("data") or {}
    issue_apart(folder, NAME, dns=[SERVER_NAME, "localhost"], address=ADDRESS, now=clock.now())
    client_ca = _written(folder / "client-ca.crt", published.get(CLIENT_CA, ""))
    proxy_ca = _written(folder / "request-header-ca.crt", published.get(REQUEST_HEADER_CA, ""))
    _written(notes_of(folder / "request-header-ca.crt"), published.get(REQUEST_HEADER_NOTES, ""))
    authentication = DelegatedAuthentication(
        clock, client, client_ca_file=client_ca, front_proxy=front_proxy_of(proxy_ca, published) if proxy_ca else None
    )
    handler = MetricsHandler(storage, client, clock, authentication, DelegatedAuthorization(clock, client))
    tls = TlsFiles(
        cert_file=str(folder / CERTIFICATE),
        key_file=str(folder / KEY),
        client_ca_file=client_ca,
        request_header_ca_file=proxy_ca,
    )
    edge = Edge(handler, host=ADDRESS, port=0, tls=tls, loop=shared_loop(clock), name=NAME)
    return edge, base64.b64encode((folder / AUTHORITY).read_bytes()).decode()


def _written(path: Path, text: str) -> str:
    """Write a file of authorities, or notes of one, and return its name; empty when there is nothing to write."""
    if not text:
        return ""
    path.write_text(text)
    path.chmod(0o600)
    return str(path)
