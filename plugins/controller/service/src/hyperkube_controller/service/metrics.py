"""What the controller tells of balancers at ``/metrics``."""

from __future__ import annotations

from hyperkube_lib.controller_metrics import ControllerMetrics

from hyperkube.machinery.metric_families import Counter, Histogram, growing


class ServiceMetrics(ControllerMetrics):
    """How often balancers were told of other nodes, and with which success; thread-safe.

    Source: kubernetes ``cloud-provider/controllers/service/metrics.go``. There is no family on passes over all
    services, as there are none.
    """

    def __init__(self) -> None:
        prefix = "service_controller_"
        self._syncs = Counter(
            f"{prefix}loadbalancer_sync_total",
            "A metric counting the amount of times any load balancer has been configured, as an effect of "
            "service/node changes on the cluster",
        )
        self._errors = Counter(
            f"{prefix}nodesync_error_total",
            "A metric counting the amount of times any load balancer has been configured and errored, as an effect of "
            "node changes on the cluster",
        )
        self._latency = Histogram(
            f"{prefix}update_loadbalancer_host_latency_seconds",
            "A metric measuring the latency for updating each load balancer hosts.",
            growing(1, 2, 15),
        )
        super().__init__(self._syncs, self._errors, self._latency)

    def told(self, seconds: float) -> None:
        """Take how long it took to tell a balancer of other nodes, whether or not it was heard."""
        self.add(self._syncs)
        self.observe(self._latency, seconds)

    def failed(self) -> None:
        """Count a balancer that could not be told of other nodes."""
        self.add(self._errors)
