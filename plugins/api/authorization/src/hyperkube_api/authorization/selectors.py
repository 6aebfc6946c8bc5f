"""The field and label selectors of access reviews: validated, and parsed for authorizers.

A requirement with an unknown operator is accepted and dropped, since that only widens the request.
Source: kubernetes pkg/apis/authorization/validation, pkg/registry/authorization/util/helpers.go.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, forbidden, invalid, required
from hyperkube.machinery.fields import FieldRequirement, FieldSelectorError, parse_field_selector
from hyperkube.machinery.labels import (
    DOES_NOT_EXIST,
    EXISTS,
    IN,
    NOT_IN,
    Requirement,
    SelectorError,
    parse_selector,
    requirement,
)
from hyperkube.machinery.objects import Object

_LABEL_OPERATORS = {"In": IN, "NotIn": NOT_IN, "Exists": EXISTS, "DoesNotExist": DOES_NOT_EXIST}
_FIELD_OPERATORS: dict[str, Literal["=", "!="]] = {"In": "=", "NotIn": "!="}


class Narrowed(NamedTuple):
    """Both parsed selectors, and the text for ``status.evaluationError`` if parts could not be parsed."""

    fields: tuple[FieldRequirement, ...]
    labels: tuple[Requirement, ...]
    error: str


def selector_problems(path: Path, attributes: Object) -> list[FieldError]:
    """Check ``fieldSelector`` and ``labelSelector`` of the resource attributes at a path."""
    errors: list[FieldError] = []
    for member in ("fieldSelector", "labelSelector"):
        selector, at = attributes.get(member), path.child(member)
        if selector is None:
            continue
        raw, rows = selector.get("rawSelector") or "", selector.get("requirements") or []
        if raw and rows:
            errors.append(invalid(at.child("rawSelector"), raw, "may not specified at the same time as requirements"))
        if not raw and not rows:
            text = f"when {at} is specified, requirements or rawSelector is required"
            errors.append(required(at.child("requirements"), text))
        for index, row in enumerate(rows):
            errors += _row_problems(at.child("requirements").index(index), row, labels=member == "labelSelector")
    return errors


def _row_problems(path: Path, row: Object, *, labels: bool) -> list[FieldError]:
    key, operator, values = row.get("key") or "", row.get("operator") or "", row.get("values") or []
    errors = [] if key or labels else [required(path.child("key"), "must be specified")]
    if operator in {"In", "NotIn"} and not values:
        errors.append(required(path.child("values"), "must be specified when `operator` is 'In' or 'NotIn'"))
    if operator in {"Exists", "DoesNotExist"} and values:
        text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        errors.append(forbidden(path.child("values"), text))
    if labels:
        errors += [invalid(path.child("key"), key, text) for text in names.qualified_name(key)]
        for index, value in enumerate(values):
            at = path.child("values").index(index)
            errors += [invalid(at, value, text) for text in names.label_value(value)]
    return errors


def narrowed(attributes: Object) -> Narrowed:
    """Return the selectors of resource attributes that have no problems."""
    by_field, lost_fields = _fields(attributes.get("fieldSelector") or {})
    by_label, lost_labels = _labels(attributes.get("labelSelector") or {})
    errors = [
        f"spec.resourceAttributes.{member} {'partially ' if found else ''}ignored due to parse error"
        for member, found, lost in (
            ("fieldSelector", by_field, lost_fields),
            ("labelSelector", by_label, lost_labels),
        )
        if lost
    ]
    return Narrowed(by_field, by_label, "; ".join(errors))


def _fields(selector: Object) -> tuple[tuple[FieldRequirement, ...], bool]:
    """Return the requirements, and whether some could not be parsed."""
    raw = selector.get("rawSelector") or ""
    if raw:
        try:
            return parse_field_selector(raw).requirements, False
        except FieldSelectorError:
            return (), True
    rows, found = selector.get("requirements") or [], list[FieldRequirement]()
    for row in rows:
        operator, values = _FIELD_OPERATORS.get(row.get("operator") or ""), row.get("values") or []
        if operator is not None and len(values) == 1:
            found.append(FieldRequirement(str(row["key"]), operator, str(values[0])))
    return tuple(found), len(found) < len(rows)


def _labels(selector: Object) -> tuple[tuple[Requirement, ...], bool]:
    raw = selector.get("rawSelector") or ""
    if raw:
        try:
            return parse_selector(raw).requirements, False
        except SelectorError:
            return (), True
    rows, found = selector.get("requirements") or [], list[Requirement]()
    for row in rows:
        operator = _LABEL_OPERATORS.get(row.get("operator") or "")
        if operator is None:
            continue
        try:
            found.append(requirement(str(row["key"]), operator, row.get("values") or ()))
        except SelectorError:
            continue
    return tuple(found), len(found) < len(rows)
