"""Roles and ClusterRoles: rights within a namespace and everywhere.

Source: kubernetes pkg/apis/rbac, pkg/registry/rbac/{role,clusterrole}, pkg/printers.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import NAME, column
from hyperkube_api.meta.validation import label_selector
from hyperkube_api.rbac.escalation import check_role
from hyperkube_api.rbac.strategy import RbacStrategy
from hyperkube_api.rbac.versions import V1

from hyperkube.hookspecs.api import Call, ResourceSpec
from hyperkube.machinery.field import ROOT, FieldError, Path, invalid, required
from hyperkube.machinery.objects import Object


def validate_rules(obj: Object, *, namespaced: bool) -> list[FieldError]:
    """Check the rules of a role."""
    errors: list[FieldError] = []
    for index, rule in enumerate(obj.get("rules") or ()):
        errors += _rule(ROOT.child("rules").index(index), rule, namespaced=namespaced)
    return errors


def _rule(path: Path, rule: Object, *, namespaced: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    if not rule.get("verbs"):
        errors.append(required(path.child("verbs"), "verbs must contain at least one value"))
    urls = rule.get("nonResourceURLs") or []
    if urls:
        at = path.child("nonResourceURLs")
        if namespaced:
            errors.append(invalid(at, urls, "namespaced rules cannot apply to non-resource URLs"))
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            text = "rules cannot apply to both regular resources and non-resource URLs"
            errors.append(invalid(at, urls, text))
        return errors
    if not rule.get("apiGroups"):
        errors.append(required(path.child("apiGroups"), "resource rules must supply at least one api group"))
    if not rule.get("resources"):
        errors.append(required(path.child("resources"), "resource rules must supply at least one resource"))
    return errors


def validate_cluster_role(obj: Object) -> list[FieldError]:
    """Check a cluster role: its rules, and the roles it is gathered from."""
    errors = validate_rules(obj, namespaced=False)
    aggregation = obj.get("aggregationRule")
    if aggregation is None:
        return errors
    path = ROOT.child("aggregationRule", "clusterRoleSelectors")
    selectors = aggregation.get("clusterRoleSelectors") or []
    if not selectors:
        text = "at least one clusterRoleSelector required if aggregationRule is non-nil"
        return [*errors, required(path, text)]
    for index, selector in enumerate(selectors):
        problems = label_selector(path.index(index), selector)
        errors += problems
        if problems:
            errors.append(invalid(path.index(index), None, "invalid label selector."))
    return errors


def role_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the time of creation."""
    del now
    return [cells.name(obj), cells.created(obj)]


cluster_role_cells = role_cells


class _RoleStrategy(RbacStrategy):
    """What roles of both scopes have in common."""

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Refuse to grant what the author does not have."""
        check_role(call, obj, None)

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Refuse to grant what the author does not have."""
        check_role(call, obj, old)


class RoleStrategy(_RoleStrategy):
    """Rights within a namespace."""

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the rules."""
        return validate_rules(obj, namespaced=True)


class ClusterRoleStrategy(_RoleStrategy):
    """Rights anywhere."""

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the rules and what they are gathered from."""
        return validate_cluster_role(obj)


def roles() -> ResourceSpec:
    """Return the specification of the resource ``roles``."""
    return V1.resource(
        "roles",
        "Role",
        storage_prefix="roles",
        storage_version_hash="7FuwZcIIItM=",
        strategy=RoleStrategy(),
        columns=(NAME, column("Created At", type="date")),
        cells=role_cells,
    )


def cluster_roles() -> ResourceSpec:
    """Return the specification of the resource ``clusterroles``."""
    return V1.resource(
        "clusterroles",
        "ClusterRole",
        namespaced=False,
        storage_prefix="clusterroles",
        storage_version_hash="bYE5ZWDrJ44=",
        strategy=ClusterRoleStrategy(),
        columns=(NAME, column("Created At", type="date")),
        cells=cluster_role_cells,
    )
