"""What happens to one pod, from its admission to its end. Source: kubernetes ``pkg/kubelet/pod_workers.go``."""
