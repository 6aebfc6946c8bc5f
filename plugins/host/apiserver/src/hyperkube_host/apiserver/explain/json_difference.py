"""What changed, as a JSON patch (RFC 6902): the operations that make one document into another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hyperkube.machinery.objects import Object


def json_difference(before: Any, after: Any) -> list[Object]:
    """Return operations (add, remove, replace) that turn `before` into `after`; the empty list when they are equal.

    Lists are compared from both ends, so that one item put in or taken out is one operation.
    """
    return [*_changes(before, after, "")]


def _changes(before: Any, after: Any, path: str) -> Iterator[Object]:
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _in_object(before, after, path)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _in_list(before, after, path)
    elif not _same(before, after):
        yield {"op": "replace", "path": path, "value": after}


def _same(before: Any, after: Any) -> bool:
    """Tell whether two values are equal in JSON, in which ``true`` is not ``1``."""
    return bool(before == after) and isinstance(before, bool) is isinstance(after, bool)


def _in_object(before: Object, after: Object, path: str) -> Iterator[Object]:
    for name in before:
        if name not in after:
            yield {"op": "remove", "path": _below(path, name)}
    for name, value in after.items():
        if name in before:
            yield from _changes(before[name], value, _below(path, name))
        else:
            yield {"op": "add", "path": _below(path, name), "value": value}


def _in_list(before: list[Any], after: list[Any], path: str) -> Iterator[Object]:
    shorter = min(len(before), len(after))
    first = 0
    while first < shorter and not [*_changes(before[first], after[first], "")]:
        first += 1
    last = 0
    while last < shorter - first and not [*_changes(before[-1 - last], after[-1 - last], "")]:
        last += 1
    old, new = before[first : len(before) - last], after[first : len(after) - last]
    for index in range(len(old) - 1, len(new) - 1, -1):
        yield {"op": "remove", "path": f"{path}/{first + index}"}
    for index, value in enumerate(new):
        if index < len(old):
            yield from _changes(old[index], value, f"{path}/{first + index}")
        else:
            yield {"op": "add", "path": f"{path}/{first + index}", "value": value}


def _below(path: str, name: str) -> str:
    return f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
