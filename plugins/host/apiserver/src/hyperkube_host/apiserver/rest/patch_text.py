"""A patched document as refusals show it: the JSON text that Kubernetes' patch library would write.

The library decodes only what a patch touches: such objects come out with their members sorted, all others as they were.
Source: evanphx/json-patch v4 ``patch.go`` (lazyNode).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from hyperkube.machinery.schema import DecodeError
from hyperkube.machinery.schema.mismatch import TypeMismatch

_CONVERTED = {"string": "string", "bool": "bool", "number": "int64", "array": "slice", "object": "map"}
_BASICS = ("int32", "int64", "bool", "float64", "string")

Place = tuple[str, ...]


def touched(patch_type: str, content: Any) -> frozenset[Place]:
    """Return the places of the objects that a JSON or merge patch touches."""
    found: set[Place] = {()}
    if patch_type == "application/json-patch+json":
        for operation in content if isinstance(content, list) else ():
            for member in ("path", "from"):
                if isinstance(operation, dict) and isinstance(operation.get(member), str):
                    parts = operation[member].split("/")[1:-1]
                    found |= {tuple(parts[:depth]) for depth in range(len(parts) + 1)}
    else:
        found |= set(_objects(content, ()))
    return frozenset(found)


def _objects(content: Any, place: Place) -> Iterable[Place]:
    if isinstance(content, dict):
        yield place
        for name, value in content.items():
            yield from _objects(value, (*place, name))


def go_text(document: Any, places: frozenset[Place] | None) -> str:
    """Return the document's JSON with the members of touched objects sorted; of all objects without `places`."""
    if places is None:
        return json.dumps(document, separators=(",", ":"), ensure_ascii=False, sort_keys=True)
    return json.dumps(_ordered(document, (), places), separators=(",", ":"), ensure_ascii=False)


def _ordered(value: Any, place: Place, places: frozenset[Place]) -> Any:
    if isinstance(value, list):
        return [_ordered(item, (*place, str(index)), places) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    names = sorted(value) if place in places else value
    return {name: _ordered(value[name], (*place, name), places) for name in names}


def converter_text(error: DecodeError) -> str:
    """Return why a strategically merged object does not fit its type: another decoder reads it, with other words.

    Source: kubernetes apimachinery ``pkg/runtime/converter.go`` (fromUnstructured).
    """
    if not isinstance(error, TypeMismatch):
        return str(error)
    met = _CONVERTED.get(error.value.partition(" ")[0], error.value)
    if error.kind in {"map", "slice"}:
        return f"cannot restore {error.kind} from {met}"
    if error.kind == "string" and met == "int64":
        return f"cannot convert {met} to {error.go_type}"
    return f"unrecognized type: {error.kind}" if error.kind in _BASICS else f"cannot restore struct from: {met}"
