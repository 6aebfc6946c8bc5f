"""API group apps: Deployments, StatefulSets, DaemonSets and ReplicaSets."""
