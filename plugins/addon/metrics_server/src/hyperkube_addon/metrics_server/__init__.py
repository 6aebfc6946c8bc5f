"""metrics-server: serves metrics.k8s.io, what nodes and pods use, for ``kubectl top`` and the horizontal autoscaler."""

from hyperkube_addon.metrics_server.addon import MetricsServer

__all__ = ["MetricsServer"]
