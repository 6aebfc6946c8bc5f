"""API group settings: PodPresets, as they were served up to Kubernetes 1.19."""
