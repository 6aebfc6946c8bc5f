"""RBAC rules: does one allow a request, do some cover others, how are they shown.

Sources: kubernetes ``pkg/apis/rbac/v1/evaluation_helpers.go`` and ``helpers.go``,
component-helpers ``auth/rbac/validation/policy_comparator.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from hyperkube.machinery.field import quote
from hyperkube.machinery.groups import GroupVersion
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


def atoms(rule: Object) -> Iterator[Object]:
    """Split a rule into rules of one verb, group, resource and name each."""
    for url, verb in product(rule.get("nonResourceURLs") or (), rule.get("verbs") or ()):
        yield {"verbs": [verb], "nonResourceURLs": [url]}
    for group, resource, verb in product(
        rule.get("apiGroups") or (), rule.get("resources") or (), rule.get("verbs") or ()
    ):
        names = rule.get("resourceNames") or ()
        if not names:
            yield {"verbs": [verb], "apiGroups": [group], "resources": [resource]}
        for name in names:
            yield {"verbs": [verb], "apiGroups": [group], "resources": [resource], "resourceNames": [name]}


def rules_cover(owned: Iterable[Object], wanted: Iterable[Object]) -> tuple[bool, list[Object]]:
    """Tell whether rules that a user has cover the rules to be given.

    Returns:
        Whether they do, and the rules of one verb each that are not covered.
    """
    owned = list(owned)
    missing = [atom for rule in wanted for atom in atoms(rule) if not any(_rule_covers(owner, atom) for owner in owned)]
    return not missing, missing


def _rule_covers(owner: Object, atom: Object) -> bool:
    verbs = owner.get("verbs") or ()
    if ALL not in verbs and atom["verbs"][0] not in verbs:
        return False
    if "nonResourceURLs" in atom:
        return any(_url_covers(url, atom["nonResourceURLs"][0]) for url in owner.get("nonResourceURLs") or ())
    if not _has(owner.get("apiGroups"), atom["apiGroups"][0]):
        return False
    if not _resources_cover(owner.get("resources") or (), atom["resources"][0]):
        return False
    names = owner.get("resourceNames") or ()
    return not names or set(atom.get("resourceNames") or ("",)) <= set(names)


def _resources_cover(resources: Sequence[str], wanted: str) -> bool:
    if ALL in resources or wanted in resources:
        return True
    _, slash, subresource = wanted.partition("/")
    return bool(slash) and f"*/{subresource}" in resources


def _url_covers(owner: str, wanted: str) -> bool:
    if owner in {ALL, wanted}:
        return True
    return owner.endswith("*") and wanted.startswith(owner[:-1])


def compacted(rules: Iterable[Object]) -> list[Object]:
    """Merge rules on the same single resource into one with all their verbs, the others after them."""
    simple: dict[tuple[str, ...], Object] = {}
    rest: list[Object] = []
    for rule in rules:
        key = _simple_key(rule)
        if key is None:
            rest.append(rule)
        elif key in simple:
            verbs = simple[key]["verbs"]
            verbs += [verb for verb in rule["verbs"] if verb not in verbs]
        else:
            simple[key] = {**rule, "verbs": list(rule["verbs"])}
    return [*rest, *simple.values()]


def _simple_key(rule: Object) -> tuple[str, ...] | None:
    groups: Sequence[str] = rule.get("apiGroups") or ()
    resources: Sequence[str] = rule.get("resources") or ()
    names: Sequence[str] = rule.get("resourceNames") or ()
    if len(groups) != 1 or len(resources) != 1 or len(names) > 1 or rule.get("nonResourceURLs"):
        return None
    return (groups[0], resources[0], *names)


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


def api_group_of(api_version: str) -> str:
    """Return the group of an ``apiVersion``."""
    return GroupVersion.parse(api_version).group
