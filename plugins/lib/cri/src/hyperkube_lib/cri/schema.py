"""The messages and services of CRI v1. Source: kubernetes ``staging/src/k8s.io/cri-api/pkg/apis/runtime/v1``."""

from __future__ import annotations

from hyperkube_lib.grpc_messages import Schema, load_schema

RUNTIME_SERVICE, IMAGE_SERVICE = "RuntimeService", "ImageService"


def cri_schema() -> Schema:
    """Return CRI v1; read at the first call."""
    return load_schema(__package__, "cri.runtime.v1.proto")
