"""The statuses of pods, computed and written to the API. Source: kubernetes ``pkg/kubelet/status``."""
