"""cloud-node: tells new nodes what the cloud knows of their machines, then lets pods onto them.

Kubelets of such clusters start with ``--cloud-provider=external``, which taints the node as uninitialized.
Source: kubernetes ``staging/src/k8s.io/cloud-provider/controllers/node/node_controller.go``.
"""

from __future__ import annotations

from hyperkube_lib.cloud_provider import CloudProvider

from hyperkube.client.actions import Action, Emit, Patch, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import InstanceMetadata, InstanceNotFound, Instances
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import NODES
from hyperkube.kinds.taints import CLOUD_UNINITIALIZED
from hyperkube.machinery.objects import Object, is_being_deleted, metadata, name_of
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin


def is_uninitialized(node: Object) -> bool:
    """Tell whether the node waits for what the cloud knows."""
    return any(taint.get("key") == CLOUD_UNINITIALIZED for taint in (node.get("spec") or {}).get("taints") or [])


def labels(known: InstanceMetadata) -> dict[str, str]:
    """Return the labels that a machine gives its node, in both spellings."""
    pairs = {
        "beta.kubernetes.io/instance-type": known.instance_type,
        "node.kubernetes.io/instance-type": known.instance_type,
        "failure-domain.beta.kubernetes.io/zone": known.zone,
        "topology.kubernetes.io/zone": known.zone,
        "failure-domain.beta.kubernetes.io/region": known.region,
        "topology.kubernetes.io/region": known.region,
    }
    return {**known.labels, **{key: value for key, value in pairs.items() if value}}


def decide(node: Object, known: InstanceMetadata) -> list[Action]:
    """Return the addresses, then all else: the taint goes with the last write."""
    if not is_uninitialized(node):
        return []
    spec = node.get("spec") or {}
    taints = [taint for taint in spec.get("taints") or [] if taint.get("key") != CLOUD_UNINITIALIZED]
    changed: Object = {"taints": taints}
    if not spec.get("providerID") and known.provider_id:
        changed["providerID"] = known.provider_id
    version = {"resourceVersion": metadata(node)["resourceVersion"]} if not known.addresses else {}
    actions: list[Action] = []
    if known.addresses:
        status = {"status": {"addresses": [dict(row) for row in known.addresses]}}
        actions.append(Patch(NODES, name_of(node), status, subresource="status"))
    return [
        *actions,
        Patch(NODES, name_of(node), {"metadata": {"labels": labels(known), **version}, "spec": changed}),
        Emit(node, "Normal", "Synced", "Node synced successfully"),
    ]


class Settings(Record):
    """The cloud that nodes are in."""

    cloud_provider: str = ""


class CloudNode(Plugin):
    """Initializes nodes."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop.

        Raises:
            PluginNotFound: the cloud provider is not installed.
        """
        self._recorder = EventRecorder(self.client, self.context.clock, "cloud-node-controller")
        loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        self._provider = CloudProvider(self.context)
        cloud = self._provider.build(self.settings(Settings).cloud_provider)
        if cloud is None or cloud.instances is None:
            return loop
        self._instances: Instances = cloud.instances
        self._nodes = self.informers.informer(NODES)
        self._nodes.add_handler(loop.enqueue, loop.enqueue_update)
        return loop

    def close(self) -> None:
        """Close the cloud provider."""
        self._provider.close()

    def _sync(self, name: str) -> None:
        node = self._nodes.get("", name)
        if node is None or is_being_deleted(node) or not is_uninitialized(node):
            return
        try:
            known = self._instances.metadata(node)
        except InstanceNotFound as error:
            raise NotYet(f"failed to initialize node {name}: {error}") from error
        perform(self.client, self._recorder, decide(node, known))
