"""Files in which managers remember what they gave to whom. Source: kubernetes ``pkg/kubelet/checkpointmanager``."""
