"""From a pod's spec to sandboxes and containers of the runtime. Source: kubernetes ``pkg/kubelet/kuberuntime``."""
