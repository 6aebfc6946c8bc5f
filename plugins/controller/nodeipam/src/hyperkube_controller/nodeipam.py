"""nodeipam: gives each node a range of pod addresses out of ``--cluster-cidr``, with ``--allocate-node-cidrs``.

What nodes have is the truth; beside it only what is on its way to them is kept. Ranges are given in turn, so that one
that became free is not another node's at once, while peers may still know it.
Source: kubernetes ``pkg/controller/nodeipam/ipam/range_allocator.go``, ``cidrset/cidr_set.go``, ``cidrset/metrics.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network

from hyperkube_lib.controller_metrics import ControllerMetrics

from hyperkube.client.actions import Emit, Patch, perform
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import CloudFailed, InstanceNotFound, PodRanges
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.conditions import condition, with_condition
from hyperkube.kinds.resources import NODES
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, Conflict, NotFound, UsageError
from hyperkube.machinery.metric_families import Counter, Gauge, Histogram, growing
from hyperkube.machinery.objects import Object, is_being_deleted, metadata, name_of
from hyperkube.plugin import Plugin

Network = IPv4Network | IPv6Network
NETWORK_UNAVAILABLE = "NetworkUnavailable"
MASKS = {4: 24, 6: 64}
MAX_IPV6_MASK_DIFFERENCE = 16
RANGE_ALLOCATOR, CLOUD_ALLOCATOR = "RangeAllocator", "CloudAllocator"
MOST_RANGES = 2


def ranges_of(node: Object) -> list[str]:
    """Return the ranges that a node has."""
    spec = node.get("spec") or {}
    return list(spec.get("podCIDRs") or ([spec["podCIDR"]] if spec.get("podCIDR") else []))


def _has_network(node: Object) -> bool:
    """Tell whether a node has ranges, and its network is said to be there."""
    found = condition(node.get("status") or {}, NETWORK_UNAVAILABLE)
    return bool(ranges_of(node)) and found is not None and found["status"] == "False"


class CidrMetrics:
    """What became of the parts of each range of the cluster, in upstream's names (one is misspelt there)."""

    def __init__(self) -> None:
        labels = ("clusterCIDR",)
        prefix = "node_ipam_controller"
        self.allocations = Counter(
            f"{prefix}_cidrset_cidrs_allocations_total", "Counter measuring total number of CIDR allocations.", labels
        )
        self.releases = Counter(
            f"{prefix}_cidrset_cidrs_releases_total", "Counter measuring total number of CIDR releases.", labels
        )
        self.most = Gauge(f"{prefix}_cirdset_max_cidrs", "Maximum number of CIDRs that can be allocated.", labels)
        self.usage = Gauge(f"{prefix}_cidrset_usage_cidrs", "Gauge measuring percentage of allocated CIDRs.", labels)
        self.tries = Histogram(
            f"{prefix}_cidrset_allocation_tries_per_request",
            "Number of endpoints added on each Service sync",
            growing(1, 5, 5),
            labels,
        )
        self.all = ControllerMetrics(self.allocations, self.releases, self.most, self.usage, self.tries)


