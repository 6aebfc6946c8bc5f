"""What the kubelet's metrics endpoints tell. Source: kubernetes ``pkg/kubelet/metrics``."""
