"""Defaults of FlowSchemas; in place and idempotent.

Source: kubernetes pkg/apis/flowcontrol/v1/defaults.go.
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object


def default_flow_schema(schema: Object) -> None:
    """Fill in the precedence of a flow schema."""
    if not schema["spec"].get("matchingPrecedence"):
        schema["spec"]["matchingPrecedence"] = 1000
