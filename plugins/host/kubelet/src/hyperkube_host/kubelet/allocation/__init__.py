"""What the node granted each pod, and its change while the pod runs. Source: kubernetes ``pkg/kubelet/allocation``."""
