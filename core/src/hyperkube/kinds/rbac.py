"""RBAC rules: does one allow a request, how are they shown.

Source: kubernetes ``pkg/apis/rbac/v1/evaluation_helpers.go`` and ``helpers.go``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube.machinery.field import quote
from hyperkube.machinery.objects import Object
from hyperkube.machinery.users import SERVICE_ACCOUNT_PREFIX, UserInfo

RBAC_GROUP = "rbac.authorization.k8s.io"
ALL = "*"


def rule_allows(rule: Object, verb: str, group: str, resource: str, subresource: str = "", name: str = "") -> bool:
    """Tell whether a rule allows a verb on a resource."""
    return (
        _has(rule.get("verbs"), verb)
        and _has(rule.get("apiGroups"), group)
        and _resource_fits(rule.get("resources") or (), resource, subresource)
        and (not rule.get("resourceNames") or name in rule["resourceNames"])
    )


def rule_allows_path(rule: Object, verb: str, path: str) -> bool:
    """Tell whether a rule allows an HTTP method, in lower case, on a bare path."""
    return _has(rule.get("verbs"), verb) and any(_path_fits(url, path) for url in rule.get("nonResourceURLs") or ())


def _has(values: Sequence[str] | None, wanted: str) -> bool:
    return values is not None and (ALL in values or wanted in values)


def _resource_fits(resources: Sequence[str], resource: str, subresource: str) -> bool:
    combined = f"{resource}/{subresource}" if subresource else resource
    if ALL in resources or combined in resources:
        return True
    return bool(subresource) and f"*/{subresource}" in resources


def _path_fits(url: str, path: str) -> bool:
    if url in {ALL, path}:
        return True
    return url.endswith("*") and path.startswith(url.rstrip("*"))


def subject_is(subject: Object, user: UserInfo, namespace: str = "") -> bool:
    """Tell whether a binding's subject is that user; `namespace` is that of the binding, for service accounts."""
    kind, name = subject.get("kind"), subject.get("name", "")
    if kind == "User":
        return bool(user.name == name)
    if kind == "Group":
        return name in user.groups
    if kind == "ServiceAccount":
        home = subject.get("namespace") or namespace
        return bool(home) and user.name == f"{SERVICE_ACCOUNT_PREFIX}{home}:{name}"
    return False


def show_rule(rule: Object) -> str:
    """Return the rule as escalation messages show it: ``{APIGroups:[""], Resources:["pods"], Verbs:["get"]}``."""
    parts = []
    for title, member in (
        ("APIGroups", "apiGroups"),
        ("Resources", "resources"),
        ("NonResourceURLs", "nonResourceURLs"),
        ("ResourceNames", "resourceNames"),
        ("Verbs", "verbs"),
    ):
        values = rule.get(member)
        if values:
            parts.append(f"{title}:[{' '.join(quote(value) for value in values)}]")
    return "{" + ", ".join(parts) + "}"
