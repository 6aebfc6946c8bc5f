"""The schemas of the types that every API group shares."""

from __future__ import annotations

from hyperkube.machinery.schema import CompiledSchema, compile_schema

META_GROUP = "meta.k8s.io"
META_MODULE = "hyperkube_api.meta.v1"
"""Where the schemas of the types that every group shares are found; named as text, like every schema."""


def meta_schema(kind: str) -> CompiledSchema:
    """Return the compiled schema of a type that all groups share."""
    return compile_schema(f"{META_MODULE}:{kind}")
