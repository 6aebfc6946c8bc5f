"""What is wrong with roles and bindings.

Source: kubernetes pkg/apis/rbac/validation/validation.go.
"""

from __future__ import annotations

from hyperkube_api.meta.validation import label_selector
from hyperkube_api.rbac.defaults import GROUP

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, invalid, not_supported, required
from hyperkube.machinery.objects import Object

SUBJECTS = ("ServiceAccount", "User", "Group")


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


def role_kept(obj: Object, old: Object) -> list[FieldError]:
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
