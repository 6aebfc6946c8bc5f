"""Admission of pods by the node, and the lifecycle hooks of containers.

Source: kubernetes ``pkg/kubelet/lifecycle``.
"""
