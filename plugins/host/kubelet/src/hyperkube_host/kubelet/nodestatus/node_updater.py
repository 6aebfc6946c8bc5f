"""The node in the API: registration, status and lease, and the events about its changes.

Source: kubernetes ``pkg/kubelet/kubelet_node_status.go`` (registerWithAPIServer, syncNodeStatus).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.nodestatus.initial_node import initial_node
from hyperkube_host.kubelet.nodestatus.lease import NodeLease
from hyperkube_host.kubelet.nodestatus.setters import NodeStatus, without_heartbeats
from hyperkube_host.kubelet.options import NodeOptions

from hyperkube.client.client import Client
from hyperkube.hookspecs.cloud import CloudFailed
from hyperkube.kinds.conditions import condition
from hyperkube.kinds.resources import NODES
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import AlreadyExists, ApiError, NotFound
from hyperkube.machinery.objects import Object, labels_of
from hyperkube.machinery.times import format_time

if TYPE_CHECKING:
    from hyperkube_host.kubelet.cloudresource.cloud_request_manager import CloudRequestManager

RETRY_SECONDS = 5.0
RETRY_REGISTRATION_SECONDS = 1.0
_EVENT_REASONS = {
    ("MemoryPressure", "False"): "NodeHasSufficientMemory",
    ("MemoryPressure", "True"): "NodeHasInsufficientMemory",
    ("DiskPressure", "False"): "NodeHasNoDiskPressure",
    ("DiskPressure", "True"): "NodeHasDiskPressure",
    ("PIDPressure", "False"): "NodeHasSufficientPID",
    ("PIDPressure", "True"): "NodeHasInsufficientPID",
    ("Ready", "True"): "NodeReady",
    ("Ready", "False"): "NodeNotReady",
}
"""(condition, status) → the reason of the event when the condition changes to it."""


class NodeUpdater:
    """Registers the node and keeps its status and lease up to date; `sync` is called again and again."""

    def __init__(
        self,
        client: Client | None,
        options: NodeOptions,
        clock: Clock,
        recorder: KubeletEventRecorder,
        status: NodeStatus,
        cloud: CloudRequestManager | None = None,
    ) -> None:
        """Take what the node tells; with a `cloud` of its own it registers once that has answered."""
        self._cloud = cloud
        self._client = client
        self._options = options
        self._clock = clock
        self._recorder = recorder
        self._status = status
        self._logger = logging.getLogger("hyperkube.kubelet")
        self._node: Object = {**initial_node(options), "status": status.compute({}, clock.now())}
        self._registered = False
        self._reported_at: float | None = None
        self._lease = NodeLease(options.name, options.lease_seconds, clock)

    def start(self) -> None:
        """Begin to ask the cloud."""
        if self._cloud is not None:
            self._cloud.start()

    def close(self) -> None:
        """Ask it no more."""
        if self._cloud is not None:
            self._cloud.close()

    def node(self) -> Object:
        """Return the node as last seen; shared, not to be changed."""
        return self._node

    @property
    def is_registered(self) -> bool:
        """Whether the node is in the API, or the kubelet stands alone."""
        return self._registered or self._client is None

    def sync(self) -> float:
        """Register the node, write its status and renew its lease as due; return the seconds until the next call.

        Raises:
            ApiError: the API server refuses; try again later.
            ConnectionError: it cannot be reached.
            CloudFailed: the node is not registered: its cloud has not said what it is.
        """
        if self._client is None:
            return self._options.status_update_seconds
        if not self._registered:
            self._register(self._client)
        self._report(self._client)
        self._lease.renew(self._client, self._node)
        return min(self._options.status_update_seconds, self._options.lease_seconds / 4)

    def _register(self, client: Client) -> None:
        if not self._options.register:
            self._node = client.get(NODES, self._options.name)
            self._registered = True
            return
        wanted = initial_node(self._options, self._cloud.known() if self._cloud is not None else None)
        wanted["status"] = self._status.compute({}, self._clock.now())
        if self._cloud is not None and self._cloud.needs_routes:
            wanted["status"]["conditions"].insert(0, self._without_route())
        try:
            self._node = client.create(NODES, wanted)
        except AlreadyExists:
            self._node = self._adopt(client, wanted)
        self._registered = True
        self._recorder.node_event("Normal", "Starting", "Starting kubelet.")
        self._record_conditions({}, wanted["status"])

    def _without_route(self) -> Object:
        why = {"reason": "NoRouteCreated", "message": "Node created without a route"}
        changed = {"lastTransitionTime": format_time(self._clock.now())}
        return {"type": "NetworkUnavailable", "status": "True", **why, **changed}

    def _adopt(self, client: Client, wanted: Object) -> Object:
        """Use the Node that exists already, with the labels of this kubelet."""
        found = client.get(NODES, self._options.name)
        labels = {
            key: value for key, value in wanted["metadata"]["labels"].items() if labels_of(found).get(key) != value
        }
        if labels:
            found = client.patch(NODES, self._options.name, {"metadata": {"labels": labels}})
        return found

    def _report(self, client: Client) -> None:
        now = self._clock.now()
        fresh = client.get(NODES, self._options.name)
        self._record_schedulable(self._node, fresh)
        self._node = fresh
        old = fresh.get("status") or {}
        status = self._status.compute(old, now)
        if without_heartbeats(status) == without_heartbeats(old) and not self._is_report_due():
            return
        self._node = client.patch(NODES, self._options.name, {"status": status}, subresource="status")
        self._reported_at = self._clock.monotonic()
        self._record_reboot(old, status)
        self._record_conditions(old, status)

    def _is_report_due(self) -> bool:
        """Tell whether even an unchanged status is to be written."""
        if self._reported_at is None:
            return True
        return self._clock.monotonic() - self._reported_at >= self._options.status_report_seconds

    def _record_schedulable(self, old: Object, new: Object) -> None:
        cordoned = bool(new["spec"].get("unschedulable"))
        if cordoned != bool(old["spec"].get("unschedulable")):
            reason = "NodeNotSchedulable" if cordoned else "NodeSchedulable"
            self._recorder.node_event("Normal", reason, f"Node {self._options.name} status is now: {reason}")

    def _record_reboot(self, old: Object, new: Object) -> None:
        before, now = ((status.get("nodeInfo") or {}).get("bootID", "") for status in (old, new))
        if before and before != now:
            text = f"Node {self._options.name} has been rebooted, boot id: {now}"
            self._recorder.node_event("Warning", "Rebooted", text)

    def _record_conditions(self, old: Object, new: Object) -> None:
        """Record what has changed; of a new node the absence of pressure, but not that it is ready (setters.go)."""
        for entry in new.get("conditions") or []:
            previous = condition(old, entry["type"])
            reason = _EVENT_REASONS.get((entry["type"], entry["status"]))
            changed = entry["type"] != "Ready" if previous is None else previous["status"] != entry["status"]
            if reason and changed:
                self._recorder.node_event("Normal", reason, f"Node {self._options.name} status is now: {reason}")

    def try_sync(self) -> float:
        """Call `sync`; after a refusal return the seconds until the next attempt."""
        try:
            return self.sync()
        except (ApiError, ConnectionError, CloudFailed) as error:
            if isinstance(error, NotFound):
                self._registered = False  # the Node was deleted: register again
            level = logging.DEBUG if self._registered else logging.WARNING
            self._logger.log(level, "node %s: %s", self._options.name, error)
            return RETRY_SECONDS if self._registered else RETRY_REGISTRATION_SECONDS
