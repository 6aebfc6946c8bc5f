"""Dynamic resources: claims that drivers prepare on the node. Source: kubernetes ``pkg/kubelet/cm/dra``."""
