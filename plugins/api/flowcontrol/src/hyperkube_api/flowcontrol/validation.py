"""What is wrong with flow schemas and priority levels.

Source: kubernetes pkg/apis/flowcontrol/validation/validation.go.
"""

from __future__ import annotations

import math

from hyperkube_api.meta.validation import by_rule

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, invalid, not_supported, required
from hyperkube.machinery.objects import Object, name_of

_SPEC = ROOT.child("spec")
MAX_PRECEDENCE = 10000
MAX_QUEUES = 10_000_000
MAX_ENTROPY_BITS = 60
EXEMPT = "exempt"
VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")
_SUBJECTS = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}


def validate_flow_schema(obj: Object) -> list[FieldError]:
    """Check a flow schema."""
    spec = obj["spec"]
    precedence, at = spec.get("matchingPrecedence") or 0, _SPEC.child("matchingPrecedence")
    errors: list[FieldError] = []
    if precedence <= 0:
        errors.append(invalid(at, precedence, "must be a positive value"))
    if precedence > MAX_PRECEDENCE:
        errors.append(invalid(at, precedence, f"must not be greater than {MAX_PRECEDENCE}"))
    if precedence == 1 and name_of(obj) != EXEMPT:
        errors.append(invalid(at, precedence, "only the schema named 'exempt' may have matchingPrecedence 1"))
    method = spec.get("distinguisherMethod")
    if method is not None and method.get("type") not in {"ByNamespace", "ByUser"}:
        known = ("ByNamespace", "ByUser")
        errors.append(not_supported(_SPEC.child("distinguisherMethod", "type"), method.get("type") or "", known))
    level, at = (
        (spec.get("priorityLevelConfiguration") or {}).get("name") or "",
        _SPEC.child("priorityLevelConfiguration", "name"),
    )
    if not level:
        errors.append(required(at, "must reference a priority level"))
    else:
        errors += by_rule(at, level, names.dns1123_subdomain)
    for index, rule in enumerate(spec.get("rules") or ()):
        errors += _rule(_SPEC.child("rules").index(index), rule)
    return errors


