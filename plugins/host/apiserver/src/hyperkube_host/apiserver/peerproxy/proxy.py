"""Passes requests on to the server that serves the resource.

Source: kubernetes apiserver ``pkg/util/peerproxy/peerproxy_handler.go``, controlplane ``apiserver/peer.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from pathlib import Path
from random import Random

from hyperkube_host.apiserver.aggregation.fetch import fetch
from hyperkube_host.apiserver.aggregation.route import identity_headers, target_of
from hyperkube_host.apiserver.controlplane.identity_lease import own_server_id
from hyperkube_host.apiserver.controlplane.system_objects import HTTPS_PORT, own_address
from hyperkube_host.apiserver.options import Options
from hyperkube_host.apiserver.peerproxy.endpoint_leases import PeerEndpointLeases
from hyperkube_host.apiserver.peerproxy.peer_discovery import ACCEPT, NotLocated, PeerDiscovery
from hyperkube_host.apiserver.peerproxy.peer_metrics import PeerMetrics
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_lib.serving.exchange import Answer, RelayUpgrade

from hyperkube.client.client import Client
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ServiceUnavailable, UsageError
from hyperkube.machinery.record import Record
from hyperkube.machinery.users import UserInfo
from hyperkube.storage.store import Store

GATE = "UnknownVersionInteroperabilityProxy"
PROXIED = "x-kubernetes-peer-proxied"
"""A header of requests that come from another API server: they are answered whatever this one serves."""
SERVER_NAME = "kubernetes.default.svc"
"""What the certificate of every API server is for."""
_SELF = UserInfo("system:apiserver", "system:apiserver", ("system:authenticated",))


class PeerCredentials(Record):
    """How peers are trusted, and how this server proves to them that it may name users."""

    ca_file: str
    certificate_file: str
    key_file: str


class PeerProxy:
    """The other servers of the cluster: where they are, what they serve, and the way there."""

    def __init__(
        self,
        credentials: PeerCredentials,
        endpoints: PeerEndpointLeases,
        is_served: Callable[[str, str, str], bool],
        client: Client,
        clock: Clock,
        logger: logging.Logger,
        *,
        address: str,
        port: int,
    ) -> None:
        """Know of no others yet.

        Args:
            credentials: of the requests to them.
            endpoints: where servers are.
            is_served: tells whether this server answers for a resource, given its group, version and name.
            client: the API, as the server itself sees it.
            clock: the cluster's.
            logger: of failures.
            address: where others reach this server, empty where they do not.
            port: its HTTPS port.
        """
        self._credentials = credentials
        self._endpoints = endpoints
        self._is_served = is_served
        self._clock = clock
        self._address = address, port
        self._name = own_server_id()
        self._random = Random()  # noqa: S311  -- any of them does
        self.metrics = PeerMetrics()
        self.discovery = PeerDiscovery(self._name, client, self._ask, self.metrics, logger)

    def update(self) -> None:
        """Say where this server is reached, and learn of the others.

        Raises:
            ApiError, StoreError: the store does not answer.
        """
        if self._address[0]:
            self._endpoints.renew(self._name, *self._address)
        self.discovery.update()

    def leave(self) -> None:
        """Say that this server is not reached any more.

        Raises:
            StoreError: the store does not answer.
        """
        if self._address[0]:
            self._endpoints.remove(self._name)

    def answer(self, request: ApiRequest) -> Answer | None:
        """Return the way to a server that serves the resource; None when this one does, or none.

        Raises:
            ServiceUnavailable: none of those that serve it says where it is.
        """
        info = request.info
        if not self.discovery or request.inside or not info.is_resource or request.headers.get(PROXIED) == "true":
            return None
        resource = info.group, info.version, info.resource
        if self._is_served(*resource):
            return None
        names = self.discovery.serving(resource)
        if not names:
            return None
        places = [place for place in map(self._endpoints.find, names) if place is not None]
        if not places:
            self.metrics.not_located(resource)
            raise ServiceUnavailable("Error getting ip and port info of the remote server while proxying")
        counted = partial(self.metrics.rerouted, resource=resource)
        return self._relay(self._random.choice(places), target_of(request), request.user, counted)

    def _relay(
        self, place: tuple[str, int], path: str, user: UserInfo, counted: Callable[[int], None] | None = None
    ) -> RelayUpgrade:
        return RelayUpgrade(
            host=place[0],
            port=place[1],
            path=path,
            ca_file=self._credentials.ca_file,
            server_name=SERVER_NAME,
            certificate_file=self._credentials.certificate_file,
            key_file=self._credentials.key_file,
            headers=[*identity_headers(user), (PROXIED, "true")],
            withheld=("x-remote-",),
            counted=counted,
        )

    def _ask(self, name: str, path: str) -> bytes:
        place = self._endpoints.find(name)
        if place is None:
            raise NotLocated("it has not said where it is reached")
        answer = fetch(self._relay(place, path, _SELF), self._clock, headers={"Accept": ACCEPT})
        if answer.status != HTTPStatus.OK:
            raise OSError(f"discovery request failed with status: {answer.status}")
        return answer.body


def peer_proxy_of(
    options: Options,
    store: Store,
    root: str,
    is_served: Callable[[str, str, str], bool],
    client: Client,
    clock: Clock,
    logger: logging.Logger,
) -> PeerProxy | None:
    """Return the proxy to the other servers, None without ``--peer-ca-file`` or the feature gate.

    Raises:
        UsageError: a file or an address is missing.
    """
    ca_file = str(options.values.get("peer-ca-file") or "")
    if not ca_file or not options.is_announced or not options.gates.get(GATE, True):
        return None
    given = options.aggregation
    if not given.proxy_client_cert_file:
        raise UsageError("error building peer proxy handler, proxy-cert-file not specified")
    if not given.proxy_client_key_file:
        raise UsageError("error building peer proxy handler, proxy-key-file not specified")
    if not Path(ca_file).is_file():
        raise UsageError(f"--peer-ca-file: open {ca_file}: no such file or directory")
    address = str(options.values.get("peer-advertise-ip") or "") or own_address(options.address)
    port = str(options.values.get("peer-advertise-port") or "")
    if port and not port.isdecimal():
        raise UsageError(f"--peer-advertise-port: {port!r} is no port")
    return PeerProxy(
        PeerCredentials(
            ca_file=ca_file, certificate_file=given.proxy_client_cert_file, key_file=given.proxy_client_key_file
        ),
        PeerEndpointLeases(store, root),
        is_served,
        client,
        clock,
        logger,
        address=address,
        port=int(port) if port else options.address.secure_port or HTTPS_PORT,
    )
