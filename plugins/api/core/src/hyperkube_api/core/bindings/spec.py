"""How the API server serves bindings that are posted without the pod in the path."""

from __future__ import annotations

from hyperkube_api.core.versions import V1
from hyperkube_api.meta.specs import CREATE_ONLY, OnFirstUse

from hyperkube.hookspecs.api import ResourceSpec


def bindings() -> ResourceSpec:
    """Return the specification of the resource ``bindings``."""
    return V1.resource(
        "bindings",
        "Binding",
        verbs=CREATE_ONLY,
        create=OnFirstUse("hyperkube_api.core.pods.binding:bind_by_body"),
    )
