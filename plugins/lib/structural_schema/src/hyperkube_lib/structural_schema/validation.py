"""Validation of custom objects by their JSON schema, in the words of the library Kubernetes uses.

Source: k8s.io/kube-openapi ``pkg/validation/validate``, apiextensions-apiserver ``pkg/apiserver/validation``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from hyperkube_lib.structural_schema.formats import fits
from hyperkube_lib.structural_schema.former import Former
from hyperkube_lib.structural_schema.patterns import matches
from hyperkube_lib.structural_schema.structure import JsonSchema, has_anywhere

from hyperkube.machinery.field import (
    LONGEST_PATH,
    FieldError,
    Path,
    invalid,
    not_supported,
    required,
    too_long,
    type_invalid,
)

_INT_OR_STRING = "x-kubernetes-int-or-string"
_RULES = "x-kubernetes-validations"
_FLOAT_MAX = 3.4028234663852886e38
_INT64 = (-(2**63), 2**63 - 1)
_MOST_EXACT = 2**53 - 1
_LIMITS: Mapping[str, tuple[float, float]] = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": _INT64,
    "float": (-_FLOAT_MAX, _FLOAT_MAX),
}
_TYPE = frozenset({"apiVersion", "kind"})


def type_of(value: Any) -> str:
    """Return the JSON schema type of a value.

    Go reads a number beyond 64 bits, or with a fraction or an exponent, as a float; one that is whole, and that every
    reader of JSON keeps to the digit, is an integer nevertheless.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int):
        return "integer" if _INT64[0] <= value <= _INT64[1] else "number"
    if isinstance(value, float):
        return "integer" if value.is_integer() and abs(value) <= _MOST_EXACT else "number"
    return "array" if isinstance(value, list) else "object"


def validate(
    value: Any, schema: JsonSchema, path: Path, shown: str | None = None, former: Former | None = None
) -> list[FieldError]:
    """Return what is wrong with a value.

    Args:
        value: any JSON value.
        schema: what it should be.
        path: where it is.
        shown: the place as messages name it.
        former: the value beside what it was: what did not change is not held against it.
    """
    errors = _validate(value, schema, path, str(path) if shown is None else shown, former)
    return [] if errors and former is not None and former.same else errors


def _validate(value: Any, schema: JsonSchema, path: Path, shown: str, former: Former | None) -> list[FieldError]:
    if value is None and schema.get("nullable"):
        return []
    wrong = _type_error(value, schema, path, shown)
    if wrong is not None:
        return [wrong, *_format_errors(value, schema, shown)]
    errors = _enum(value, schema, path)
    check = _CHECKS.get(type_of(value))
    if check is not None:
        errors += check(value, schema, path, shown)
    elif isinstance(value, list):
        errors += _array(value, schema, path, shown, former)
    elif isinstance(value, dict):
        errors += _object(value, schema, path, shown, former)
    return errors + _combinations(value, schema, path, shown)


def _type_error(value: Any, schema: JsonSchema, path: Path, shown: str) -> FieldError | None:
    wanted, actual = schema.get("type"), type_of(value)
    if wanted == "integer" and actual == "number" and schema.get("format") in _LIMITS:
        form = schema["format"]
        return type_invalid(path, "float64", f'{shown} in body must be of type {form}: "float64"')
    if schema.get(_INT_OR_STRING):
        if actual in {"integer", "string"} and not (isinstance(value, float)):
            return None
        return type_invalid(path, actual, f'{shown} in body must be of type integer,string: "{actual}"')
    if not wanted or actual == wanted or (wanted == "number" and actual == "integer"):
        return None
    if actual == "null":
        return type_invalid(path, "null", f'{shown} in body must be of type {wanted}: "null"')
    return type_invalid(path, actual, f'{shown} in body must be of type {wanted}: "{actual}"')


def _enum(value: Any, schema: JsonSchema, path: Path) -> list[FieldError]:
    allowed = schema.get("enum")
    if not allowed or value in allowed:
        return []
    return [not_supported(path, value, [str(item) for item in allowed])]


def _string(value: str, schema: JsonSchema, path: Path, shown: str) -> list[FieldError]:
    longest, shortest, pattern = schema.get("maxLength"), schema.get("minLength"), schema.get("pattern")
    if longest is not None and len(value) > longest:
        return [too_long(path, longest)]
    if shortest is not None and len(value) < shortest:
        return [invalid(path, value, f"{shown} in body should be at least {shortest} chars long")]
    if pattern and not matches(pattern, value):
        return [invalid(path, value, f"{shown} in body should match '{pattern}'")]
    form = schema.get("format")
    if form and schema.get("type") in {None, "", "string"} and not fits(form, value):
        return [type_invalid(path, value, f'{shown} in body must be of type {form}: "{value}"')]
    return []


