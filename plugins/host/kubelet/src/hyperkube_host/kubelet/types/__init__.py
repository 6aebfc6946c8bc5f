"""What every room of the kubelet shares about pods: labels, annotations, parts of the spec and the status.

Source: kubernetes ``pkg/kubelet/types``.
"""
