"""Pods are stopped before the node runs out of memory, disk or process ids.

Source: kubernetes ``pkg/kubelet/eviction``.
"""
