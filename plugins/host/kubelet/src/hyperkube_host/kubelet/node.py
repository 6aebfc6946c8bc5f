"""The node's life in the API: registration, status, lease, and the events that tell of changes.

Sources: kubernetes ``pkg/kubelet/kubelet_node_status.go`` and component-helpers ``apimachinery/lease/controller.go``.
"""

from __future__ import annotations

import logging
import threading

from hyperkube_host.kubelet.node_status import NodeStatus, first_node, without_heartbeats
from hyperkube_host.kubelet.options import KubeletOptions
from hyperkube_host.kubelet.sayings import Sayings

from hyperkube.client.client import Client
from hyperkube.kinds.conditions import condition
from hyperkube.kinds.resources import LEASES, NODES
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import AlreadyExists, ApiError, Conflict, NotFound
from hyperkube.machinery.objects import Object, copy_object, labels_of
from hyperkube.machinery.times import format_micro_time

LEASE_NAMESPACE = "kube-node-lease"
_PHRASES = {
    ("MemoryPressure", "False"): "NodeHasSufficientMemory",
    ("MemoryPressure", "True"): "NodeHasInsufficientMemory",
    ("DiskPressure", "False"): "NodeHasNoDiskPressure",
    ("DiskPressure", "True"): "NodeHasDiskPressure",
    ("PIDPressure", "False"): "NodeHasSufficientPID",
    ("PIDPressure", "True"): "NodeHasInsufficientPID",
    ("Ready", "True"): "NodeReady",
    ("Ready", "False"): "NodeNotReady",
}


class NodeLife:
    """Registers the node and keeps its status and lease fresh; `work` is called over and over."""

    def __init__(
        self, client: Client | None, options: KubeletOptions, clock: Clock, say: Sayings, status: NodeStatus
    ) -> None:
        self._client = client
        self._options = options
        self._clock = clock
        self._say = say
        self._status = status
        self._logger = logging.getLogger("hyperkube.kubelet")
        self._lock = threading.Lock()
        self._node: Object = {**first_node(options), "status": status.compute({}, clock.now())}
        self._registered = False
        self._reported_at = 0.0
        self._lease: Object | None = None

    def node(self) -> Object:
        """Return the node as last seen; shared, not to be changed."""
        return self._node

    @property
    def is_registered(self) -> bool:
        """Whether the API knows the node, or need not."""
        return self._registered or self._client is None

    def work(self) -> float:
        """Register, report or renew what is due; return the seconds until there is something to do again.

        Raises:
            ApiError: the API server refuses; try again later.
            ConnectionError: it cannot be reached.
        """
        if self._client is None:
            return self._options.status_update_seconds
        if not self._registered:
            self._register(self._client)
        self._report(self._client)
        self._renew(self._client)
        return min(self._options.status_update_seconds, self._options.lease_seconds / 4)

    def _register(self, client: Client) -> None:
        if not self._options.register_node:
            self._node = client.get(NODES, self._options.node_name)
            self._registered = True
            return
        wanted = first_node(self._options)
        wanted["status"] = self._status.compute({}, self._clock.now())
        try:
            self._node = client.create(NODES, wanted)
        except AlreadyExists:
            self._node = self._take_up(client, wanted)
        self._registered = True
        self._say.node("Normal", "Starting", "Starting kubelet.")

    def _take_up(self, client: Client, wanted: Object) -> Object:
        """Use the Node that is there already, with our labels put right."""
        found = client.get(NODES, self._options.node_name)
        labels = {
            key: value for key, value in wanted["metadata"]["labels"].items() if labels_of(found).get(key) != value
        }
        if labels:
            found = client.patch(NODES, self._options.node_name, {"metadata": {"labels": labels}})
        return found

    def _report(self, client: Client) -> None:
        now = self._clock.now()
        fresh = client.get(NODES, self._options.node_name)
        self._tell_schedulable(self._node, fresh)
        self._node = fresh
        old = fresh.get("status") or {}
        status = self._status.compute(old, now)
        due = self._clock.monotonic() - self._reported_at >= self._options.status_report_seconds
        if without_heartbeats(status) == without_heartbeats(old) and not due and self._reported_at:
            return
        self._node = client.patch(NODES, self._options.node_name, {"status": status}, subresource="status")
        self._reported_at = self._clock.monotonic() or 1e-9
        self._tell_conditions(old, status)

    def _tell_schedulable(self, old: Object, new: Object) -> None:
        cordoned = bool(new["spec"].get("unschedulable"))
        if cordoned != bool(old["spec"].get("unschedulable")):
            phrase = "NodeNotSchedulable" if cordoned else "NodeSchedulable"
            self._say.node("Normal", phrase, f"Node {self._options.node_name} status is now: {phrase}")

    def _tell_conditions(self, old: Object, new: Object) -> None:
        for entry in new.get("conditions") or []:
            previous = condition(old, entry["type"])
            phrase = _PHRASES.get((entry["type"], entry["status"]))
            if phrase and (previous is None or previous["status"] != entry["status"]):
                self._say.node("Normal", phrase, f"Node {self._options.node_name} status is now: {phrase}")

    def _renew(self, client: Client) -> None:
        now = format_micro_time(self._clock.now())
        name = self._options.node_name
        if self._lease is not None:
            lease = copy_object(self._lease)
            lease["spec"]["renewTime"] = now
            try:
                self._lease = client.update(LEASES, lease, LEASE_NAMESPACE)
            except (Conflict, NotFound):
                self._lease = None
            else:
                return
        try:
            found = client.get(LEASES, name, LEASE_NAMESPACE)
        except NotFound:
            self._lease = client.create(LEASES, self._first_lease(now), LEASE_NAMESPACE)
            return
        spec = {"holderIdentity": name, "leaseDurationSeconds": self._options.lease_seconds, "renewTime": now}
        self._lease = client.update(LEASES, {**found, "spec": {**(found.get("spec") or {}), **spec}}, LEASE_NAMESPACE)

    def _first_lease(self, now: str) -> Object:
        name = self._options.node_name
        owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": self._node["metadata"].get("uid", "")}
        return {
            "kind": "Lease",
            "apiVersion": "coordination.k8s.io/v1",
            "metadata": {"name": name, "namespace": LEASE_NAMESPACE, "ownerReferences": [owner]},
            "spec": {"holderIdentity": name, "leaseDurationSeconds": self._options.lease_seconds, "renewTime": now},
        }

    def try_work(self) -> float:
        """Do `work`, taking a refusal as a reason to try again in a moment."""
        try:
            return self.work()
        except (ApiError, ConnectionError) as error:
            if isinstance(error, NotFound):
                self._registered = False  # somebody deleted the Node: come back
            level = logging.DEBUG if self._registered else logging.WARNING
            self._logger.log(level, "node %s: %s", self._options.node_name, error)
            return 1.0 if not self._registered else 5.0
