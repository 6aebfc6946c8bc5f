"""The messages and services of CSI 1.x. Source: github.com/container-storage-interface/spec ``csi.proto``."""

from __future__ import annotations

from hyperkube_lib.grpc_messages import Schema, load_schema


def csi_schema() -> Schema:
    """Return CSI 1.x; read at the first call."""
    return load_schema(__package__, "csi.v1.proto")
