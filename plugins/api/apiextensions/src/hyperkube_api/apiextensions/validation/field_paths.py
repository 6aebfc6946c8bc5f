"""Paths of members only, such as ``.spec.a['b.c']``: of selectable fields, and of what rules report.

Source: kubernetes apiextensions-apiserver ``pkg/apiserver/schema/cel/validation.go`` (ValidFieldPath).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hyperkube.machinery.field import ROOT, Path
from hyperkube.machinery.objects import Object

_PIECE = re.compile(r"'(?:[^'\\]|\\.)*'|[.\[\]]|[^.\[\]']+|.", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\"}


class NotAFieldPath(Exception):
    """A path that leads nowhere; ``str()`` is Kubernetes' text."""


def follow(text: str, schema: Object, *, brackets: bool = True) -> tuple[Path, Object]:
    """Return the field that a path names, and its schema.

    Args:
        text: the path.
        schema: a structural schema.
        brackets: whether ``['name']`` is allowed.

    Raises:
        NotAFieldPath: it has another form, or there is no such field.
    """
    path = ROOT
    pieces = (match.group() for match in _PIECE.finditer(text))
    for piece in pieces:
        if piece == "[" and not brackets:
            raise NotAFieldPath("array notation is not allowed")
        if piece not in {"[", "."}:
            raise NotAFieldPath(f"expected [ or . but got: {piece}")
        name = _next(pieces)
        if piece == "[":
            name = _unquoted(name)
        path, schema = _step(path, schema, name)
        if piece == "[" and (end := _next(pieces)) != "]":
            raise NotAFieldPath(f"expected ] but got {end}")
    return path, schema


def _next(pieces: Iterator[str]) -> str:
    piece = next(pieces, None)
    if piece is None:
        raise NotAFieldPath("unexpected end of JSON path")
    return piece


def _unquoted(piece: str) -> str:
    if len(piece) < len("''") or piece[0] != "'" or piece[-1] != "'":
        raise NotAFieldPath(f"expected single quoted string but got {piece}")
    return _ESCAPE.sub(_unescaped, piece[1:-1])


def _unescaped(match: re.Match[str]) -> str:
    character = _ESCAPES.get(match[1])
    if character is None:
        raise NotAFieldPath(f"invalid string literal: invalid escape char {match[0]}")
    return character


def _step(path: Path, schema: Object, name: str) -> tuple[Path, Object]:
    properties, values = schema.get("properties"), schema.get("additionalProperties")
    if properties:
        if name not in properties:
            raise NotAFieldPath("does not refer to a valid field")
        return path.child(name), properties[name]
    if values is None:
        raise NotAFieldPath("does not refer to a valid field")
    return path.key(name), values if isinstance(values, dict) else {}
