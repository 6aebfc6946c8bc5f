"""RangeAllocator: the cluster gives its nodes ranges, and nobody else is asked.

What nodes have is the truth; beside it only what is on its way to them is kept. Ranges are given in turn, so that one
that became free is not another node's at once, while peers may still know it.
Source: kubernetes ``pkg/controller/nodeipam/ipam/range_allocator.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import ip_network

from hyperkube_controller.nodeipam.cidr_set import CidrSet
from hyperkube_controller.nodeipam.nodes import ranges_of

from hyperkube.client.actions import Emit, Patch, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.kinds.resources import NODES
from hyperkube.machinery.errors import ApiError, Conflict, NotFound
from hyperkube.machinery.objects import Object, is_being_deleted, metadata, name_of
from hyperkube.plugin import Plugin


class RangeAllocator:
    """Gives each node a part of each set."""

    def __init__(self, plugin: Plugin, sets: Sequence[CidrSet], taken: Iterable[str]) -> None:
        """Take the sets of the cluster, and the ranges in them that no node may have."""
        context = plugin.context
        self._client, self._sets = plugin.client, sets
        self._recorder = EventRecorder(plugin.client, context.clock, "cidrAllocator")
        self.loop = ReconcileLoop(context.name, self._sync, clock=context.clock, logger=context.logger)
        self._occupy(taken)
        self._known = False
        self._held: dict[str, list[str]] = {}
        self._nodes = plugin.informers.informer(NODES)
        self.loop.watch(self._nodes)

    def _occupy(self, ranges: Iterable[str]) -> None:
        for text in ranges:
            for each in self._sets:
                each.occupy(ip_network(text, strict=False))

    def _release(self, ranges: Iterable[str]) -> None:
        for text in ranges:
            for each in self._sets:
                each.release(ip_network(text, strict=False))

    def _sync(self, name: str) -> None:
        if not self._known:
            # All before the first is given: a range that a node already has must not be given to another one.
            self._known = True
            for each in self._nodes.list():
                self._hold(name_of(each), ranges_of(each))
        node = self._nodes.get("", name)
        if node is None:
            self._release(self._held.pop(name, ()))
        elif ranges_of(node):
            self._hold(name, ranges_of(node))
        elif not is_being_deleted(node):
            self._give(name, node)

    def _hold(self, name: str, ranges: list[str]) -> None:
        """Note what a node has; what was meant for it instead is free again."""
        if ranges and self._held.get(name) != ranges:
            self._release(self._held.get(name, ()))
            self._held[name] = ranges
            self._occupy(ranges)

    def _give(self, name: str, node: Object) -> None:
        """Give a node a range of each family; a write that failed or is not seen yet is repeated with the same."""
        if name not in self._held:
            found = [each.allocate_next() for each in self._sets]
            ranges = [str(each) for each in found if each is not None]
            if len(ranges) < len(found):
                self._release(ranges)
                text = f"Node {name} status is now: CIDRNotAvailable"
                perform(self._client, self._recorder, [Emit(node, "Normal", "CIDRNotAvailable", text)])
                raise NotYet(f"no range left for node {name!r}")
            self._held[name] = ranges
        ranges = self._held[name]
        meta = {"resourceVersion": metadata(node)["resourceVersion"]}
        patch = {"metadata": meta, "spec": {"podCIDR": ranges[0], "podCIDRs": ranges}}
        try:
            perform(self._client, None, [Patch(NODES, name, patch)])
        except (Conflict, NotFound):
            raise  # a newer one is on its way, or it is gone
        except ApiError:
            text = f"Node {name} status is now: CIDRAssignmentFailed"
            perform(self._client, self._recorder, [Emit(node, "Normal", "CIDRAssignmentFailed", text)])
            raise
