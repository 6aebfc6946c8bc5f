"""Defaults of custom resource definitions; in place and idempotent.

Source: kubernetes apiextensions-apiserver pkg/apis/apiextensions/v1/defaults.go.
"""

from __future__ import annotations

from hyperkube_api.meta.defaults import HTTPS_PORT

from hyperkube.machinery.objects import Object


def default_definition(definition: Object) -> None:
    """Fill in names and conversion."""
    spec = definition["spec"]
    names = spec.get("names") or {}
    kind = names.get("kind") or ""
    if kind:
        if not names.get("singular"):
            names["singular"] = kind.lower()
        if not names.get("listKind"):
            names["listKind"] = f"{kind}List"
    if spec.get("conversion") is None:
        spec["conversion"] = {"strategy": "None"}
    service = ((spec["conversion"].get("webhook") or {}).get("clientConfig") or {}).get("service")
    if service is not None and service.get("port") is None:
        service["port"] = HTTPS_PORT
