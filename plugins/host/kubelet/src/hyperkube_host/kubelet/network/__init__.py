"""The network settings of pods. Source: kubernetes ``pkg/kubelet/network``."""
