"""What the places that ``/scale`` reads must hold in a custom object.

Source: kubernetes apiextensions-apiserver ``pkg/registry/customresource/validator.go`` (ValidateScaleSpec, …Status).
"""

from __future__ import annotations

from typing import Any

from hyperkube.machinery.field import FieldError, Path, invalid
from hyperkube.machinery.objects import Object
from hyperkube.machinery.patch.refusal import go_type, shown

_INT32_MAX = 2**31 - 1
_WANTED = {int: "int64", str: "string"}


def spec_errors(obj: Object, paths: Object | None) -> list[FieldError]:
    """Return what is wrong with the replicas that are wished for."""
    return _replicas(obj, str(paths.get("specReplicasPath") or "")) if paths is not None else []


def status_errors(obj: Object, paths: Object | None) -> list[FieldError]:
    """Return what is wrong with the replicas that there are, and with the selector as text."""
    if paths is None:
        return []
    errors = _replicas(obj, str(paths.get("statusReplicasPath") or ""))
    selector = str(paths.get("labelSelectorPath") or "")
    if selector:
        _, problem = _read(obj, selector, str)
        errors += [invalid(Path(selector), "", problem)] if problem else []
    return errors


def _replicas(obj: Object, path: str) -> list[FieldError]:
    replicas, problem = _read(obj, path, int)
    if problem:
        return [invalid(Path(path), 0, problem)]
    if replicas is not None and replicas < 0:
        return [invalid(Path(path), replicas, "should be a non-negative integer")]
    if replicas is not None and replicas > _INT32_MAX:
        return [invalid(Path(path), replicas, f"should be less than or equal to {_INT32_MAX}")]
    return []


def _read(obj: Object, path: str, wanted: type) -> tuple[Any, str]:
    """Return the value at a path (None: there is none) and why it cannot be had as the wanted type, or nothing."""
    value: Any = obj
    names = path.removeprefix(".").split(".")
    for name in names:
        if not isinstance(value, dict):
            return None, _wrong(names, value, "map[string]interface{}")
        if name not in value:
            return None, ""
        value = value[name]
    if type(value) is not wanted:
        return None, _wrong(names, value, _WANTED[wanted])
    return value, ""


def _wrong(names: list[str], value: Any, wanted: str) -> str:
    return f".{'.'.join(names)} accessor error: {shown(value)} is of the type {go_type(value)}, expected {wanted}"
