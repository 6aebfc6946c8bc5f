"""Defaults of role bindings; in place and idempotent.

Source: kubernetes pkg/apis/rbac/v1/defaults.go.
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object

GROUP = "rbac.authorization.k8s.io"


def default_binding(binding: Object) -> None:
    """Fill in the groups of the role and of the subjects."""
    role = binding.get("roleRef")
    if role is not None and not role.get("apiGroup"):
        role["apiGroup"] = GROUP
    for subject in binding.get("subjects") or ():
        if not subject.get("apiGroup") and subject.get("kind") in {"User", "Group"}:
            subject["apiGroup"] = GROUP
