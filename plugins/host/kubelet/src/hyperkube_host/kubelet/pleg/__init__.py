"""The pod lifecycle event generator. Source: kubernetes ``pkg/kubelet/pleg``."""
