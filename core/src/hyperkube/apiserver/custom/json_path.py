"""The part of JSONPath that printer columns and ``/scale`` use: members, indices, and filters on one member.

Source: kubernetes client-go ``util/jsonpath``.
"""

from __future__ import annotations

import re
from typing import Any

_STEP = re.compile(
    r"""\.(?P<name>(?:\\.|[^.\[\\])+)|\[(?P<index>-?\d+|\*)\]|\['(?P<quoted>[^']*)'\]"""
    r"""|\[\?\(@\.(?P<member>[\w.]+)\s*==\s*["'](?P<value>[^"']*)["']\)\]"""
)


def find(obj: Any, path: str) -> list[Any]:
    """Return all values at a path such as ``.status.conditions[?(@.type=="Ready")].status``; none if it has no form."""
    found, position = [obj], 0
    text = path.strip().removeprefix("{").removesuffix("}")
    text = text if text.startswith((".", "[")) else f".{text}"
    while position < len(text):
        step = _STEP.match(text, position)
        if step is None:
            return []
        found = [value for item in found for value in _follow(item, step)]
        position = step.end()
    return found


def _follow(item: Any, step: re.Match[str]) -> list[Any]:
    name = step["name"] if step["name"] is not None else step["quoted"]
    if name is not None:
        name = name.replace("\\", "")
        return [item[name]] if isinstance(item, dict) and name in item else []
    if not isinstance(item, list):
        return []
    if step["member"] is not None:
        return [one for one in item if isinstance(one, dict) and one.get(step["member"]) == step["value"]]
    if step["index"] == "*":
        return list(item)
    index = int(step["index"])
    return [item[index]] if -len(item) <= index < len(item) else []


def first(obj: Any, path: str) -> Any:
    """Return the first value at a path, or None."""
    found = find(obj, path)
    return found[0] if found else None


def put(obj: Any, path: str, value: Any) -> None:
    """Set the value at a path of members only, making objects on the way."""
    *parents, last = path.strip(".").split(".")
    for name in parents:
        obj = obj.setdefault(name, {})
    obj[last] = value
