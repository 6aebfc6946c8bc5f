"""What webhooks and policies match: rules, match resources and match conditions.

Source: kubernetes pkg/apis/admissionregistration/{validation/validation.go,v1/defaults.go}.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_api.admissionregistration.expressions import Expressions
from hyperkube_api.meta.defaults import set_defaults
from hyperkube_api.meta.validation import label_selector, one_of

from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, duplicate, invalid, not_supported, repeated, required, too_many
from hyperkube.machinery.objects import Object

OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
SCOPES = ("*", "Cluster", "Namespaced")
MATCH_POLICIES = ("Equivalent", "Exact")
MAX_CONDITIONS = 64


def default_match(match: Object | None) -> None:
    """Fill in what a policy matches, if it says so."""
    if match is None:
        return
    set_defaults(match, matchPolicy="Equivalent", namespaceSelector={}, objectSelector={})
    default_rules(match.get("resourceRules"))
    default_rules(match.get("excludeResourceRules"))


def default_rules(rules: list[Object] | None) -> None:
    """Fill in the scope of rules."""
    for rule in rules or ():
        set_defaults(rule, scope="*")


def validate_rule(path: Path, rule: Object, *, operations: Sequence[str] = OPERATIONS) -> list[FieldError]:
    """Check one rule."""
    given = rule.get("operations") or []
    errors: list[FieldError] = []
    if not given:
        errors.append(required(path.child("operations")))
    if len(given) > 1 and "*" in given:
        text = "if '*' is present, must not specify other operations"
        errors.append(invalid(path.child("operations"), given, text))
    for index, operation in enumerate(given):
        if operation not in operations:
            errors.append(not_supported(path.child("operations").index(index), operation, operations))
    return errors + _resources(path, rule)


def _resources(path: Path, rule: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for member, what in (("apiGroups", "API groups"), ("apiVersions", "API versions")):
        values = rule.get(member) or []
        if not values:
            errors.append(required(path.child(member)))
        if len(values) > 1 and "*" in values:
            text = f"if '*' is present, must not specify other {what}"
            errors.append(invalid(path.child(member), values, text))
    for index, version in enumerate(rule.get("apiVersions") or ()):
        if not version:
            errors.append(required(path.child("apiVersions").index(index)))
    errors += _resource_names(path.child("resources"), rule.get("resources") or [])
    scope = rule.get("scope")
    if scope is not None and scope not in SCOPES:
        errors.append(not_supported(path.child("scope"), scope, SCOPES))
    return errors


def _wildcards(path: Path, resources: Sequence[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    parents: set[str] = set()
    children: set[str] = set()
    for index, item in enumerate(resources):
        if not item:
            errors.append(required(path.index(index)))
        parent, slash, child = item.partition("/")
        if not slash:
            continue
        if parent in parents:
            errors.append(invalid(path.index(index), item, f"if '{parent}/*' is present, must not specify {item}"))
        if child in children:
            errors.append(invalid(path.index(index), item, f"if '*/{child}' is present, must not specify {item}"))
        if child == "*":
            parents.add(parent)
        if parent == "*":
            children.add(child)
    return errors


def _resource_names(path: Path, resources: Sequence[str]) -> list[FieldError]:
    if not resources:
        return [required(path)]
    errors = _wildcards(path, resources)
    if "*/*" in resources and len(resources) > 1:
        errors.append(invalid(path, resources, "if '*/*' is present, must not specify other resources"))
    whole = [item for item in resources if "/" not in item]
    if "*" in resources and whole[-1] != "*":
        text = "if '*' is present, must not specify other resources without subresources"
        errors.append(invalid(path, resources, text))
    return errors


def validate_match(path: Path, match: Object, *, operations: Sequence[str] = OPERATIONS) -> list[FieldError]:
    """Check what a policy matches; `operations`: those it may act on, while it may leave out any."""
    errors: list[FieldError] = []
    policy = match.get("matchPolicy")
    if policy is None:
        errors.append(required(path.child("matchPolicy")))
    elif policy not in MATCH_POLICIES:
        errors.append(not_supported(path.child("matchPolicy"), policy, MATCH_POLICIES))
    for member in ("namespaceSelector", "objectSelector"):
        if match.get(member) is None:
            errors.append(required(path.child(member)))
        else:
            errors += label_selector(path.child(member), match[member])
    for member, known in (("resourceRules", operations), ("excludeResourceRules", OPERATIONS)):
        for index, rule in enumerate(match.get(member) or ()):
            at = path.child(member).index(index)
            errors += _object_names(at.child("resourceNames"), rule.get("resourceNames") or ())
            errors += validate_rule(at, rule, operations=known)
    return errors


def _object_names(path: Path, given: Sequence[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    again = dict(repeated(given))
    for index, name in enumerate(given):
        at = path.index(index)
        errors += [invalid(at, name, text) for text in names.path_segment_name(name)]
        if index in again:
            errors.append(duplicate(at, name))
    return errors


def validate_conditions(
    path: Path, conditions: Sequence[Object] | None, expressions: Expressions | None = None
) -> list[FieldError]:
    """Check match conditions: few, and each with a name of its own and a boolean expression."""
    known = expressions or Expressions()
    items = conditions or ()
    errors = [too_many(path, len(items), MAX_CONDITIONS)] if len(items) > MAX_CONDITIONS else []
    seen: set[str] = set()
    for index, item in enumerate(items):
        at, name = path.index(index), item.get("name") or ""
        source = (item.get("expression") or "").strip()
        if not source:
            errors.append(required(at.child("expression")))
        else:
            errors += known.condition(at.child("expression"), source)
        if not name:
            errors.append(required(at.child("name")))
        else:
            errors += [invalid(at.child("name"), name, text) for text in names.qualified_name(name)]
        if name and name in seen:
            errors.append(duplicate(at.child("name"), name))
        seen.add(name)
    return errors


def failure_policy(path: Path, policy: str | None) -> list[FieldError]:
    """Check what happens when the check itself fails."""
    return one_of(path, policy, ("Fail", "Ignore"))
