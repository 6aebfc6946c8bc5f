"""Admin access to devices is for claims in namespaces that are labelled for it.

Source: kubernetes pkg/registry/resource/utils.go.
"""

from __future__ import annotations

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, internal
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, labels_of

NAMESPACE_LABEL = "resource.kubernetes.io/admin-access"
_NAMESPACES = GroupVersionResource("", "v1", "namespaces")


def check_requested_admin_access(call: Call, spec: Object) -> list[FieldError]:
    """Check a claim that requests admin access: devices that other claims may use already."""
    for index, request in enumerate((spec.get("devices") or {}).get("requests") or ()):
        if (request.get("exactly") or {}).get("adminAccess"):
            return _check_namespace_label(
                call, ROOT.child("spec", "devices", "requests").index(index).child("adminAccess")
            )
    return []


def check_allocated_admin_access(call: Call, obj: Object, old: Object) -> list[FieldError]:
    """Check a claim to which devices with admin access are allocated for the first time."""
    index = _first_with_admin_access(obj)
    if index is None or _first_with_admin_access(old) is not None:
        return []
    return _check_namespace_label(
        call, ROOT.child("status", "allocation", "devices", "results").index(index).child("adminAccess")
    )


def _first_with_admin_access(claim: Object) -> int | None:
    devices = ((claim.get("status") or {}).get("allocation") or {}).get("devices") or {}
    found = (index for index, item in enumerate(devices.get("results") or ()) if item.get("adminAccess"))
    return next(found, None)


def _check_namespace_label(call: Call, path: Path) -> list[FieldError]:
    try:
        namespace = call.objects.get(_NAMESPACES, call.namespace)
    except NotFound as error:
        return [internal(path, f"could not retrieve namespace to verify admin access: {error.message}")]
    if labels_of(namespace).get(NAMESPACE_LABEL) == "true":
        return []
    text = f"admin access to devices requires the `{NAMESPACE_LABEL}: true` label on the containing namespace"
    return [forbidden(path, text)]
