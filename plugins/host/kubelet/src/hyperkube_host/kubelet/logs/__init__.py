"""Container logs: reading and rotating them.

Source: kubernetes ``pkg/kubelet/logs``, ``pkg/kubelet/kuberuntime/logs``.
"""
