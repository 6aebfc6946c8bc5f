"""Trust anchors for projected volumes. Source: kubernetes ``pkg/kubelet/clustertrustbundle``."""
