"""Defaults of nodes.

Source: kubernetes pkg/apis/core/v1/defaults.go (SetDefaults_NodeStatus).
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object


def default_node(node: Object) -> None:
    """Allow all of the capacity to be allocated, unless the node says otherwise."""
    status = node.get("status") or {}
    if status.get("capacity") and not status.get("allocatable"):
        status["allocatable"] = dict(status["capacity"])
