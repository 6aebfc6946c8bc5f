"""The node's lease, whose renewals tell that the kubelet is alive.

Source: kubernetes component-helpers ``apimachinery/lease/controller.go``.
"""

from __future__ import annotations

from hyperkube.client.client import Client
from hyperkube.kinds.resources import LEASES
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import Conflict, NotFound
from hyperkube.machinery.objects import Object, copy_object, uid_of
from hyperkube.machinery.times import format_micro_time

LEASE_NAMESPACE = "kube-node-lease"


class NodeLease:
    """Creates and renews the lease of one node."""

    def __init__(self, node_name: str, duration_seconds: int, clock: Clock) -> None:
        self._name = node_name
        self._duration_seconds = duration_seconds
        self._clock = clock
        self._lease: Object | None = None

    def renew(self, client: Client, node: Object) -> None:
        """Renew the lease, or create it; `node` becomes its owner.

        Raises:
            ApiError: the API server refuses; try again later.
            ConnectionError: it cannot be reached.
        """
        now = format_micro_time(self._clock.now())
        if self._lease is not None and self._update_known(client, self._lease, now):
            return
        spec = {"holderIdentity": self._name, "leaseDurationSeconds": self._duration_seconds, "renewTime": now}
        try:
            found = client.get(LEASES, self._name, LEASE_NAMESPACE)
        except NotFound:
            self._lease = client.create(LEASES, self._initial(spec, node), LEASE_NAMESPACE)
            return
        self._lease = client.update(LEASES, {**found, "spec": {**(found.get("spec") or {}), **spec}}, LEASE_NAMESPACE)

    def _update_known(self, client: Client, known: Object, now: str) -> bool:
        """Renew the lease as it was last written, which saves reading it; tell whether that version was still valid."""
        lease = copy_object(known)
        lease["spec"]["renewTime"] = now
        try:
            self._lease = client.update(LEASES, lease, LEASE_NAMESPACE)
        except (Conflict, NotFound):
            self._lease = None
            return False
        return True

    def _initial(self, spec: Object, node: Object) -> Object:
        owner = {"apiVersion": "v1", "kind": "Node", "name": self._name, "uid": uid_of(node)}
        return {
            "kind": "Lease",
            "apiVersion": "coordination.k8s.io/v1",
            "metadata": {"name": self._name, "namespace": LEASE_NAMESPACE, "ownerReferences": [owner]},
            "spec": spec,
        }
