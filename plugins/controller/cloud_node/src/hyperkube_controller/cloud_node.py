"""cloud-node: tells new nodes what the cloud knows of their machines, then lets pods onto them.

Kubelets of such clusters start with ``--cloud-provider=external``, which taints the node as uninitialized. From then on
addresses and the provider's own labels follow the cloud, which is asked every ``--node-status-update-frequency``.
Source: kubernetes ``staging/src/k8s.io/cloud-provider/controllers/node/node_controller.go``.
"""

from __future__ import annotations

from hyperkube_lib.cloud_provider import CloudProvider

from hyperkube.client.actions import Action, Emit, Patch, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import CloudFailed, InstanceMetadata, InstanceNotFound, Instances
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import NODES
from hyperkube.kinds.taints import CLOUD_UNINITIALIZED
from hyperkube.machinery.objects import Object, annotations_of, is_being_deleted, labels_of, metadata, name_of
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

PROVIDED_IPS = "alpha.kubernetes.io/provided-node-ip"
"""The annotation in which kubelets tell what they were given with ``--node-ip``."""


def is_uninitialized(node: Object) -> bool:
    """Tell whether the node waits for what the cloud knows."""
    return any(taint.get("key") == CLOUD_UNINITIALIZED for taint in (node.get("spec") or {}).get("taints") or [])


def addresses(node: Object, known: InstanceMetadata) -> list[Object]:
    """Return the rows of ``status.addresses``: the cloud's, with the host's name if the cloud does not know it.

    Of the types that the addresses given with the kubelet's ``--node-ip`` have, only these stay, and come first.

    Raises:
        CloudFailed: the machine has no address that the kubelet was given.
    """
    rows = [dict(row) for row in known.addresses]
    if rows and not any(row["type"] == "Hostname" for row in rows):
        rows += [dict(row) for row in _reported(node) if row["type"] == "Hostname"]
    given = annotations_of(node).get(PROVIDED_IPS, "")
    for ip in reversed(given.split(",") if given and rows else []):
        matching = [row for row in rows if row["address"] == ip]
        if not matching:
            raise CloudFailed(f"failed to get node address from cloud provider that matches ip: {ip}")
        families = {(row["type"], ":" in ip) for row in matching}
        rows = matching + [row for row in rows if (row["type"], ":" in row["address"]) not in families]
    return rows


def _reported(node: Object) -> list[Object]:
    return (node.get("status") or {}).get("addresses") or []


def refresh(node: Object, known: InstanceMetadata) -> list[Action]:
    """Return what brings an initialized node up to date; the labels that scheduling relies on stay as they are."""
    actions: list[Action] = []
    rows = addresses(node, known)
    if rows and rows != _reported(node):
        actions.append(Patch(NODES, name_of(node), {"status": {"addresses": rows}}, subresource="status"))
    changed = {key: value for key, value in known.labels.items() if labels_of(node).get(key) != value}
    if changed:
        actions.append(Patch(NODES, name_of(node), {"metadata": {"labels": changed}}))
    return actions


def initialize(node: Object, known: InstanceMetadata) -> list[Action]:
    """Return the addresses, then all else: the taint goes with the last write."""
    from hyperkube_lib.cloud_provider.nodes import machine_labels

    rows = addresses(node, known)
    spec = node.get("spec") or {}
    taints = [taint for taint in spec.get("taints") or [] if taint.get("key") != CLOUD_UNINITIALIZED]
    changed: Object = {"taints": taints}
    if not spec.get("providerID") and known.provider_id:
        changed["providerID"] = known.provider_id
    version = {"resourceVersion": metadata(node)["resourceVersion"]} if not rows else {}
    actions: list[Action] = []
    if rows:
        actions.append(Patch(NODES, name_of(node), {"status": {"addresses": rows}}, subresource="status"))
    return [
        *actions,
        Patch(NODES, name_of(node), {"metadata": {"labels": machine_labels(known), **version}, "spec": changed}),
        Emit(node, "Normal", "Synced", "Node synced successfully"),
    ]


class Settings(Record):
    """The cloud that nodes are in, seconds between two questions about a node, and how many nodes are asked at once."""

    cloud_provider: str = ""
    node_status_update_frequency: float = 300.0
    concurrent_node_syncs: int = 1


class CloudNode(Plugin):
    """Initializes nodes, and keeps them as the cloud has them."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop.

        Raises:
            PluginNotFound: the cloud provider is not installed.
        """
        settings = self.settings(Settings)
        self._period = settings.node_status_update_frequency
        self._due: dict[str, float] = {}
        self._recorder = EventRecorder(self.client, self.context.clock, "cloud-node-controller")
        loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=self.context.clock,
            logger=self.context.logger,
            workers=settings.concurrent_node_syncs,
        )
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
            self._due.pop(name, None)
            return None
        now = self.context.clock.monotonic()
        if is_uninitialized(node):
            perform(self.client, self._recorder, initialize(node, self._known(node)))
        elif (left := self._due.get(name, now) - now) > 0:
            return left
        else:
            perform(self.client, self._recorder, refresh(node, self._known(node)))
        self._due[name] = now + self._period
        return self._period

    def _known(self, node: Object) -> InstanceMetadata:
        try:
            return self._instances.metadata(node)
        except (InstanceNotFound, CloudFailed) as error:
            self.context.logger.warning("failed to get instance metadata for node %s: %s", name_of(node), error)
            raise NotYet(str(error)) from error
