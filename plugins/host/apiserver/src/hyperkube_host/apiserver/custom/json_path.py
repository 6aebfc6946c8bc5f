"""Kubernetes' JSONPath, as columns, selectable fields and ``/scale`` of custom resources use it.

A path that does not fit an object (an index beyond a list's end, a comparison of a text with a number) finds nothing,
as one whose members are not there. Source: kubernetes client-go ``util/jsonpath``.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

_Step = Callable[[list[Any]], list[Any]]

_NAME = re.compile(r"(?:\\.|[^\\ \t\r\n.,\[\]$@{}])*")
_SLICE = re.compile(r"(-?\d{0,18})(:-?\d{0,18})?(:-?\d{0,18})?", re.ASCII)
_FILTER = re.compile(r"""\[\?\(((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^"')])*)\)\]""")
_COMPARISON = re.compile(r"([^!<>=]+)([!<>=]+)(.+)")
_NUMBER = re.compile(r"[+-]?[\d.]+")
_OPERATORS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class _UnfitError(ValueError):
    """The path has no form, or does not fit the object."""


def find(obj: Any, path: str) -> list[Any]:
    """Return all values at a path such as ``.conditions[?(@.type=="Ready")].status``; none if it does not fit."""
    text = path.strip().removeprefix("{").removesuffix("}")
    found = [obj]
    try:
        for step in _steps(text if text.startswith((".", "[")) else f".{text}"):
            found = step(found)
    except _UnfitError:
        return []
    return found


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


@lru_cache(maxsize=4096)
def _steps(text: str) -> tuple[_Step, ...]:
    steps: list[_Step] = []
    position = 0
    while position < len(text):
        if text[position] in " @$":
            position += 1
            continue
        found, position = _next(text, position)
        steps += found
    return tuple(steps)


def _next(text: str, at: int) -> tuple[list[_Step], int]:
    """Return what the part of a path at a place does, and where the next one begins."""
    if text.startswith("[?(", at):
        asked = _FILTER.match(text, at)
        if asked is None:
            raise _UnfitError(text)
        return [_filter(asked[1])], asked.end()
    if text.startswith("..", at):
        named = text[at + 2 : at + 3]
        if not (named.isalnum() or named == "_"):
            return [_recursive], at + 2
        steps, end = _name(text, at + 2)
        return [_recursive, *steps], end
    if text[at] == ".":
        return _name(text, at + 1)
    end = text.find("]", at)
    if text[at] != "[" or end < 0:
        raise _UnfitError(text)
    return _bracket(text[at + 1 : end]), end + 1


def _name(text: str, at: int) -> tuple[list[_Step], int]:
    name = _NAME.match(text, at)
    assert name is not None  # noqa: S101 -- it matches nothing as well
    return [_wildcard if name[0] == "*" else _member(name[0].replace("\\", ""))], name.end()


def _bracket(text: str) -> list[_Step]:
    parts = text.split(",")
    if len(parts) > 1:
        united = [_bracket(part.strip(" ")) for part in parts]
        return [lambda found: [value for steps in united for value in _after(steps, found)]]
    if len(text) > 1 and text[0] == text[-1] == "'":
        return list(_steps("." + text[1:-1]))
    bounds = _SLICE.fullmatch(":" if text == "*" else text)
    if bounds is None:
        raise _UnfitError(text)
    start, stop, step = ((None if part is None else part.removeprefix(":")) for part in bounds.groups())
    return [_slice(_whole(start), None if stop is None else stop, _whole(step))]


def _whole(text: str | None) -> int | None:
    if text == "-":
        raise _UnfitError(text)
    return int(text) if text else None


def _after(steps: list[_Step], found: list[Any]) -> list[Any]:
    for step in steps:
        found = step(found)
    return found


def _member(name: str) -> _Step:
    def step(found: list[Any]) -> list[Any]:
        return [item[name] for item in found if isinstance(item, dict) and name in item]

    return step


def _children(item: Any) -> list[Any]:
    if isinstance(item, dict):
        return [item[name] for name in sorted(item)]
    return item if isinstance(item, list) else []


def _wildcard(found: list[Any]) -> list[Any]:
    return [value for item in found for value in _children(item)]


def _recursive(found: list[Any]) -> list[Any]:
    result = []
    for item in found:
        inner = _children(item)
        if inner:
            result += [item, *_recursive(inner)]
    return result


def _slice(start: int | None, stop_text: str | None, step: int | None) -> _Step:
    """Return the items from an index on; a missing second text means that one item only, an empty one all of them."""
    single = stop_text is None
    stop = (start or 0) + 1 if single else _whole(stop_text)

    def taken(item: Any) -> list[Any]:
        if not isinstance(item, list):
            raise _UnfitError("no list")
        size = len(item)
        begin = (start or 0) + (size if (start or 0) < 0 else 0)
        end = size if stop is None else stop
        if end < 0 or (single and end == 0):
            end += size
        if begin == end:
            return []
        if not 0 <= begin < size or not begin <= end <= size or (step is not None and step <= 0):
            raise _UnfitError("out of bounds")
        return item[begin : end : step or 1]

    return lambda found: [value for item in found if item is not None for value in taken(item)]


def _filter(text: str) -> _Step:
    comparison = _COMPARISON.fullmatch(text)
    left = list(_steps(comparison[1] if comparison else text))
    passes = _comparing(left, comparison[2], comparison[3]) if comparison else (lambda one: bool(_after(left, [one])))

    def step(found: list[Any]) -> list[Any]:
        if not all(isinstance(item, list) for item in found):
            raise _UnfitError(text)
        return [one for item in found for one in item if passes(one)]

    return step


def _comparing(left: list[_Step], symbol: str, right_text: str) -> Callable[[Any], bool]:
    right = _operand(right_text.strip())
    compare = _OPERATORS.get(symbol)
    if compare is None:
        raise _UnfitError(symbol)

    def passes(one: Any) -> bool:
        lefts, rights = _after(left, [one]), _after(right, [one])
        if len(lefts) > 1 or len(rights) > 1:
            raise _UnfitError("more than one")
        if not lefts or not rights:
            return False
        kinds = {type(lefts[0]), type(rights[0])}
        ordered = compare not in {operator.eq, operator.ne}
        if len(kinds) > 1 or not kinds <= {str, int, float, bool} or (ordered and bool in kinds):
            raise _UnfitError("not comparable")
        return bool(compare(lefts[0], rights[0]))

    return passes


def _operand(text: str) -> list[_Step]:
    """Return what gives the right side of a comparison: a constant, or a path from the item on."""
    value: Any
    if text[:1] in {"'", '"'}:
        value = re.sub(r"\\(.)", r"\1", text[1:-1])
    elif text in {"true", "false"}:
        value = text == "true"
    elif _NUMBER.fullmatch(text):
        try:
            value = float(text) if "." in text else int(text)
        except ValueError:
            raise _UnfitError(text) from None
    else:
        return list(_steps(text))
    return [lambda _found: [value]]
