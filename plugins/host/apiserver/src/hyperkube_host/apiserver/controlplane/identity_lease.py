"""The Leases by which API servers know of each other: in kube-system, labelled ``apiserver.kubernetes.io/identity``.

Each server renews its own, named after its host, and once an hour deletes those that ran out.

Source: kubernetes ``pkg/controlplane/apiserver/server.go`` (the identity lease and its garbage collector),
``pkg/controlplane/controller/apiserverleasegc``, apiserver ``pkg/server/config.go`` (the name), component-helpers
``apimachinery/lease/controller.go`` (no reading before a renewal).
"""

from __future__ import annotations

import base64
import hashlib
import socket
from contextlib import suppress
from datetime import timedelta
from random import Random

from hyperkube.client.client import Client
from hyperkube.kinds.resources import LEASES
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import Conflict, NotFound
from hyperkube.machinery.objects import Object, copy_object, name_of
from hyperkube.machinery.random import unique_id
from hyperkube.machinery.times import format_micro_time, parse_micro_time

NAMESPACE = "kube-system"
LABEL, LABEL_VALUE = "apiserver.kubernetes.io/identity", "kube-apiserver"
DURATION_SECONDS, COLLECT_SECONDS = 3600, 3600.0


def server_id(hostname: str) -> str:
    """Return the name of a host's API server among the others."""
    digest = hashlib.sha256(hostname.encode()).digest()[:16]
    return "apiserver-" + base64.b32encode(digest).decode().rstrip("=").lower()


def own_server_id() -> str:
    """Return the name of this host's API server."""
    return server_id(socket.gethostname())


class IdentityLease:
    """Keeps one server's Lease, and throws away those of servers that are gone.

    Args:
        client: the API, as the server itself sees it.
        clock: the cluster's.
        hostname: this machine's unless given.
    """

    def __init__(self, client: Client, clock: Clock, hostname: str = "") -> None:
        self._client = client
        self._clock = clock
        self._hostname = hostname or socket.gethostname()
        self.name = server_id(self._hostname)
        self._holder = f"{self.name}_{unique_id(Random())}"  # noqa: S311 -- tells runs apart, nothing more
        self._collected = float("-inf")
        self._latest: Object | None = None

    def renew(self) -> None:
        """Write down that the server lives.

        Raises:
            ApiError: the store does not take it.
        """
        now = format_micro_time(self._clock.now())
        spec = {"holderIdentity": self._holder, "leaseDurationSeconds": DURATION_SECONDS, "renewTime": now}
        if self._latest is not None:  # another client hardly ever updates it
            latest, self._latest = self._latest, None
            with suppress(Conflict, NotFound):
                self._latest = self._updated(latest, spec)
                return
        try:
            self._latest = self._updated(self._client.get(LEASES, self.name, NAMESPACE), spec)
        except NotFound:
            self._latest = self._client.create(LEASES, self._new(spec), NAMESPACE)

    def _updated(self, lease: Object, spec: Object) -> Object:
        """Return the Lease as it was written with these members of its specification.

        Raises:
            ApiError: it was not; `Conflict` and `NotFound` where it is no longer as given.
        """
        return self._client.update(LEASES, {**copy_object(lease), "spec": {**(lease.get("spec") or {}), **spec}})

    def _new(self, spec: Object) -> Object:
        labels = {LABEL: LABEL_VALUE, "kubernetes.io/hostname": self._hostname}
        meta = {"name": self.name, "namespace": NAMESPACE, "labels": labels}
        return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta, "spec": spec}

    def collect(self) -> None:
        """Delete the Leases of servers that are gone, once an hour.

        Raises:
            ApiError: the store does not answer.
        """
        if self._clock.monotonic() - self._collected < COLLECT_SECONDS:
            return
        self._collected = self._clock.monotonic()
        for lease in self._client.list(LEASES, NAMESPACE, label_selector=f"{LABEL}={LABEL_VALUE}").items:
            if self._has_run_out(lease):
                try:
                    self._client.delete(LEASES, name_of(lease), NAMESPACE)
                except NotFound:
                    continue

    def _has_run_out(self, lease: Object) -> bool:
        spec = lease.get("spec") or {}
        if not spec.get("renewTime") or not spec.get("leaseDurationSeconds"):
            return True
        end = parse_micro_time(spec["renewTime"]) + timedelta(seconds=spec["leaseDurationSeconds"])
        return bool(end < self._clock.now())
