"""What the node, its pods and their files use.

Source: kubernetes ``pkg/kubelet/stats``.
"""
