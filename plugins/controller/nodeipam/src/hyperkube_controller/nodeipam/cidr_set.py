"""The parts of a range of the cluster: which are taken, and what became of them as metrics.

Source: kubernetes ``pkg/controller/nodeipam/ipam/cidrset/cidr_set.go``, ``cidrset/metrics.go``.
"""

from __future__ import annotations

import threading
from ipaddress import IPv4Network, IPv6Network

from hyperkube_lib.controller_metrics import ControllerMetrics

from hyperkube.machinery.metric_families import Counter, Gauge, Histogram, growing

Network = IPv4Network | IPv6Network


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

    @property
    def is_full(self) -> bool:
        """Whether all parts are taken."""
        with self._lock:
            return len(self._taken) == self._count

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
