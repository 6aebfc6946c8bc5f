"""The pods that the node should run, and the mirrors of the static ones. Source: kubernetes ``pkg/kubelet/pod``."""
