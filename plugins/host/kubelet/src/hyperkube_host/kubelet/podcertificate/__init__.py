"""Certificates of pods for their projected volumes. Source: kubernetes ``pkg/kubelet/podcertificate``."""
