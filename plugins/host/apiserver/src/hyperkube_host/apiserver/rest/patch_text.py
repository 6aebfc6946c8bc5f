"""A patched document as refusals show it: the JSON text that Kubernetes' patch library would write.

The library decodes only what a patch touches: such objects come out with their members sorted, all others as they were.
Source: evanphx/json-patch v4 ``patch.go`` (lazyNode).
"""

from __future__ import annotations

import json
from typing import Any

from hyperkube.machinery.schema import DecodeError
from hyperkube.machinery.schema.mismatch import TypeMismatch

_CONVERTED = {"string": "string", "bool": "bool", "number": "int64", "array": "slice", "object": "map"}
_BASICS = ("int32", "int64", "bool", "float64", "string")

Places = dict[str, "Places"]
"""Places in a document as a tree of member names, of the outermost object at its root."""


def touched(patch_type: str, content: Any) -> Places:
    """Return the places of the objects that a JSON or merge patch touches."""
    if patch_type != "application/json-patch+json":
        return _objects(content)
    found: Places = {}
    for operation in content if isinstance(content, list) else ():
        for member in ("path", "from"):
            if isinstance(operation, dict) and isinstance(operation.get(member), str):
                place = found
                for part in operation[member].split("/")[1:-1]:
                    place = place.setdefault(part, {})
    return found


def _objects(content: Any) -> Places:
    if not isinstance(content, dict):
        return {}
    return {name: _objects(value) for name, value in content.items() if isinstance(value, dict)}


def go_text(document: Any, places: Places | None) -> str:
    """Return the document's JSON with the members of touched objects sorted; of all objects without `places`."""
    if places is None:
        return json.dumps(document, separators=(",", ":"), ensure_ascii=False, sort_keys=True)
    return json.dumps(_ordered(document, places), separators=(",", ":"), ensure_ascii=False)


def _ordered(value: Any, place: Places | None) -> Any:
    inside = place or {}
    if isinstance(value, list):
        return [_ordered(item, inside.get(str(index))) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    names = value if place is None else sorted(value)
    return {name: _ordered(value[name], inside.get(name)) for name in names}


def converter_text(error: DecodeError) -> str:
    """Return why a strategically merged object does not fit its type: another decoder reads it, with other words.

    Source: kubernetes apimachinery ``pkg/runtime/converter.go`` (fromUnstructured).
    """
    if not isinstance(error, TypeMismatch):
        return f"error decoding from json: {error}" if str(error).startswith("illegal base64") else str(error)
    met = _CONVERTED.get(error.value.partition(" ")[0], error.value)
    if error.kind in {"map", "slice"}:
        return f"cannot restore {error.kind} from {met}"
    if error.kind == "string" and met == "int64":
        return f"cannot convert {met} to {error.go_type}"
    return f"unrecognized type: {error.kind}" if error.kind in _BASICS else f"cannot restore struct from: {met}"
