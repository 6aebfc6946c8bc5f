"""Liveness, readiness and startup probes. Source: kubernetes ``pkg/kubelet/prober``."""
