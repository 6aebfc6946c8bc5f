"""Pod sources: the API, a folder of manifests, a URL. Source: kubernetes ``pkg/kubelet/config``."""
