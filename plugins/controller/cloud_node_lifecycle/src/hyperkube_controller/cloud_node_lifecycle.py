"""cloud-node-lifecycle: deletes the nodes whose machines are gone from the cloud, and taints those that are off.

The cloud is asked only for nodes that are not ready, one question a period each: while all are ready, never. What the
cloud cannot answer changes nothing.
Source: kubernetes ``staging/src/k8s.io/cloud-provider/controllers/nodelifecycle/node_lifecycle_controller.go``.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import Enum, auto

from hyperkube_lib.cloud_provider import CloudProvider

from hyperkube.client.actions import Action, Delete, Emit, Patch, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import Instances
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.pods import is_ready
from hyperkube.kinds.resources import NODES
from hyperkube.kinds.taints import CLOUD_UNINITIALIZED, NO_SCHEDULE, with_taint, without_taint
from hyperkube.machinery.errors import ApiError, HyperkubeError
from hyperkube.machinery.objects import Object, is_being_deleted, metadata, name_of
from hyperkube.machinery.record import Record
from hyperkube.machinery.times import parse_time
from hyperkube.plugin import Plugin

SHUTDOWN: Object = {"key": "node.cloudprovider.kubernetes.io/shutdown", "effect": NO_SCHEDULE}
INITIALIZATION = timedelta(minutes=1)
"""How long a new node may be unknown to the cloud."""


class Machine(Enum):
    """What the cloud says of a node's machine."""

    RUNNING = auto()
    OFF = auto()
    GONE = auto()


def is_initializing(node: Object, now: datetime) -> bool:
    """Tell whether the cloud may not know the node yet."""
    spec = node.get("spec") or {}
    waits = any(taint.get("key") == CLOUD_UNINITIALIZED for taint in spec.get("taints") or [])
    return (
        not spec.get("providerID") and waits and now - parse_time(metadata(node)["creationTimestamp"]) < INITIALIZATION
    )


def decide(node: Object, machine: Machine) -> list[Action]:
    """Return what follows from the state of a node's machine."""
    name = name_of(node)
    if machine is Machine.GONE:
        text = f"Deleting node {name} because it does not exist in the cloud provider"
        return [Emit(node, "Normal", "DeletingNode", text), Delete.of(NODES, node)]
    taints = (node.get("spec") or {}).get("taints") or []
    wanted = with_taint(taints, SHUTDOWN) if machine is Machine.OFF else without_taint(taints, SHUTDOWN)
    if wanted == taints or (machine is Machine.RUNNING and not is_ready(node)):
        return []
    version = {"resourceVersion": metadata(node)["resourceVersion"]}
    return [Patch(NODES, name, {"metadata": version, "spec": {"taints": wanted}})]


class Settings(Record):
    """The cloud that nodes are in, and the seconds between two questions about a node."""

    cloud_provider: str = ""
    node_monitor_period: float = 5.0


class CloudNodeLifecycle(Plugin):
    """Follows the machines of nodes that are not ready."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop.

        Raises:
            PluginNotFound: the cloud provider is not installed.
        """
        settings = self.settings(Settings)
        self._period = settings.node_monitor_period
        self._recorder = EventRecorder(self.client, self.context.clock, "cloud-node-lifecycle-controller")
        loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        self._provider = CloudProvider(self.context)
        cloud = self._provider.build(settings.cloud_provider)
        if cloud is None or cloud.instances is None:
            return loop
        self._instances: Instances = cloud.instances
        self._nodes = self.informers.informer(NODES)
        self._nodes.add_handler(loop.enqueue, loop.enqueue_update)
        return loop

    def close(self) -> None:
        """Close the cloud provider."""
        self._provider.close()

    def _sync(self, name: str) -> float | None:
        node = self._nodes.get("", name)
        if node is None or is_being_deleted(node):
            return None
        if is_ready(node):
            perform(self.client, self._recorder, decide(node, Machine.RUNNING))
            return None
        if not is_initializing(node, self.context.clock.now()):
            perform(self.client, self._recorder, decide(node, self._machine(node)))
        return self._period

    def _machine(self, node: Object) -> Machine:
        try:
            if not self._instances.exists(node):
                return Machine.GONE
            return Machine.OFF if self._instances.is_shut_down(node) else Machine.RUNNING
        except ApiError:
            raise
        except HyperkubeError as error:
            self.context.logger.warning("error checking if node %s exists: %s", name_of(node), error)
            raise NotYet(str(error)) from error
