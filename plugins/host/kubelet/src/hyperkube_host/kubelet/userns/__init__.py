"""User namespaces of pods. Source: kubernetes ``pkg/kubelet/userns``."""
