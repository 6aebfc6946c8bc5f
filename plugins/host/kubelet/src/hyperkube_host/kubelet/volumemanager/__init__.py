"""The volumes of pods on this node. Source: kubernetes ``pkg/kubelet/volumemanager``."""
