"""nodeipam: gives each node a range of pod addresses out of ``--cluster-cidr``, with ``--allocate-node-cidrs``.

What nodes already have is the truth: nothing else is kept. Source: kubernetes
``pkg/controller/nodeipam/ipam/range_allocator.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from itertools import islice

from hyperkube.client.actions import Action, Emit, Patch, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import NODES
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object, is_being_deleted, metadata, name_of
from hyperkube.plugin import Plugin

Network = IPv4Network | IPv6Network
MASKS = {4: 24, 6: 64}
MOST = 1 << 16


def held(nodes: Iterable[Object]) -> set[Network]:
    """Return the ranges that nodes have."""
    return {ip_network(text, strict=False) for node in nodes for text in _ranges(node)}


def _ranges(node: Object) -> list[str]:
    spec = node.get("spec") or {}
    return list(spec.get("podCIDRs") or ([spec["podCIDR"]] if spec.get("podCIDR") else []))


def free(cluster: Network, mask: int, taken: set[Network]) -> Network | None:
    """Return the first range of the mask that overlaps none that is taken, or None."""
    parts: Iterator[Network] = cluster.subnets(new_prefix=mask)
    for candidate in islice(parts, MOST):
        if candidate not in taken and not any(_overlap(candidate, other) for other in taken):
            return candidate
    return None


def _overlap(one: Network, other: Network) -> bool:
    return one.version == other.version and one.overlaps(other)


def decide(node: Object, nodes: Iterable[Object], clusters: Sequence[tuple[Network, int]]) -> list[Action]:
    """Return the patch that gives the node its ranges, or the event that there are none left.

    Args:
        node: the node.
        nodes: all nodes.
        clusters: (range of the cluster, mask of a node's part), one or two.
    """
    if is_being_deleted(node) or _ranges(node):
        return []
    taken = held(nodes)
    found = [free(cluster, mask, taken) for cluster, mask in clusters]
    if None in found:
        text = f"Node {name_of(node)} status is now: CIDRNotAvailable"
        return [Emit(node, "Normal", "CIDRNotAvailable", text)]
    ranges = [str(each) for each in found]
    meta = {"resourceVersion": metadata(node)["resourceVersion"]}
    return [Patch(NODES, name_of(node), {"metadata": meta, "spec": {"podCIDR": ranges[0], "podCIDRs": ranges}})]


RANGE_ALLOCATOR = "RangeAllocator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Whether nodes get ranges, of which addresses, and how long their masks are; 0 for the usual length."""

    allocate_node_cidrs: bool = False
    cluster_cidr: str = ""
    node_cidr_mask_size: int = 0
    node_cidr_mask_size_ipv4: int = 0
    node_cidr_mask_size_ipv6: int = 0
    cidr_allocator_type: str = RANGE_ALLOCATOR


class Nodeipam(Plugin):
    """Gives ranges to nodes."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop; it has one worker, so that no range is given twice.

        Raises:
            UsageError: ranges are to be given and there are none, or masks that do not fit.
        """
        settings = self.settings(Settings)
        if settings.cidr_allocator_type != RANGE_ALLOCATOR:
            raise UsageError(f"--cidr-allocator-type={settings.cidr_allocator_type!r} is not {RANGE_ALLOCATOR!r}")
        self._recorder = EventRecorder(self.client, self.context.clock, "cidrAllocator")
        loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        if not settings.allocate_node_cidrs:
            return loop
        self._clusters = [self._cluster(text, settings) for text in settings.cluster_cidr.split(",")]
        self._given: dict[str, list[str]] = {}
        self._nodes = self.informers.informer(NODES)
        self._nodes.add_handler(loop.enqueue, loop.enqueue_update, self._gone)
        return loop

    def _gone(self, node: Object) -> None:
        self._given.pop(name_of(node), None)

    @staticmethod
    def _cluster(text: str, settings: Settings) -> tuple[Network, int]:
        if not text:
            raise UsageError("--cluster-cidr must be set when --allocate-node-cidrs is")
        cluster = ip_network(text, strict=False)
        special = {4: settings.node_cidr_mask_size_ipv4, 6: settings.node_cidr_mask_size_ipv6}[cluster.version]
        mask = special or settings.node_cidr_mask_size or MASKS[cluster.version]
        if not cluster.prefixlen <= mask <= cluster.max_prefixlen:
            raise UsageError(f"node mask /{mask} does not fit into --cluster-cidr {text!r}")
        return cluster, mask

    def _sync(self, name: str) -> None:
        node = self._nodes.get("", name)
        if node is None or self._given.get(name):
            return
        just_given = [{"spec": {"podCIDRs": ranges}} for ranges in self._given.values()]
        actions = decide(node, [*self._nodes.list(), *just_given], self._clusters)
        perform(self.client, self._recorder, actions)
        for action in actions:
            if isinstance(action, Patch):
                self._given[name] = action.patch["spec"]["podCIDRs"]
            else:
                raise NotYet(f"no range left for node {name!r}")
