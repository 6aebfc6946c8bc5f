"""RoleBindings and ClusterRoleBindings: who has a role within a namespace and everywhere.

Source: kubernetes pkg/apis/rbac, pkg/registry/rbac/{rolebinding,clusterrolebinding}, pkg/printers.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.rbac.escalation import check_binding
from hyperkube_api.rbac.strategy import RbacStrategy
from hyperkube_api.rbac.versions import GROUP, V1

from hyperkube.hookspecs.api import Call, ResourceSpec
from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, invalid, not_supported, required
from hyperkube.machinery.objects import Object

SUBJECTS = ("ServiceAccount", "User", "Group")


def default_binding(binding: Object) -> None:
    """Fill in the groups of the role and of the subjects."""
    role = binding.get("roleRef")
    if role is not None and not role.get("apiGroup"):
        role["apiGroup"] = GROUP
    for subject in binding.get("subjects") or ():
        if not subject.get("apiGroup") and subject.get("kind") in {"User", "Group"}:
            subject["apiGroup"] = GROUP


def validate_binding(obj: Object, *, namespaced: bool) -> list[FieldError]:
    """Check a role binding of either scope."""
    reference, path = obj.get("roleRef") or {}, ROOT.child("roleRef")
    errors: list[FieldError] = []
    if reference.get("apiGroup") != GROUP:
        errors.append(not_supported(path.child("apiGroup"), reference.get("apiGroup") or "", (GROUP,)))
    kinds = ("Role", "ClusterRole") if namespaced else ("ClusterRole",)
    if reference.get("kind") not in kinds:
        errors.append(not_supported(path.child("kind"), reference.get("kind") or "", kinds))
    name = reference.get("name") or ""
    if not name:
        errors.append(required(path.child("name")))
    else:
        errors += [invalid(path.child("name"), name, text) for text in names.path_segment_name(name)]
    for index, subject in enumerate(obj.get("subjects") or ()):
        errors += _subject(ROOT.child("subjects").index(index), subject, namespaced=namespaced)
    return errors


def _subject(path: Path, subject: Object, *, namespaced: bool) -> list[FieldError]:
    name, kind, group = subject.get("name") or "", subject.get("kind") or "", subject.get("apiGroup") or ""
    errors = [] if name else [required(path.child("name"))]
    if kind == "ServiceAccount":
        if name:
            errors += [invalid(path.child("name"), name, text) for text in names.dns1123_subdomain(name)]
        if group:
            errors.append(not_supported(path.child("apiGroup"), group, ("",)))
        if not namespaced and not subject.get("namespace"):
            errors.append(required(path.child("namespace")))
    elif kind in {"User", "Group"}:
        if group != GROUP:
            errors.append(not_supported(path.child("apiGroup"), group, (GROUP,)))
    else:
        errors.append(not_supported(path.child("kind"), kind, SUBJECTS))
    return errors


def check_role_unchanged(obj: Object, old: Object) -> list[FieldError]:
    """Check that a binding still binds to the same role."""
    reference = obj.get("roleRef") or {}
    if reference == (old.get("roleRef") or {}):
        return []
    shown = {
        "APIGroup": reference.get("apiGroup") or "",
        "Kind": reference.get("kind") or "",
        "Name": reference.get("name") or "",
    }
    return [invalid(ROOT.child("roleRef"), shown, "cannot change roleRef")]


def role_binding_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the role; wide: who has it."""
    reference = obj.get("roleRef") or {}
    subjects = obj.get("subjects") or []
    users = [item.get("name") or "" for item in subjects if item.get("kind") == "User"]
    groups = [item.get("name") or "" for item in subjects if item.get("kind") == "Group"]
    accounts = [
        f"{item.get('namespace') or ''}/{item.get('name') or ''}"
        for item in subjects
        if item.get("kind") == "ServiceAccount"
    ]
    return [
        cells.name(obj),
        f"{reference.get('kind') or ''}/{reference.get('name') or ''}",
        cells.age(obj, now),
        ", ".join(users),
        ", ".join(groups),
        ", ".join(accounts),
    ]


cluster_role_binding_cells = role_binding_cells


class _BindingStrategy(RbacStrategy):
    """What bindings of both scopes have in common."""

    def default(self, obj: Object) -> None:
        """Fill in the groups."""
        default_binding(obj)

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Refuse to bind to what the author does not have."""
        check_binding(call, obj, None)

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Refuse to bind to what the author does not have."""
        check_binding(call, obj, old)


class RoleBindingStrategy(_BindingStrategy):
    """Who has a role within a namespace."""

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check role and subjects."""
        return validate_binding(obj, namespaced=True)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that the role stayed."""
        return validate_binding(obj, namespaced=True) + check_role_unchanged(obj, old)


class ClusterRoleBindingStrategy(_BindingStrategy):
    """Who has a role everywhere."""

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check role and subjects."""
        return validate_binding(obj, namespaced=False)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that the role stayed."""
        return validate_binding(obj, namespaced=False) + check_role_unchanged(obj, old)


def role_bindings() -> ResourceSpec:
    """Return the specification of the resource ``rolebindings``."""
    return V1.resource(
        "rolebindings",
        "RoleBinding",
        storage_prefix="rolebindings",
        storage_version_hash="eGsCzGH6b1g=",
        strategy=RoleBindingStrategy(),
        columns=(
            NAME,
            column("Role", field="roleRef"),
            AGE,
            column("Users", priority=1, description="Users in the roleBinding"),
            column("Groups", priority=1, description="Groups in the roleBinding"),
            column("ServiceAccounts", priority=1, description="ServiceAccounts in the roleBinding"),
        ),
        cells=role_binding_cells,
    )


def cluster_role_bindings() -> ResourceSpec:
    """Return the specification of the resource ``clusterrolebindings``."""
    return V1.resource(
        "clusterrolebindings",
        "ClusterRoleBinding",
        namespaced=False,
        storage_prefix="clusterrolebindings",
        storage_version_hash="48tpQ8gZHFc=",
        strategy=ClusterRoleBindingStrategy(),
        columns=(
            NAME,
            column("Role", field="roleRef"),
            AGE,
            column("Users", priority=1, description="Users in the clusterRoleBinding"),
            column("Groups", priority=1, description="Groups in the clusterRoleBinding"),
            column("ServiceAccounts", priority=1, description="ServiceAccounts in the clusterRoleBinding"),
        ),
        cells=cluster_role_binding_cells,
    )