def _number(value: float, schema: JsonSchema, path: Path, shown: str) -> list[FieldError]:
    errors: list[FieldError] = []
    top, bottom, step = schema.get("maximum"), schema.get("minimum"), schema.get("multipleOf")
    if top is not None and (value > top or (schema.get("exclusiveMaximum") and value == top)):
        text = "less than" if schema.get("exclusiveMaximum") else "less than or equal to"
        errors.append(invalid(path, value, f"{shown} in body should be {text} {top}"))
    if bottom is not None and (value < bottom or (schema.get("exclusiveMinimum") and value == bottom)):
        text = "greater than" if schema.get("exclusiveMinimum") else "greater than or equal to"
        errors.append(invalid(path, value, f"{shown} in body should be {text} {bottom}"))
    if step and not math.isclose(value / step, round(value / step), abs_tol=1e-9):
        errors.append(invalid(path, value, f"{shown} in body should be a multiple of {step}"))
    return errors + _format_errors(value, schema, shown)


def _format_errors(value: Any, schema: JsonSchema, shown: str) -> list[FieldError]:
    """Return whether a number is one that its format cannot hold."""
    form, kind = str(schema.get("format") or ""), schema.get("type")
    if isinstance(value, bool) or not isinstance(value, int | float) or form not in _LIMITS:
        return []
    whole = isinstance(value, int) or value.is_integer()
    least, most = _LIMITS[form]
    if least <= value <= most and (whole or kind != "integer"):
        return []
    wanted = "integer" if form.startswith("int") else "number"
    return [invalid(Path(""), "", f"Checked value must be of type {wanted} with format {form} in {shown}")]


def _array(value: list[Any], schema: JsonSchema, path: Path, shown: str, former: Former | None) -> list[FieldError]:
    errors: list[FieldError] = []
    most, least, items = schema.get("maxItems"), schema.get("minItems"), schema.get("items")
    if most is not None and len(value) > most:
        errors.append(_too_many(path, len(value), most))
    if least is not None and len(value) < least:
        errors.append(invalid(path, len(value), f"{shown} in body should have at least {least} items"))
    if isinstance(items, dict):
        for index, item in enumerate(value):
            below = former.index(index) if former is not None else None
            errors += validate(item, items, path.index(index), f"{shown}[{index}]"[:LONGEST_PATH], below)
    return errors


def _too_many(path: Path, actual: int, most: int) -> FieldError:
    noun = "item" if most == 1 else "items"
    return FieldError("FieldValueTooMany", path, actual, f"must have at most {most} {noun}")


def _object(
    value: dict[str, Any], schema: JsonSchema, path: Path, shown: str, former: Former | None
) -> list[FieldError]:
    errors: list[FieldError] = []
    most, least = schema.get("maxProperties"), schema.get("minProperties")
    if most is not None and len(value) > most:
        errors.append(_too_many(path, len(value), most))
    if least is not None and len(value) < least:
        errors.append(invalid(path, len(value), f"{shown} in body should have at least {least} properties"))
    properties, values = schema.get("properties") or {}, schema.get("additionalProperties")
    errors += [required(path.child(name)) for name in schema.get("required") or () if name not in value]
    for name in sorted(value):
        inner = properties.get(name) or (values if isinstance(values, dict) else None)
        if inner is not None and not (not path and name == "metadata"):
            known = former is not None and (path or name not in _TYPE)
            below = former.key(name) if former is not None and known else None
            errors += validate(
                value[name], inner, path.child(name), f"{shown}.{name}"[:LONGEST_PATH] if shown else name, below
            )
    return errors


def _combinations(value: Any, schema: JsonSchema, path: Path, shown: str) -> list[FieldError]:
    errors: list[FieldError] = []
    failing = [wrong for inner in schema.get("allOf") or () if (wrong := validate(value, inner, path, shown))]
    if failing:
        errors += [error for each in failing for error in each]
        errors.append(invalid(Path(""), "", f'"{shown}" must validate all the schemas (allOf)'))
    one_of = schema.get("oneOf")
    if one_of:
        results = [validate(value, inner, path, shown) for inner in one_of]
        passing = sum(not result for result in results)
        if passing != 1:
            found = "none valid" if not passing else f"{passing} valid alternatives"
            text = f'"{shown}" must validate one and only one schema (oneOf). Found {found}'
            errors.append(invalid(Path(""), "", text))
            errors += results[0] if not passing else []
    any_of = schema.get("anyOf")
    if any_of and not schema.get(_INT_OR_STRING):
        results = [validate(value, inner, path, shown) for inner in any_of]
        if all(results):
            errors.append(invalid(Path(""), "", f'"{shown}" must validate at least one schema (anyOf)'))
            errors += results[0]
    banned = schema.get("not")
    if banned and not validate(value, banned, path, shown):
        errors.append(invalid(Path(""), "", f'"{shown}" must not validate the schema (not)'))
    return errors


def has_rules(schema: JsonSchema) -> bool:
    """Tell whether a schema has CEL rules anywhere."""
    return has_anywhere(schema, lambda inner: inner.get(_RULES))


_CHECKS: dict[str, Callable[[Any, JsonSchema, Path, str], list[FieldError]]] = {
    "string": _string,
    "integer": _number,
    "number": _number,
}
