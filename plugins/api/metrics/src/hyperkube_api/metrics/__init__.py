"""API group metrics: NodeMetrics and PodMetrics."""
