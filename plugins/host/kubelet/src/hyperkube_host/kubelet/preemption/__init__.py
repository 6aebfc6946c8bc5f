"""Room for critical pods. Source: kubernetes ``pkg/kubelet/preemption``."""