def _rule(path: Path, rule: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    if not rule.get("subjects"):
        errors.append(required(path.child("subjects"), "subjects must contain at least one value"))
    for index, subject in enumerate(rule.get("subjects") or ()):
        errors += _subject(path.child("subjects").index(index), subject)
    resources, urls = rule.get("resourceRules") or [], rule.get("nonResourceRules") or []
    if not resources and not urls:
        text = "at least one of resourceRules and nonResourceRules has to be non-empty"
        errors.append(required(path, text))
    for index, item in enumerate(resources):
        errors += _resource_rule(path.child("resourceRules").index(index), item)
    for index, item in enumerate(urls):
        at = path.child("nonResourceRules").index(index)
        errors += _verbs(at.child("verbs"), item.get("verbs") or [])
        errors += _some(at.child("nonResourceURLs"), item.get("nonResourceURLs") or [], "nonResourceURLs")
    return errors


def _subject(path: Path, subject: Object) -> list[FieldError]:
    kind = subject.get("kind") or ""
    member = _SUBJECTS.get(kind)
    if member is None:
        return [not_supported(path.child("kind"), kind, tuple(_SUBJECTS))]
    errors = [
        forbidden(path.child(other), f"{other} is forbidden when subject kind is not '{name}'")
        for name, other in _SUBJECTS.items()
        if other != member and subject.get(other) is not None
    ]
    if subject.get(member) is None:
        return [*errors, required(path.child(member), f"{member} is required when subject kind is '{kind}'")]
    needed = ("namespace", "name") if member == "serviceAccount" else ("name",)
    return errors + [required(path.child(member, part)) for part in needed if not subject[member].get(part)]


def _resource_rule(path: Path, rule: Object) -> list[FieldError]:
    errors = _verbs(path.child("verbs"), rule.get("verbs") or [])
    for member in ("apiGroups", "resources"):
        errors += _some(path.child(member), rule.get(member) or [], member)
    if not rule.get("namespaces") and not rule.get("clusterScope"):
        text = "resource rules that are not cluster scoped must supply at least one namespace"
        errors.append(required(path.child("namespaces"), text))
    elif "*" in (rule.get("namespaces") or ()) and len(rule["namespaces"]) > 1:
        errors.append(
            invalid(
                path.child("namespaces"), rule["namespaces"], "if '*' is present, must not specify other namespaces"
            )
        )
    return errors


def _verbs(path: Path, verbs: list[str]) -> list[FieldError]:
    if not verbs:
        return [required(path, "verbs must contain at least one value")]
    if "*" in verbs:
        return [] if len(verbs) == 1 else [invalid(path, verbs, "if '*' is present, must not specify other verbs")]
    return [] if set(verbs) <= set(VERBS) else [not_supported(path, verbs, VERBS)]


def _some(path: Path, values: list[str], what: str) -> list[FieldError]:
    if not values:
        return [required(path, f"{what} must contain at least one value")]
    if "*" in values and len(values) > 1:
        return [invalid(path, values, f"if '*' is present, must not specify other {what}")]
    return []


def validate_priority_level(obj: Object) -> list[FieldError]:
    """Check a priority level."""
    spec = obj["spec"]
    kind, exempt = spec.get("type") or "", name_of(obj) == EXEMPT
    errors: list[FieldError] = []
    if (kind == "Exempt") != exempt:
        text = "must be 'Exempt' if and only if `name` is 'exempt'"
        if kind == "Exempt" or exempt:
            errors.append(invalid(_SPEC.child("type"), kind, text))
    if kind == "Exempt":
        if spec.get("limited") is not None:
            errors.append(forbidden(_SPEC.child("limited"), "must be nil if the type is not Limited"))
        if spec.get("exempt") is not None:
            errors += _shares(_SPEC.child("exempt"), spec["exempt"])
    elif kind == "Limited":
        if spec.get("exempt") is not None:
            errors.append(forbidden(_SPEC.child("exempt"), "must be nil if the type is Limited"))
        if spec.get("limited") is None:
            errors.append(required(_SPEC.child("limited"), "must not be empty when type is Limited"))
        else:
            errors += _limited(_SPEC.child("limited"), spec["limited"])
    else:
        errors.append(not_supported(_SPEC.child("type"), kind, ("Exempt", "Limited")))
    return errors


def _shares(path: Path, section: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    shares, lendable = section.get("nominalConcurrencyShares"), section.get("lendablePercent")
    if shares is not None and shares < 0:
        errors.append(invalid(path.child("nominalConcurrencyShares"), shares, "must be a non-negative integer"))
    if lendable is not None and not 0 <= lendable <= 100:
        errors.append(invalid(path.child("lendablePercent"), lendable, "must be between 0 and 100, inclusive"))
    return errors


def _limited(path: Path, limited: Object) -> list[FieldError]:
    errors = _shares(path, limited)
    borrowing = limited.get("borrowingLimitPercent")
    if borrowing is not None and borrowing < 0:
        errors.append(
            invalid(path.child("borrowingLimitPercent"), borrowing, "if specified, must be a non-negative integer")
        )
    response = limited.get("limitResponse") or {}
    kind, queuing, at = response.get("type") or "", response.get("queuing"), path.child("limitResponse")
    if kind == "Reject":
        if queuing is not None:
            text = "must be nil if limited.limitResponse.type is not Limited"
            errors.append(forbidden(at.child("queuing"), text))
    elif kind == "Queue":
        if queuing is None:
            text = "must not be empty if limited.limitResponse.type is Limited"
            errors.append(required(at.child("queuing"), text))
        else:
            errors += _queuing(at.child("queuing"), queuing)
    else:
        errors.append(not_supported(at.child("type"), kind, ("Queue", "Reject")))
    return errors


def _queuing(path: Path, queuing: Object) -> list[FieldError]:
    queues, hand, length = (queuing.get(member) or 0 for member in ("queues", "handSize", "queueLengthLimit"))
    errors: list[FieldError] = []
    if length <= 0:
        errors.append(invalid(path.child("queueLengthLimit"), length, "must be positive"))
    if queues <= 0:
        errors.append(invalid(path.child("queues"), queues, "must be positive"))
    elif queues > MAX_QUEUES:
        errors.append(invalid(path.child("queues"), queues, "must not be greater than 10000000"))
    if hand <= 0:
        errors.append(invalid(path.child("handSize"), hand, "must be positive"))
    elif hand > queues:
        errors.append(invalid(path.child("handSize"), hand, f"should not be greater than queues ({queues})"))
    else:
        bits = sum(math.log2(queues - index) for index in range(hand))
        if bits > MAX_ENTROPY_BITS:
            deck = f"deckSize {queues} and handSize {hand}"
            text = f"required entropy bits of {deck} should not be greater than {MAX_ENTROPY_BITS}"
            errors.append(invalid(path.child("handSize"), hand, text))
    return errors
