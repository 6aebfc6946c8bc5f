"""The kubelet's HTTPS API: logs, exec, attach, port-forward, pods and statistics.

Source: kubernetes ``pkg/kubelet/server``.
"""
