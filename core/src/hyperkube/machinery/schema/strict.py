"""Where the unknown and the duplicate members are: the slow walk that runs only when there is something to report.

The walk visits a document in its own order, as Kubernetes' decoder does, so that the texts come in the same order. A
document with duplicates is given as `Members`, which keep every pair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hyperkube.machinery.field import LONGEST_PATH
from hyperkube.machinery.schema.fields import KubeField, List, Map, Struct
from hyperkube.machinery.schema.structs import members

if TYPE_CHECKING:
    from hyperkube.machinery.schema.base import KubeSchema


MOST_ERRORS = 100
"""As many are told, and no more searched for; source: sigs.k8s.io/json ``kubernetes_patch.go`` (saveStrictError)."""


def note(found: dict[str, None], text: str) -> None:
    """Add an error, unless enough were found."""
    if len(found) < MOST_ERRORS:
        found[text] = None


class Members(list[tuple[str, Any]]):
    """The members of a JSON object as they came, duplicates included."""


def strict_errors(schema: type[KubeSchema], document: Any) -> list[str]:
    """Return ``unknown field "PATH"`` and ``duplicate field "PATH"`` for a document, in its order, each once.

    There are at most `MOST_ERRORS`.
    """
    found: dict[str, None] = {}
    _struct(schema, document, "", found)
    return list(found)


def _pairs(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Members):
        return value
    return list(value.items()) if isinstance(value, dict) else []


def _struct(schema: type[KubeSchema], value: Any, path: str, found: dict[str, None]) -> None:
    if schema.shape:
        _shape(schema, value, path, found)
        return
    fields = members(schema)
    met: set[str] = set()
    for name, item in _pairs(value):
        where = (f"{path}.{name}" if path else name)[:LONGEST_PATH]
        field = fields.get(name)
        if field is None:
            note(found, f'unknown field "{where}"')
            continue
        if name in met:
            note(found, f'duplicate field "{where}"')
        met.add(name)
        _value(field, item, where, found)


def _shape(schema: type[KubeSchema], value: Any, path: str, found: dict[str, None]) -> None:
    for field in schema.declared().values():
        is_list = isinstance(value, list) and not isinstance(value, Members)
        if isinstance(field, List) == is_list:
            _value(field, value, path, found)


def _value(field: KubeField, value: Any, path: str, found: dict[str, None]) -> None:
    if isinstance(field, Struct):
        _struct(field.schema(), value, path, found)
    elif isinstance(field, List) and isinstance(value, list):
        for index, item in enumerate(value):
            _value(field.items, item, f"{path}[{index}]"[:LONGEST_PATH], found)
    elif isinstance(field, Map):
        met: set[str] = set()
        for key, item in _pairs(value):
            where = f"{path}.{key}"[:LONGEST_PATH]
            if key in met:
                note(found, f'duplicate field "{where}"')
            met.add(key)
            _value(field.items, item, where, found)
