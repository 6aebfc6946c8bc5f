"""IPAMFromCluster and IPAMFromCloud: a node and its machine have one range; one gives it, and the other is told.

From the cluster: nodes get parts of ``--cluster-cidr`` and their machines are told. From the cloud: nodes get what
their machines have. What only the other side may give, or what differs, is told by an event and left to people. Each
node is looked at when it changes, and every 30 seconds, since nothing tells when a machine changes.
Source: kubernetes 1.30 ``pkg/controller/nodeipam/ipam``: ``controller_legacyprovider.go``, ``adapter.go``,
``timeout.go``, ``sync/sync.go``.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from ipaddress import ip_network
from typing import Final

from hyperkube_controller.nodeipam.cidr_set import CidrSet, Network
from hyperkube_controller.nodeipam.nodes import (
    has_network,
    provider_id_missing,
    ranges_of,
    write_network_available,
    write_ranges,
)

from hyperkube.client.actions import Emit, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.hookspecs.cloud import AddsPodRanges, CloudFailed, InstanceNotFound, PodRanges
from hyperkube.kinds.resources import NODES
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object, is_being_deleted, name_of
from hyperkube.plugin import Plugin

RESYNC: Final = 30.0
"""Seconds after which a node that is in order is looked at again."""
BACKOFF: Final = Backoff(initial=0.25, cap=10.0)
INVALID_MODE: Final = "CloudCIDRAllocatorInvalidMode"
MISMATCH: Final = "CloudCIDRAllocatorMismatch"
ROUTED: Final = "NodeController created an implicit route"


class Mode(Enum):
    """Which side gives ranges, in the words of upstream's events."""

    FROM_CLOUD = "SyncFromCloud"
    FROM_CLUSTER = "SyncFromCluster"


class CloudSync:
    """Keeps nodes and machines in step."""

    def __init__(
        self, plugin: Plugin, mode: Mode, parts: CidrSet, taken: Iterable[str], cloud: PodRanges | AddsPodRanges
    ) -> None:
        """Take the cluster's range, the ranges in it that no node may have, and who knows the machines.

        Raises:
            UsageError: nothing is left of the cluster's range.
        """
        context = plugin.context
        self._client, self._clock = plugin.client, context.clock
        self._mode, self._parts, self._cloud = mode, parts, cloud
        self._recorder = EventRecorder(plugin.client, context.clock, "cloudCIDRAllocator")
        self._known = False
        self._held: dict[str, Network] = {}
        for text in taken:
            parts.occupy(ip_network(text, strict=False))
        if parts.is_full:
            raise UsageError("failed after occupy serviceCIDR: there are no remaining CIDRs left to allocate")
        self.loop = ReconcileLoop(context.name, self._sync, clock=context.clock, logger=context.logger, backoff=BACKOFF)
        self._nodes = plugin.informers.informer(NODES)
        self.loop.watch(self._nodes)

    def _sync(self, name: str) -> float | None:
        self._learn()
        node = self._nodes.get("", name)
        if node is None:
            held = self._held.pop(name, None)
            if held is not None:
                self._parts.release(held)
            return None
        if is_being_deleted(node):
            return None
        if why := provider_id_missing(node):
            raise NotYet(why)
        own = next(iter(ranges_of(node)), "")
        try:
            alias = next(iter(self._cloud.pod_ranges(node)), "")
            if own and alias:
                self._compare(node, own, alias)
            elif alias:
                self._from_cloud(node, alias)
            else:
                self._to_cloud(node, own)
        except (CloudFailed, InstanceNotFound) as error:
            raise NotYet(f"failed to sync node {name} with its machine: {error}") from error
        return RESYNC

    def _learn(self) -> None:
        """Take what nodes have, before the first is given a range: none is given twice."""
        if self._known:
            return
        self._known = True
        for node in self._nodes.list():
            for text in ranges_of(node)[:1]:
                self._hold(name_of(node), ip_network(text, strict=False))

    def _compare(self, node: Object, own: str, alias: str) -> None:
        self._hold(name_of(node), ip_network(own, strict=False))
        if ip_network(own, strict=False) != ip_network(alias, strict=False):
            self._tell(node, MISMATCH, f"Node.Spec.PodCIDR != cloud alias ({own} != {alias})")
        else:
            self._finish(node)

    def _from_cloud(self, node: Object, alias: str) -> None:
        found = ip_network(alias, strict=False)
        is_unfinished = self._held.get(name_of(node)) == found  # given to the machine here, and not yet to the node
        if self._mode is not Mode.FROM_CLOUD and not is_unfinished:
            self._refuse(node, "Cannot sync from cloud")
        self._check(found)
        self._hold(name_of(node), found)
        write_ranges(self._client, node, [str(found)])
        self._finish(node)

    def _to_cloud(self, node: Object, own: str) -> None:
        """Give a machine the range of its node, or both one that is free."""
        name = name_of(node)
        if not isinstance(self._cloud, AddsPodRanges) or self._mode is not Mode.FROM_CLUSTER:
            self._refuse(node, "Cannot sync to cloud" if own else "Cannot allocate CIDRs")
        elif own:
            given = ip_network(own, strict=False)
            self._check(given)
            self._hold(name, given)
            self._cloud.add_pod_range(node, own)
        else:
            free = self._held.get(name) or self._parts.allocate_next()
            if free is None:
                self._tell(node, "CIDRNotAvailable", f"Node {name} status is now: CIDRNotAvailable")
                raise NotYet(f"no range left for node {name!r}")
            self._held[name] = free
            self._cloud.add_pod_range(node, str(free))
            write_ranges(self._client, node, [str(free)])
        self._finish(node)

    def _finish(self, node: Object) -> None:
        if not has_network(node):
            write_network_available(self._client, self._clock, node, ROUTED)

    def _check(self, network: Network) -> None:
        if network.version != self._parts.cluster.version or not network.overlaps(self._parts.cluster):
            raise NotYet(f"cidr {network} is out the range of cluster cidr {self._parts.cluster}")

    def _hold(self, name: str, network: Network) -> None:
        """Note what a node has; what was meant for it instead is free again."""
        held = self._held.get(name)
        if held == network:
            return
        if held is not None:
            self._parts.release(held)
        self._held[name] = network
        self._parts.occupy(network)

    def _refuse(self, node: Object, what: str) -> None:
        """Tell that this mode does not do it.

        Raises:
            NotYet: always; it is looked at again.
        """
        text = f'{what} in mode "{self._mode.value}"'
        self._tell(node, INVALID_MODE, text)
        raise NotYet(text)

    def _tell(self, node: Object, reason: str, text: str) -> None:
        perform(self._client, self._recorder, [Emit(node, "Normal", reason, text)])
