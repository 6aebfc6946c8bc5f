"""The Node object: registration, status and lease. Source: kubernetes ``pkg/kubelet/{nodestatus,nodelease}``."""
