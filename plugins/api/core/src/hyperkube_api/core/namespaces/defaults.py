"""Defaults of namespaces.

Source: kubernetes pkg/apis/core/v1/defaults.go (SetDefaults_Namespace, SetDefaults_NamespaceStatus).
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object

NAMESPACE_NAME_LABEL = "kubernetes.io/metadata.name"


def default_namespace(namespace: Object) -> None:
    """Label a namespace with its own name; one without a phase is active."""
    name = namespace["metadata"].get("name")
    if name:
        labels = namespace["metadata"].get("labels") or {}
        labels[NAMESPACE_NAME_LABEL] = name
        namespace["metadata"]["labels"] = labels
    status = namespace.get("status") or {}
    if not status.get("phase"):
        namespace["status"] = {**status, "phase": "Active"}
