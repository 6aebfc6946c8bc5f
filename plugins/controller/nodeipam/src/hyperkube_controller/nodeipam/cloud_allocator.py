"""CloudAllocator: nodes have the ranges that the cloud has given to their machines.

Source: kubernetes 1.30 ``pkg/controller/nodeipam/ipam/cloud_cidr_allocator.go``.
"""

from __future__ import annotations

from hyperkube_controller.nodeipam.nodes import (
    has_network,
    provider_id_missing,
    write_network_available,
    write_ranges,
)

from hyperkube.client.actions import Emit, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.hookspecs.cloud import CloudFailed, InstanceNotFound, PodRanges
from hyperkube.kinds.resources import NODES
from hyperkube.machinery.objects import is_being_deleted
from hyperkube.plugin import Plugin

MOST_RANGES = 2


class CloudAllocator:
    """Writes to each node what its machine has."""

    def __init__(self, plugin: Plugin, cloud: PodRanges) -> None:
        context = plugin.context
        self._client, self._clock, self._cloud = plugin.client, context.clock, cloud
        self._recorder = EventRecorder(plugin.client, context.clock, "cidrAllocator")
        self.loop = ReconcileLoop(context.name, self._sync, clock=context.clock, logger=context.logger)
        self._nodes = plugin.informers.informer(NODES)
        self._nodes.add_handler(self.loop.enqueue, self.loop.enqueue_update)

    def _sync(self, name: str) -> None:
        """Write a node's ranges, and that its network is there: the cloud's own routes lead to them."""
        node = self._nodes.get("", name)
        if node is None or is_being_deleted(node) or has_network(node):
            return
        if why := provider_id_missing(node):
            raise NotYet(why)
        try:
            found = list(self._cloud.pod_ranges(node))[:MOST_RANGES]
        except (CloudFailed, InstanceNotFound) as error:
            found, why = [], f"failed to get cidr(s) from provider: {error}"
        else:
            why = f"failed to allocate cidr: Node {name} has no CIDRs"
        if not found:
            text = f"Node {name} status is now: CIDRNotAvailable"
            perform(self._client, self._recorder, [Emit(node, "Normal", "CIDRNotAvailable", text)])
            raise NotYet(why)
        write_ranges(self._client, node, found)
        write_network_available(self._client, self._clock, node, "NodeController create implicit route")
