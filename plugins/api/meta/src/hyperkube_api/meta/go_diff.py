"""What changed, as Kubernetes shows it: a unified diff of the JSON of its own Go structs.

Refusals of changes to immutable specifications end with such a diff. Members carry their Go names, stand in Go's order
and are there even when empty, so the text is made from the schema, not from the object.
"""

from __future__ import annotations

from typing import Any

import orjson
from hyperkube_api.meta.go_shape import go_shape

from hyperkube.machinery.objects import Object


def spec_diff(schema: str, old: Object, new: Object) -> str:
    """Return the unified diff between two values of a type, three lines of context around each change.

    Args:
        schema: where the type's schema is, ``package.module:Class``.
        old: the value as it is.
        new: the value as it would be.
    """
    return shape_diff(go_shape(schema, old), go_shape(schema, new))


def shape_diff(old: Any, new: Any) -> str:
    """Return the unified diff between two values that are in the shape of Go's structs already."""
    import difflib  # with the first refusal that ends with a diff

    before, after = _lines(old), _lines(new)
    lines = list(difflib.unified_diff(before, after, lineterm=""))[2:]
    return "".join(line + "\n" for line in lines)


def _lines(value: Any) -> list[str]:
    """Return indented JSON by one blank a level, as Go's encoder writes it."""
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    return [_one_blank(line) for line in text.split("\n")]


def _one_blank(line: str) -> str:
    bare = line.lstrip(" ")
    return " " * ((len(line) - len(bare)) // 2) + bare
