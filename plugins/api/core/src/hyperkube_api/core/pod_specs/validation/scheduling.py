"""Where a pod may run: affinity, tolerations, spreading, selectors.

Source: kubernetes pkg/apis/core/validation (validateAffinity, ValidateTolerations, validateTopologySpreadConstraints).
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_api.core.nodes.selectors import node_selector, node_selector_term
from hyperkube_api.core.nodes.validation import EFFECTS
from hyperkube_api.meta.validation import by_rule, label_selector

from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, duplicate, forbidden, invalid, not_supported, required
from hyperkube.machinery.objects import Object

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_WEIGHT = "must be in the range 1-100"
_EMPTY = "can not be empty"


def validate_affinity(path: Path, affinity: Object | None) -> list[FieldError]:
    """Check node and pod affinity."""
    errors: list[FieldError] = []
    if not affinity:
        return errors
    node = affinity.get("nodeAffinity")
    if node is not None:
        errors += _node_affinity(path.child("nodeAffinity"), node)
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(kind)
        if rules is not None:
            errors += _pod_affinity(path.child(kind), rules)
    return errors


def _node_affinity(path: Path, rules: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    if rules.get(REQUIRED) is not None:
        errors += node_selector(path.child(REQUIRED), rules[REQUIRED])
    for index, item in enumerate(rules.get(PREFERRED) or ()):
        at, weight = path.child(PREFERRED).index(index), item.get("weight") or 0
        if not 1 <= weight <= 100:
            errors.append(invalid(at.child("weight"), weight, _WEIGHT))
        errors += node_selector_term(at.child("preference"), item.get("preference") or {}, check_values=False)
    return errors


def _pod_affinity(path: Path, rules: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, term in enumerate(rules.get(REQUIRED) or ()):
        errors += _pod_term(path.child(REQUIRED).index(index), term)
    for index, item in enumerate(rules.get(PREFERRED) or ()):
        at, weight = path.child(PREFERRED).index(index), item.get("weight") or 0
        if not 1 <= weight <= 100:
            errors.append(invalid(at.child("weight"), weight, _WEIGHT))
        errors += _pod_term(at.child("podAffinityTerm"), item.get("podAffinityTerm") or {})
    return errors


def _pod_term(path: Path, term: Object) -> list[FieldError]:
    errors = label_selector(path.child("labelSelector"), term.get("labelSelector"))
    errors += label_selector(path.child("namespaceSelector"), term.get("namespaceSelector"))
    for namespace in term.get("namespaces") or ():
        errors += by_rule(path.child("namespace"), namespace, names.dns1123_label)
    errors += _label_keys(path, term)
    key = term.get("topologyKey") or ""
    at = path.child("topologyKey")
    if not key:
        errors.append(required(at, _EMPTY))
    return errors + [invalid(at, key, text) for text in names.qualified_name(key)]


def _label_keys(path: Path, term: Object) -> list[FieldError]:
    """Check ``matchLabelKeys`` and ``mismatchLabelKeys``: they need a selector and may not meet.

    The pod's own values of the former are in the selector by now, so a key that stands there twice was already there.
    Kubernetes reports that at the term, with the key's index behind it.
    """
    match, mismatch = term.get("matchLabelKeys") or [], term.get("mismatchLabelKeys") or []
    if not match and not mismatch:
        return []
    selector, errors = term.get("labelSelector"), list[FieldError]()
    for member, keys in (("matchLabelKeys", match), ("mismatchLabelKeys", mismatch)):
        at = path.child(member)
        if keys and selector is None:
            errors.append(forbidden(at, "must not be specified when labelSelector is not set"))
            continue
        for index, key in enumerate(keys):
            errors += [invalid(at.index(index), key, text) for text in names.qualified_name(key)]
    selected = set((selector or {}).get("matchLabels") or ())
    for expression in (selector or {}).get("matchExpressions") or ():
        key = expression.get("key") or ""
        if key in selected and key in match:
            at = path.index(len(match) - 1 - match[::-1].index(key))
            errors.append(invalid(at, key, "exists in both matchLabelKeys and labelSelector"))
        selected.add(key)
    for index, key in enumerate(match):
        if key in mismatch:
            text = "exists in both matchLabelKeys and mismatchLabelKeys"
            errors.append(invalid(path.child("matchLabelKeys").index(index), key, text))
    return errors


def validate_tolerations(path: Path, tolerations: Sequence[Object] | None) -> list[FieldError]:
    """Check tolerations."""
    errors: list[FieldError] = []
    for index, toleration in enumerate(tolerations or ()):
        at = path.index(index)
        key, operator = toleration.get("key") or "", toleration.get("operator") or ""
        value, effect = toleration.get("value") or "", toleration.get("effect") or ""
        if key:
            errors += [invalid(at.child("key"), key, text) for text in names.qualified_name(key)]
        elif operator != "Exists":
            text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            errors.append(invalid(at.child("operator"), operator, text))
        if effect != "NoExecute" and toleration.get("tolerationSeconds") is not None:
            text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            errors.append(invalid(at.child("effect"), effect, text))
        errors += _toleration_value(at.child("operator"), operator, value)
        if effect and effect not in EFFECTS:
            errors.append(not_supported(at.child("effect"), effect, EFFECTS))
    return errors


def _toleration_value(path: Path, operator: str, value: str) -> list[FieldError]:
    """Check a toleration's value, which Kubernetes reports at the operator."""
    if operator in {"", "Equal"}:
        texts = names.label_value(value) if value else []
        return [invalid(path, value, ";".join(texts))] if texts else []
    if operator == "Exists":
        return [invalid(path, value, "value must be empty when `operator` is 'Exists'")] if value else []
    known = ("Equal", "Exists", "Lt", "Gt") if operator in {"Lt", "Gt"} else ("Equal", "Exists")
    return [not_supported(path, operator, known)]


def validate_spread_constraints(path: Path, constraints: Sequence[Object] | None) -> list[FieldError]:
    """Check topology spread constraints."""
    errors: list[FieldError] = []
    pairs = [(item.get("topologyKey") or "", item.get("whenUnsatisfiable") or "") for item in constraints or ()]
    for index, constraint in enumerate(constraints or ()):
        at, (key, action) = path.index(index), pairs[index]
        if (constraint.get("maxSkew") or 0) <= 0:
            errors.append(invalid(at.child("maxSkew"), constraint.get("maxSkew") or 0, "must be greater than zero"))
        if not key:
            errors.append(required(at.child("topologyKey"), _EMPTY))
        if action not in {"DoNotSchedule", "ScheduleAnyway"}:
            supported = ("DoNotSchedule", "ScheduleAnyway")
            errors.append(not_supported(at.child("whenUnsatisfiable"), action, supported))
        if pairs[index] in pairs[index + 1 :]:
            errors.append(duplicate(at.child("{topologyKey, whenUnsatisfiable}"), f"{{{key}, {action}}}"))
        errors += _min_domains(at.child("minDomains"), constraint.get("minDomains"), action)
        for member in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            policy = constraint.get(member)
            if policy is not None and policy not in {"Honor", "Ignore"}:
                errors.append(not_supported(at.child(member), policy, ("Honor", "Ignore")))
        errors += _label_keys(at, constraint)
        errors += label_selector(at.child("labelSelector"), constraint.get("labelSelector"))
    return errors


def _min_domains(path: Path, value: int | None, action: str) -> list[FieldError]:
    if value is None:
        return []
    errors = [invalid(path, value, "must be greater than zero")] if value <= 0 else []
    if action != "DoNotSchedule":
        text = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        errors.append(invalid(path, value, text))
    return errors
