"""What the controller tells of nodes and zones at ``/metrics``.

Source of names, labels and meanings: kubernetes ``pkg/controller/nodelifecycle/metrics.go``. There is no family on
passes over all nodes, as there are none.
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperkube_lib.controller_metrics import ControllerMetrics

from hyperkube.machinery.metric_families import Counter, Gauge, Histogram, growing

PREFIX = "node_collector_"


class NodeMetrics(ControllerMetrics):
    """The zones as they are now, and how many nodes were emptied; thread-safe."""

    def __init__(self) -> None:
        zone = ("zone",)
        self._health = Gauge(f"{PREFIX}zone_health", "Gauge measuring percentage of healthy nodes per zone.", zone)
        self._size = Gauge(f"{PREFIX}zone_size", "Gauge measuring number of registered Nodes per zones.", zone)
        self._unhealthy = Gauge(
            f"{PREFIX}unhealthy_nodes_in_zone", "Gauge measuring number of not Ready Nodes per zones.", zone
        )
        self._evictions = Counter(
            f"{PREFIX}evictions_total",
            "Number of Node evictions that happened since current instance of NodeController started.",
            zone,
        )
        self._duration = Histogram(
            f"{PREFIX}update_node_health_duration_seconds",
            "Duration in seconds for NodeController to update the health of a single node.",
            growing(0.001, 4, 8),
        )
        super().__init__(self._health, self._size, self._unhealthy, self._evictions, self._duration)

    def counted(self, sizes: Mapping[str, tuple[int, int]]) -> None:
        """Take for each zone how many nodes it has, and how many of them are ready."""
        with self._lock:
            for zone, (size, ready) in sizes.items():
                self._size.rows[(zone,)] = size
                self._health.rows[(zone,)] = 100 * ready / size if size else 100
                self._unhealthy.rows[(zone,)] = size - ready
                self._evictions.rows.setdefault((zone,), 0)

    def emptied(self, zone: str) -> None:
        """Count a node that was given a taint which evicts its pods."""
        self.add(self._evictions, (zone,))

    def looked(self, seconds: float) -> None:
        """Take how long a look at one node took."""
        self.observe(self._duration, seconds)
