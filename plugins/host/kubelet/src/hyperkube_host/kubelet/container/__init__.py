"""A pod as the container runtime sees it. Source: kubernetes ``pkg/kubelet/container``."""
