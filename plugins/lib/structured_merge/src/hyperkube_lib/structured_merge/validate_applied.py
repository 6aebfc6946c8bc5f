"""What is wrong with an applied configuration, in the words of structured-merge-diff (``typed/validate.go``)."""

from __future__ import annotations

from typing import Any

from hyperkube_lib.structured_merge import field_sets
from hyperkube_lib.structured_merge.items import NoElement, element_of

from hyperkube.machinery.errors import MOST_FIELD_ERRORS
from hyperkube.machinery.field import LONGEST_PATH
from hyperkube.machinery.patch.refusal import go_type, shown
from hyperkube.machinery.schema.lookup import TypeInfo

_NUMERIC = frozenset({"int32", "int64", "float64", "integer", "number"})
_TEXT = frozenset({"string", "time", "micro_time", "duration", "bytes"})
_TRUTH = frozenset({"bool", "boolean"})


def errors_of(value: Any, info: TypeInfo | None, path: str = "") -> list[str]:
    """Return what is wrong with a value, each with its path; none for a fitting one, and about a thousand at most."""
    if info is None or value is None or info.form == "untyped":
        return []
    if info.is_scalar:
        return _scalar_errors(value, info, path)
    if info.is_list:
        return _list_errors(value, info, path)
    if not isinstance(value, dict):
        return [f"{path}: expected map, got &{{{shown(value)}}}"]
    errors: list[str] = []
    for name, member in value.items():
        if len(errors) >= MOST_FIELD_ERRORS:
            break
        known, where = info.field(name), f"{path}.{name}"[:LONGEST_PATH]
        if known is None and not info.preserves_unknown:
            errors.append(f"{where}: field not declared in schema")
        else:
            errors += errors_of(member, known, where)
    return errors


def _scalar_errors(value: Any, info: TypeInfo, path: str) -> list[str]:
    if info.name in _NUMERIC and (isinstance(value, bool) or not isinstance(value, int | float)):
        return [f"{path}: expected numeric (int or float), got {go_type(value)}"]
    if info.name in _TEXT and not isinstance(value, str):
        return [f"{path}: expected string, got &value.valueUnstructured{{Value:{shown(value)}}}"]
    if info.name in _TRUTH and not isinstance(value, bool):
        return [f"{path}: expected boolean, got &{{{shown(value)}}}"]
    return []


def _list_errors(value: Any, info: TypeInfo, path: str) -> list[str]:
    if not isinstance(value, list):
        return [f"{path}: expected list, got &{{{shown(value)}}}"]
    errors: list[str] = []
    seen: set[str] = set()
    for place, item in enumerate(value):
        if len(errors) >= MOST_FIELD_ERRORS:
            break
        element = f"i:{place}"
        if info.list_type in {"map", "set"}:
            try:
                element = element_of(item, info)
            except NoElement as error:
                return [*errors, f"{path}: element {place}: {error}"]
            if element in seen:
                errors.append(f"{path}: duplicate entries for key {field_sets.show_element(element)}")
            seen.add(element)
        errors += errors_of(item, info.items, (path + field_sets.show_element(element))[:LONGEST_PATH])
    return errors


def message_of(errors: list[str]) -> str:
    """Join the errors as structured-merge-diff does."""
    return errors[0] if len(errors) == 1 else "\n".join(["errors:", *(f"  {error}" for error in errors)])