class CidrSet:
    """The parts of one range of the cluster, and which of them are taken; thread-safe."""

    def __init__(self, cluster: Network, mask: int, metrics: CidrMetrics | None = None) -> None:
        self.cluster = cluster
        self._metrics = metrics or CidrMetrics()
        self._label = (str(cluster),)
        self._mask = mask
        self._shift = cluster.max_prefixlen - mask
        self._count = 1 << (mask - cluster.prefixlen)
        self._taken: set[int] = set()
        self._next = 0
        self._lock = threading.Lock()
        self._metrics.all.set(self._metrics.most, self._count, self._label)

    def occupy(self, network: Network) -> None:
        """Take all parts that a range overlaps; one outside is no concern of this set."""
        with self._lock:
            before = len(self._taken)
            self._taken.update(self._parts(network))
            self._count_changes(before)

    def release(self, network: Network) -> None:
        """Give back all parts that a range overlaps."""
        with self._lock:
            before = len(self._taken)
            self._taken.difference_update(self._parts(network))
            self._count_changes(before)

    def allocate_next(self) -> Network | None:
        """Take the next free part after the one that was given last; None if there is none."""
        with self._lock:
            for step in range(self._count):
                index = (self._next + step) % self._count
                if index not in self._taken:
                    before = len(self._taken)
                    self._taken.add(index)
                    self._next = (index + 1) % self._count
                    self._count_changes(before)
                    self._metrics.all.observe(self._metrics.tries, step, self._label)
                    return self._part(index)
        return None

    def _count_changes(self, before: int) -> None:
        metrics = self._metrics.all
        metrics.add(self._metrics.allocations, self._label, len(self._taken) - before)
        metrics.add(self._metrics.releases, self._label, before - len(self._taken))
        metrics.set(self._metrics.usage, len(self._taken) / self._count, self._label)

    def _part(self, index: int) -> Network:
        first = int(self.cluster.network_address) + (index << self._shift)
        return type(self.cluster)((first, self._mask))

    def _parts(self, network: Network) -> range:
        if network.version != self.cluster.version:
            return range(0)
        base = int(self.cluster.network_address)
        first = (int(network.network_address) - base) >> self._shift
        last = (int(network.broadcast_address) - base) >> self._shift
        return range(max(first, 0), min(last, self._count - 1) + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Whether nodes get ranges, of which addresses, and how long their masks are (0: the usual length)."""

    allocate_node_cidrs: bool = False
    cidr_allocator_type: str = RANGE_ALLOCATOR
    cloud_provider: str = ""
    cluster_cidr: str = ""
    service_cluster_ip_range: str = ""
    node_cidr_mask_size: int = 0
    node_cidr_mask_size_ipv4: int = 0
    node_cidr_mask_size_ipv6: int = 0


class Nodeipam(Plugin):
    """Gives ranges to nodes."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop; it has one worker.

        Raises:
            UsageError: ranges are to be given and there are none, or masks that do not fit; or by another allocator.
        """
        settings = self.settings(Settings)
        self._recorder = EventRecorder(self.client, self.context.clock, "cidrAllocator")
        self._loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        if not settings.allocate_node_cidrs:
            return self._loop
        if settings.cidr_allocator_type == CLOUD_ALLOCATOR:
            return self._follow_cloud(settings.cloud_provider)
        if settings.cidr_allocator_type != RANGE_ALLOCATOR:
            wrong, known = settings.cidr_allocator_type, f"{RANGE_ALLOCATOR}, {CLOUD_ALLOCATOR}"
            raise UsageError(f"--cidr-allocator-type: invalid CIDR allocator type: {wrong!r} (there are {known})")
        metrics = CidrMetrics()
        metrics.all.register(self.context)
        self._sets = _cidr_sets(settings, metrics)
        self._occupy(text for text in settings.service_cluster_ip_range.split(",") if text)
        self._known = False
        self._held: dict[str, list[str]] = {}
        self._nodes = self.informers.informer(NODES)
        self._nodes.add_handler(self._loop.enqueue, self._loop.enqueue_update, self._loop.enqueue)
        return self._loop

    # CloudAllocator

    def _follow_cloud(self, name: str) -> Controller:
        """Build the loop that writes what the cloud has given to each machine.

        Source: kubernetes 1.30 ``pkg/controller/nodeipam/ipam/cloud_cidr_allocator.go``.

        Raises:
            UsageError: the cloud gives machines no ranges.
        """
        from hyperkube_lib.cloud_provider import CloudProvider

        self._provider = CloudProvider(self.context)
        cloud = self._provider.build(name)
        instances: object = cloud.instances if cloud is not None else None
        if not isinstance(instances, PodRanges):
            raise UsageError(f"--cidr-allocator-type: {CLOUD_ALLOCATOR} does not support cloud provider {name!r}")
        self._cloud = instances
        loop = ReconcileLoop(
            self.context.name, self._sync_with_cloud, clock=self.context.clock, logger=self.context.logger
        )
        self._nodes = self.informers.informer(NODES)
        self._nodes.add_handler(loop.enqueue, loop.enqueue_update)
        return loop

    def close(self) -> None:
        """Close the cloud provider."""
        if "_provider" in vars(self):
            self._provider.close()

    def _sync_with_cloud(self, name: str) -> None:
        """Write a node's ranges, and that its network is there: the cloud's own routes lead to them."""
        node = self._nodes.get("", name)
        if node is None or is_being_deleted(node) or _has_network(node):
            return
        if not (node.get("spec") or {}).get("providerID"):
            raise NotYet(f"node {name} doesn't have providerID")
        try:
            found = list(self._cloud.pod_ranges(node))[:MOST_RANGES]
        except (CloudFailed, InstanceNotFound) as error:
            found, why = [], f"failed to get cidr(s) from provider: {error}"
        else:
            why = f"failed to allocate cidr: Node {name} has no CIDRs"
        if not found:
            text = f"Node {name} status is now: CIDRNotAvailable"
            perform(self.client, self._recorder, [Emit(node, "Normal", "CIDRNotAvailable", text)])
            raise NotYet(why)
        if ranges_of(node) != found:
            perform(self.client, None, [Patch(NODES, name, {"spec": {"podCIDR": found[0], "podCIDRs": found}})])
        there = {
            "type": NETWORK_UNAVAILABLE,
            "status": "False",
            "reason": "RouteCreated",
            "message": "NodeController create implicit route",
        }
        conditions = with_condition((node.get("status") or {}).get("conditions") or (), there, self.context.clock.now())
        perform(self.client, None, [Patch(NODES, name, {"status": {"conditions": conditions}}, subresource="status")])

    # RangeAllocator

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
                perform(self.client, self._recorder, [Emit(node, "Normal", "CIDRNotAvailable", text)])
                raise NotYet(f"no range left for node {name!r}")
            self._held[name] = ranges
        ranges = self._held[name]
        meta = {"resourceVersion": metadata(node)["resourceVersion"]}
        patch = {"metadata": meta, "spec": {"podCIDR": ranges[0], "podCIDRs": ranges}}
        try:
            perform(self.client, None, [Patch(NODES, name, patch)])
        except (Conflict, NotFound):
            raise  # a newer one is on its way, or it is gone
        except ApiError:
            text = f"Node {name} status is now: CIDRAssignmentFailed"
            perform(self.client, self._recorder, [Emit(node, "Normal", "CIDRAssignmentFailed", text)])
            raise


def _cidr_sets(settings: Settings, metrics: CidrMetrics) -> list[CidrSet]:
    """Return the ranges of the cluster, one of each family.

    Raises:
        UsageError: there is none, there are too many, or the masks of their parts do not fit.
    """
    texts = settings.cluster_cidr.split(",")
    if not settings.cluster_cidr:
        raise UsageError("--cluster-cidr must be set when --allocate-node-cidrs is")
    clusters = [ip_network(text, strict=False) for text in texts]
    if len(clusters) > len({each.version for each in clusters}):
        raise UsageError(f"--cluster-cidr: expected one range, or two of different families, not {texts!r}")
    masks = _masks(settings, [each.version for each in clusters])
    return [_cidr_set(each, masks[each.version], metrics) for each in clusters]


def _masks(settings: Settings, families: Sequence[int]) -> Mapping[int, int]:
    """Return the length of the masks by family.

    Source: kubernetes ``cmd/kube-controller-manager/app/core.go`` (setNodeCIDRMaskSizes).
    """
    both = settings.node_cidr_mask_size
    special = {4: settings.node_cidr_mask_size_ipv4, 6: settings.node_cidr_mask_size_ipv6}
    if both and len(families) > 1:
        raise UsageError("usage of --node-cidr-mask-size is not allowed with dual-stack clusters")
    if both and any(special.values()):
        raise UsageError(
            "usage of --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6 is not allowed if --node-cidr-mask-size"
            " is set. For dual-stack clusters please unset it and use IPFamily specific flags"
        )
    for family, mask in special.items():
        if mask and family not in families:
            (only,) = families
            flag = f"--node-cidr-mask-size-ipv{family}"
            raise UsageError(f"usage of {flag} is not allowed for a single-stack IPv{only} cluster")
    return {family: both or special[family] or MASKS[family] for family in families}


def _cidr_set(cluster: Network, mask: int, metrics: CidrMetrics) -> CidrSet:
    if not cluster.prefixlen <= mask <= cluster.max_prefixlen:
        raise UsageError(f"node mask /{mask} does not fit into --cluster-cidr {str(cluster)!r}")
    if cluster.version == 6 and mask - cluster.prefixlen > MAX_IPV6_MASK_DIFFERENCE:
        most = cluster.prefixlen + MAX_IPV6_MASK_DIFFERENCE
        raise UsageError(f"node mask /{mask} makes too many parts of --cluster-cidr {str(cluster)!r}: at most /{most}")
    return CidrSet(cluster, mask, metrics)
