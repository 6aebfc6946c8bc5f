"""What is wrong with a node selector: that of a pod's affinity, a persistent volume or a resource slice.

Source: kubernetes pkg/apis/core/validation (ValidateNodeSelector).
"""

from __future__ import annotations

from hyperkube_api.meta.validation import by_rule

from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, forbidden, invalid, required
from hyperkube.machinery.objects import Object


def node_selector(path: Path, selector: Object) -> list[FieldError]:
    """Check a node selector: at least one term."""
    terms = selector.get("nodeSelectorTerms") or []
    at = path.child("nodeSelectorTerms")
    if not terms:
        return [required(at, "must have at least one node selector term")]
    return [error for index, term in enumerate(terms) for error in node_selector_term(at.index(index), term)]


def node_selector_term(path: Path, term: Object, *, check_values: bool = True) -> list[FieldError]:
    """Check one term: expressions over labels and fields."""
    errors: list[FieldError] = []
    for index, expression in enumerate(term.get("matchExpressions") or ()):
        errors += _node_expression(path.child("matchExpressions").index(index), expression, check_values=check_values)
    for index, expression in enumerate(term.get("matchFields") or ()):
        errors += _node_field(path.child("matchFields").index(index), expression)
    return errors


def _node_expression(path: Path, expression: Object, *, check_values: bool) -> list[FieldError]:
    operator, values = expression.get("operator") or "", expression.get("values") or []
    errors: list[FieldError] = []
    if operator in {"In", "NotIn"}:
        if not values:
            errors.append(required(path.child("values"), "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            errors.append(forbidden(path.child("values"), text))
    elif operator in {"Gt", "Lt"}:
        if len(values) != 1:
            text = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            errors.append(required(path.child("values"), text))
    else:
        errors.append(invalid(path.child("operator"), operator, "not a valid selector operator"))
    key = expression.get("key") or ""
    errors += [invalid(path.child("key"), key, text) for text in names.qualified_name(key)]
    if check_values:
        for index, value in enumerate(values):
            errors += by_rule(path.child("values").index(index), value, names.label_value)
    return errors


def _node_field(path: Path, expression: Object) -> list[FieldError]:
    operator, values, key = (
        expression.get("operator") or "",
        expression.get("values") or [],
        expression.get("key") or "",
    )
    errors: list[FieldError] = []
    if operator not in {"In", "NotIn"}:
        errors.append(invalid(path.child("operator"), operator, "not a valid selector operator"))
    elif len(values) != 1:
        text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        errors.append(required(path.child("values"), text))
    if key != "metadata.name":
        errors.append(invalid(path.child("key"), key, "not a valid field selector key"))
    else:
        for index, value in enumerate(values):
            errors += by_rule(path.child("values").index(index), value, names.dns1123_subdomain)
    return errors
