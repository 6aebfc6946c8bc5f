"""Puts another server's OpenAPI document of version 2 into ours, without letting it change what ours says.

Source: kube-openapi ``pkg/aggregator/aggregator.go`` (MergeSpecsIgnorePathConflictRenamingDefinitionsAndParameters).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hyperkube.machinery.objects import Object

_PREFIX = "#/definitions/"


def part_of(document: Object, prefixes: tuple[str, ...]) -> Object:
    """Return the paths below the prefixes, with the definitions that they lead to."""
    paths = {
        path: item
        for path, item in (document.get("paths") or {}).items()
        if any(path.startswith(f"{prefix}/") or path == prefix for prefix in prefixes)
    }
    known = document.get("definitions") or {}
    found: dict[str, Any] = {}
    due = [paths]
    while due:
        for name in _references(due.pop()):
            if name in known and name not in found:
                found[name] = known[name]
                due.append(known[name])
    return {"paths": paths, "definitions": found}


def merged(local: Object, others: list[Object]) -> Object:
    """Return our document with the parts of others, the most important first.

    A path that is there already stays as it is. A definition that says something else than the one of its name gets
    the name of a further version (``NAME_v2``), and whatever refers to it says so.
    """
    paths, definitions = dict(local.get("paths") or {}), dict(local.get("definitions") or {})
    for other in others:
        names = {name: _free(name, body, definitions) for name, body in other["definitions"].items()}
        renamed = {name: new for name, new in names.items() if name != new}

        def rename(name: str, renamed: Mapping[str, str] = renamed) -> str:
            return renamed.get(name, name)

        for name, body in other["definitions"].items():
            definitions.setdefault(names[name], _rewritten(body, rename) if renamed else body)
        for path, item in other["paths"].items():
            paths.setdefault(path, _rewritten(item, rename) if renamed else item)
    return {**local, "paths": dict(sorted(paths.items())), "definitions": dict(sorted(definitions.items()))}


def _free(name: str, body: Any, taken: Mapping[str, Any]) -> str:
    candidate, number = name, 1
    while candidate in taken and taken[candidate] != body:
        number += 1
        candidate = f"{name}_v{number}"
    return candidate


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        reference = value.get("$ref")
        own = [reference.removeprefix(_PREFIX)] if isinstance(reference, str) else []
        return own + [name for inner in value.values() for name in _references(inner)]
    if isinstance(value, list):
        return [name for inner in value for name in _references(inner)]
    return []


def _rewritten(value: Any, rename: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {
            key: f"{_PREFIX}{rename(inner.removeprefix(_PREFIX))}"
            if key == "$ref" and isinstance(inner, str)
            else _rewritten(inner, rename)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_rewritten(inner, rename) for inner in value]
    return value
