"""The client certificate of the node. Source: kubernetes ``pkg/kubelet/certificate``."""
