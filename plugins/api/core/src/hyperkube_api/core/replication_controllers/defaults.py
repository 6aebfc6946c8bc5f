"""Defaults of replication controllers.

Source: kubernetes pkg/apis/core/v1/defaults.go (SetDefaults_ReplicationController).
"""

from __future__ import annotations

from hyperkube_api.core.pod_specs.defaults import default_template

from hyperkube.machinery.objects import Object


def default_replication_controller(controller: Object) -> None:
    """Fill in a replication controller; its selector and labels come from the template."""
    spec = controller["spec"]
    template = spec.get("template")
    labels = ((template or {}).get("metadata") or {}).get("labels")
    if labels:
        if not spec.get("selector"):
            spec["selector"] = dict(labels)
        if not controller["metadata"].get("labels"):
            controller["metadata"]["labels"] = dict(labels)
    if spec.get("replicas") is None:
        spec["replicas"] = 1
    default_template(template)
