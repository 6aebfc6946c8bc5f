"""How an API server is found: every ten seconds it renews its Lease and its place behind the Service kubernetes.

Only servers with a socket do so; one within a test or a simulation is known to the program that made it. A server on
loopback has a Lease alone: pods cannot reach it there, and endpoints may not say so.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Protocol

from hyperkube_host.apiserver.controlplane.endpoint_reconciler import KubernetesEndpoints
from hyperkube_host.apiserver.controlplane.identity_lease import IdentityLease
from hyperkube_host.apiserver.controlplane.system_objects import HTTPS_PORT, own_address
from hyperkube_host.apiserver.options import Options
from hyperkube_host.apiserver.resources.registry import Registry

from hyperkube.client.client import Client
from hyperkube.client.worker_pool import WorkerPool
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.storage.store import Store

if TYPE_CHECKING:
    from hyperkube_host.apiserver.controlplane.storage_versions import StorageVersions

STORAGE_VERSIONS_GATE = "StorageVersionAPI"
_BOTH = "lease and endpoints"
SECONDS = 10.0
"""Source: kubernetes ``pkg/controlplane/instance.go`` (IdentityLeaseRenewIntervalPeriod, the Service's interval)."""


class Peers(Protocol):
    """The other servers of the cluster, to whom this one makes itself known."""

    def update(self) -> None:
        """Say where this server is reached, and learn of the others; raises `HyperkubeError`."""

    def leave(self) -> None:
        """Say that it is not reached any more; raises `HyperkubeError`."""


def identity_of(
    options: Options,
    store: Store,
    root: str,
    client: Client,
    clock: Clock,
    registry: Registry | None = None,
    peers: Peers | None = None,
) -> ApiServerIdentity | None:
    """Return how a server with these flags keeps itself known, None for one that does not."""
    if not options.is_announced:
        return None
    identity = IdentityLease(client, clock) if options.gates.get("APIServerIdentity", True) else None
    kind, address = options.control_plane.endpoint_reconciler_type, own_address(options.address)
    endpoints: KubernetesEndpoints | None = None
    if kind != "none" and address and not ip_address(address).is_loopback:
        count = options.control_plane.apiserver_count if kind == "master-count" else 0
        port = options.address.secure_port or HTTPS_PORT
        endpoints = KubernetesEndpoints(store, root, client, address=address, port=port, count=count)
    versions: StorageVersions | None = None
    if registry is not None and identity is not None and options.gates.get(STORAGE_VERSIONS_GATE):
        from hyperkube_host.apiserver.controlplane.storage_versions import StorageVersions

        versions = StorageVersions(registry, client, clock, identity.name)
    return ApiServerIdentity(identity, endpoints, clock, versions, peers)


class ApiServerIdentity:
    """Keeps the Lease, if there is one, the endpoints, and what it says of how it stores things."""

    def __init__(
        self,
        identity: IdentityLease | None,
        endpoints: KubernetesEndpoints | None,
        clock: Clock,
        versions: StorageVersions | None = None,
        peers: Peers | None = None,
    ) -> None:
        self._peers = peers
        self._versions = versions
        self._identity = identity
        self._endpoints = endpoints
        self._logger = logging.getLogger("hyperkube.apiserver")
        self._pool = WorkerPool("identity", self._work, clock=clock, workers=1, logger=self._logger)
        self._closed = False
        self._tried = False

    def start(self) -> None:
        """Begin."""
        self._pool.queue.add(_BOTH)
        self._pool.begin()

    def close(self) -> None:
        """End: others need not wait until the endpoint runs out. The Lease stays. Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._pool.stop()
        self._pool.wait_ended()
        if self._endpoints is not None and self._tried:  # else there is nothing to take back
            self._try(self._endpoints.leave)
        if self._peers is not None and self._tried:
            self._try(self._peers.leave)

    def begun(self) -> bool:
        """Tell whether it was tried once: a webhook that is down may refuse the Lease, and must not keep all out."""
        return self._tried

    def _work(self, key: str) -> None:
        self.renew(first=not self._tried)
        self._pool.queue.add_after(key, SECONDS)

    def renew(self, *, first: bool = False) -> None:
        """Renew both; what fails is tried again the next time."""
        if self._identity is not None:
            self._try(self._identity.renew)
            self._try(self._identity.collect)
        if self._endpoints is not None:
            self._try(partial(self._endpoints.reconcile, ports=first))
        if self._versions is not None:
            self._try(self._versions.update)
        if self._peers is not None:
            self._try(self._peers.update)
        self._tried = True

    def _try(self, act: Callable[[], None]) -> None:
        try:
            act()
        except HyperkubeError as error:
            self._logger.warning("the server could not make known whether it is there: %s", error)
