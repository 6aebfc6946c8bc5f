"""The addon: watches Ingresses and all they refer to, and keeps nginx and the Ingresses' status up to date."""

from __future__ import annotations

import shutil
import socket
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hyperkube_addon.ingress_nginx.routing import CONTROLLER, DEFAULT_CLASS, Cluster, ours, servers

from hyperkube.client.client import MERGE_PATCH
from hyperkube.hookspecs import hookimpl
from hyperkube.kinds.resources import ENDPOINT_SLICES, INGRESS_CLASSES, SECRETS, SERVICES
from hyperkube.machinery.errors import ApiError, UsageError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, name_of, namespace_of
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin, PluginContext

if TYPE_CHECKING:
    from hyperkube_addon.ingress_nginx.configuration import Place
    from hyperkube_addon.ingress_nginx.program import Nginx
    from hyperkube_addon.ingress_nginx.routing import Server

    from hyperkube.client.informer import Informer

INGRESSES = GroupVersionResource("networking.k8s.io", "v1", "ingresses")
PAUSE_SECONDS = 0.1
"""Changes that come within it become one configuration."""
RETRY_SECONDS = 5.0
BY_SERVICE = "service"
UNPRIVILEGED = 8000
"""What is added to ports 80 and 443 where those may not be bound."""
INGRESS_CLASS: Object = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "IngressClass",
    "metadata": {"name": DEFAULT_CLASS, "labels": {"addonmanager.kubernetes.io/mode": "EnsureExists"}},
    "spec": {"controller": CONTROLLER},
}


class Settings(Record):
    """Where Ingresses are served.

    Attributes:
        address: to listen on, and told in the Ingresses' status; empty for that of the API server's endpoint.
        http_port: 0 for 80, or 8080 where that may not be bound.
        https_port: 0 for 443, or 8443 likewise.
    """

    address: str = ""
    http_port: int = 0
    https_port: int = 0


