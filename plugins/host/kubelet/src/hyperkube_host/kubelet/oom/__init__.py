"""Processes that the kernel kills for want of memory. Source: kubernetes ``pkg/kubelet/oom``."""
