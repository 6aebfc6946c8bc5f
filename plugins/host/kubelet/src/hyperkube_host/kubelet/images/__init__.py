"""Images on the node: pull policy, back-off, registry credentials. Source: kubernetes ``pkg/kubelet/images``."""
