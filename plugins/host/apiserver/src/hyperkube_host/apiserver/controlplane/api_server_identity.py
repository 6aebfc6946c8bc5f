"""How an API server is found: every ten seconds it renews its Lease and its place behind the Service kubernetes.

Only servers with a socket do so; one within a test or a simulation is known to the program that made it. A server on
loopback has a Lease alone: pods cannot reach it there, and endpoints may not say so.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from functools import partial
from ipaddress import ip_address

from hyperkube_host.apiserver.controlplane.endpoint_reconciler import KubernetesEndpoints
from hyperkube_host.apiserver.controlplane.identity_lease import IdentityLease
from hyperkube_host.apiserver.controlplane.system_objects import HTTPS_PORT, own_address
from hyperkube_host.apiserver.options import Options

from hyperkube.client.client import Client
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.storage.store import Store

SECONDS = 10.0
"""Source: kubernetes ``pkg/controlplane/instance.go`` (IdentityLeaseRenewIntervalPeriod, the Service's interval)."""


def identity_of(options: Options, store: Store, root: str, client: Client, clock: Clock) -> ApiServerIdentity | None:
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
    return ApiServerIdentity(identity, endpoints, clock)


class ApiServerIdentity:
    """A thread that keeps the Lease, if there is one, and the endpoints."""

    def __init__(self, identity: IdentityLease | None, endpoints: KubernetesEndpoints | None, clock: Clock) -> None:
        self._identity = identity
        self._endpoints = endpoints
        self._clock = clock
        self._logger = logging.getLogger("hyperkube.apiserver")
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._tried = False

    def start(self) -> None:
        """Begin."""
        self._thread = threading.Thread(target=self._work, name="identity", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End: others need not wait until the endpoint runs out. The Lease stays. Idempotent."""
        if self._stop.is_set():
            return
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        if self._endpoints is not None and self._tried:  # else there is nothing to take back
            self._try(self._endpoints.leave)

    def begun(self) -> bool:
        """Tell whether it was tried once: a webhook that is down may refuse the Lease, and must not keep all out."""
        return self._tried

    def _work(self) -> None:
        first = True
        while not self._stop.is_set():
            self.renew(first=first)
            first = False
            self._clock.wait(self._stop, SECONDS)

    def renew(self, *, first: bool = False) -> None:
        """Renew both; what fails is tried again the next time."""
        if self._identity is not None:
            self._try(self._identity.renew)
            self._try(self._identity.collect)
        if self._endpoints is not None:
            self._try(partial(self._endpoints.reconcile, ports=first))
        self._tried = True

    def _try(self, act: Callable[[], None]) -> None:
        try:
            act()
        except HyperkubeError as error:
            self._logger.warning("the server could not make known whether it is there: %s", error)