class IngressNginx(Plugin):
    """Serves the Ingresses of its class."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._settings = self.settings(Settings)
        self._changed = threading.Event()
        self._stopped = threading.Event()
        self._informers: dict[str, Informer] = {}

    def start(self) -> None:
        """Look whether there is what it needs.

        Raises:
            UsageError: nginx is not installed.
        """
        if shutil.which("nginx") is None:
            raise UsageError("addon 'ingress-nginx' needs the program 'nginx' (Debian's package nginx-light)")

    @hookimpl
    def addon_objects(self) -> Sequence[Object]:
        """Return the class of its Ingresses."""
        return [INGRESS_CLASS]

    @hookimpl
    def addon_start(self) -> None:
        """Serve until `close`."""
        if self.context.client is None or self.context.informers is None:
            return
        from hyperkube_addon.ingress_nginx.program import Nginx

        self._watch()
        # A `close` that comes now finds the informers, an earlier one is seen here.
        if self._stopped.is_set() or not all(informer.wait_synced() for informer in self._informers.values()):
            return
        address = self._address()
        if address is None:
            return
        with tempfile.TemporaryDirectory(prefix="ingress-nginx-") as name:
            folder = Path(name)
            folder.chmod(0o755)  # workers have another user, and files of theirs in it
            nginx = Nginx(folder, self.context.logger)
            try:
                self._serve(nginx, self._place(folder, address))
            finally:
                nginx.close()

    def close(self) -> None:
        """Serve no more."""
        self._stopped.set()
        self._changed.set()
        for informer in self._informers.values():
            informer.stop()

    def _watch(self) -> None:
        factory = self.informers
        slices = factory.informer(ENDPOINT_SLICES)
        slices.add_index(BY_SERVICE, lambda piece: [_service_key(piece)])
        self._informers = {
            "ingresses": factory.informer(INGRESSES),
            "classes": factory.informer(INGRESS_CLASSES),
            "services": factory.informer(SERVICES),
            "slices": slices,
            "secrets": factory.informer(SECRETS, field_selector="type=kubernetes.io/tls"),
        }
        for informer in self._informers.values():
            informer.add_handler(
                lambda _obj: self._changed.set(),
                lambda _old, _new: self._changed.set(),
                lambda _obj: self._changed.set(),
            )

    def _serve(self, nginx: Nginx, place: Place) -> None:
        from hyperkube_addon.ingress_nginx.configuration import configuration, pair_files
        from hyperkube_addon.ingress_nginx.isolation import apart
        from hyperkube_addon.ingress_nginx.routing import KeyPair
        from hyperkube_lib.serving.certificates import issue, make_ca

        clock, logger = self.context.clock, self.context.logger
        made = issue(
            make_ca("ingress-nginx", clock=clock), "ingress.local", dns=["ingress.local"], server=True, clock=clock
        )
        own = KeyPair(made.certificate, made.key)
        logger.info("serving Ingresses at %s, ports %d and %d", place.address, place.http, place.https)
        applied = ""

        def refusal(hosts: Sequence[Server]) -> str:
            return nginx.refusal(configuration(hosts, place, own), files_of(hosts))

        def files_of(hosts: Sequence[Server]) -> dict[str, bytes]:
            pairs = {own, *(host.pair for host in hosts if host.pair)}
            return {name: part for pair in pairs for name, part in zip(pair_files(pair), pair, strict=True)}

        while not self._stopped.is_set():
            self._changed.clear()
            chosen = self._ingresses()
            found = [self._with_usable_pair(server) for server in servers(chosen, self._cluster())]
            text = configuration(found, place, own)
            if text != applied:
                error = nginx.apply(text, files_of(found))
                if error:
                    found, refused = apart(found, refusal)
                    for host, why in refused.items():
                        logger.warning("host %r is not served: %s", host or "*", why)
                    error = nginx.apply(configuration(found, place, own), files_of(found))
                if error:
                    logger.error("Ingresses are served as before: %s", error)
                    clock.wait(self._stopped, RETRY_SECONDS)
                    continue
                applied = text
            self._tell(chosen, place.address)
            clock.wait(self._changed, None)
            clock.wait(self._stopped, PAUSE_SECONDS)

    def _with_usable_pair(self, server: Server) -> Server:
        """Return a server without a certificate that nginx cannot use: one mistake must not stop all other hosts."""
        from hyperkube_addon.ingress_nginx.certificates import matches

        if server.pair is None or matches(server.pair):
            return server
        self.context.logger.warning("host %r: its TLS secret holds no matching certificate and key", server.host)
        return server._replace(pair=None)

    def _ingresses(self) -> list[Object]:
        classes = {name_of(one): one for one in self._informers["classes"].list()}
        return [one for one in self._informers["ingresses"].list() if ours(one, classes)]

    def _cluster(self) -> Cluster:
        services, slices, secrets = (self._informers[name] for name in ("services", "slices", "secrets"))
        return Cluster(
            services.get, lambda namespace, name: slices.by_index(BY_SERVICE, f"{namespace}/{name}"), secrets.get
        )

    def _tell(self, ingresses: Sequence[Object], address: str) -> None:
        """Write the address into the status of Ingresses that do not have it."""
        wanted = [{"ip": address}]
        for ingress in ingresses:
            balancer = (ingress.get("status") or {}).get("loadBalancer") or {}
            if [{"ip": row.get("ip")} for row in balancer.get("ingress") or ()] == wanted:
                continue
            patch = {"status": {"loadBalancer": {"ingress": wanted}}}
            try:
                self.client.patch(
                    INGRESSES,
                    name_of(ingress),
                    patch,
                    namespace_of(ingress),
                    patch_type=MERGE_PATCH,
                    subresource="status",
                )
            except (ApiError, OSError) as error:
                self.context.logger.warning("cannot tell an Ingress its address: %s", error)

    def _address(self) -> str | None:
        """Return where to listen, once that is known; None when closed before."""
        while not self._stopped.is_set():
            if self._settings.address:
                return self._settings.address
            found = self._informers["slices"].get("default", "kubernetes")
            rows = (found or {}).get("endpoints") or ()
            if rows:
                address: str = rows[0]["addresses"][0]
                return address
            self.context.clock.wait(self._stopped, RETRY_SECONDS / 10)
        return None

    def _place(self, folder: Path, address: str) -> Place:
        from hyperkube_addon.ingress_nginx.configuration import Place
        from hyperkube_addon.ingress_nginx.program import worker_user

        extra = 0 if _may_bind(address) else UNPRIVILEGED
        http, https = self._settings.http_port or 80 + extra, self._settings.https_port or 443 + extra
        return Place(folder, address, http, https, worker_user())


def _service_key(piece: Object) -> str:
    name = (piece["metadata"].get("labels") or {}).get("kubernetes.io/service-name", "")
    return f"{namespace_of(piece)}/{name}"


def _may_bind(address: str) -> bool:
    """Tell whether this process may bind ports below 1024."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, 80))
        except PermissionError:
            return False
        except OSError:
            return True  # another program has the port: nginx will say so
    return True
