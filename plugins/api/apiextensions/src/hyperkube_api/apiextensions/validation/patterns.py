"""Patterns of a schema are regular expressions.

Source: kubernetes apiextensions-apiserver ``pkg/apiserver/schema/validation.go``.
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperkube.machinery.field import FieldError, Path, invalid
from hyperkube.machinery.objects import Object


def wrong_patterns(path: Path, schema: Object) -> Iterator[FieldError]:
    """Return what is wrong with the patterns of a schema and of those within it."""
    pattern = schema.get("pattern")
    if pattern and (why := _fault(pattern)):
        yield invalid(path.child("pattern"), pattern, f"must be a valid regular expression, but isn't: {why}")
    for member in ("items", "not", "additionalProperties"):
        if isinstance(schema.get(member), dict):
            yield from wrong_patterns(path.child(member), schema[member])
    for member in ("allOf", "anyOf", "oneOf"):
        for index, inner in enumerate(schema.get(member) or ()):
            yield from wrong_patterns(path.child(member).index(index), inner)
    for name, inner in (schema.get("properties") or {}).items():
        yield from wrong_patterns(path.child("properties").key(name), inner)


def _fault(pattern: str) -> str:
    from hyperkube_lib.cel import EvaluationError
    from hyperkube_lib.cel.library.strings import pattern as compiled

    try:
        compiled(pattern)
    except EvaluationError as error:
        return str(error)
    return ""
