"""What a call can cost at most, and how large its result can get.

Source: cel-go ``checker/cost.go`` (functionCost), ``ext/sets.go``; kubernetes apiserver ``pkg/cel/library/cost.go``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from hyperkube_lib.cel.functions import Overload
from hyperkube_lib.cel.ranges import LIMIT, ONE, UNKNOWN, Range, exactly
from hyperkube_lib.cel.syntax import Literal, Node
from hyperkube_lib.cel.types import Type

from hyperkube.machinery.dataclass import dataclass

TRAVERSAL = 0.1
"""The cost of a character that a function goes through."""

_PATTERN = 0.25
_LONGEST_FORMAT_PATTERN = 128
_CHECK = exactly(350_000)
_ADDRESS = Range(4, 16)
_TEXTS = {"string", "bytes"}
_PLAIN_EQUALITY = ("kubernetes.", "net.")


@dataclass(frozen=True, slots=True)
class Argument:
    """What a call is given: the node, its type and size; `item` is the size of a list's items."""

    node: Node
    type: Type
    size: Range
    item: Range | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """The cost of a call without its arguments, and the size of the result where that is known."""

    cost: Range
    size: Range | None = None


Target: TypeAlias = Argument | None
Rule: TypeAlias = Callable[[Argument, Sequence[Argument]], Estimate]


def call_cost(name: str, overload: Overload, target: Target, arguments: Sequence[Argument]) -> Estimate:
    """Return the cost of calling an overload; one unit where nothing else is known."""
    if target is not None:
        rule = _METHODS.get(name)
        return rule(target, arguments) if rule is not None else Estimate(ONE)
    kinds = [one.name for one in overload.parameters]
    if name == "url":
        return Estimate(arguments[0].size.scaled(TRAVERSAL))
    if name in {"bytes", "string"} and kinds[0] == ("string" if name == "bytes" else "bytes"):
        size = arguments[0].size
        made = Range(size.least, min(size.most * 4, LIMIT)) if name == "bytes" else Range(size.least // 4, size.most)
        return Estimate(size.scaled(TRAVERSAL), made)
    if name in _SETS:
        return Estimate((arguments[0].size * arguments[1].size).scaled(_SETS[name]) + ONE)
    if name == "strings.quote":
        size = arguments[0].size
        return Estimate(size.scaled(TRAVERSAL), Range(size.least + 2, min(size.most * 2 + 2, LIMIT)))
    return _operator(name, kinds, arguments)


def _operator(name: str, kinds: Sequence[str], arguments: Sequence[Argument]) -> Estimate:
    if name == "@in" and kinds[1] == "list":
        return Estimate(arguments[1].size)
    if name == "_+_" and kinds[0] in {*_TEXTS, "list"}:
        size = arguments[0].size + arguments[1].size
        return Estimate(ONE if kinds[0] == "list" else size.scaled(TRAVERSAL), size)
    if name in {"_==_", "_!=_"} or (name in {"_<_", "_<=_", "_>_", "_>=_"} and kinds[0] in _TEXTS):
        return Estimate(_compared(name, arguments))
    return Estimate(ONE)


def _compared(name: str, arguments: Sequence[Argument]) -> Range:
    one, other = arguments
    if name == "_==_" and one.type == other.type and one.type.name.startswith(_PLAIN_EQUALITY):
        return ONE
    most = min(one.size.most, other.size.most)
    return Range(1 if most else 0, most).scaled(TRAVERSAL)


def _traversed(target: Argument, _arguments: Sequence[Argument]) -> Estimate:
    return Estimate(target.size.scaled(TRAVERSAL), target.size)


def _each(target: Argument, _arguments: Sequence[Argument]) -> Estimate:
    if target.type.name != "list":
        return Estimate(target.size.scaled(TRAVERSAL))
    texts = target.type.parameters[0].name in _TEXTS
    return Estimate(target.size * (ONE + (target.item or UNKNOWN).scaled(TRAVERSAL) if texts else ONE))


def _contains(target: Argument, arguments: Sequence[Argument]) -> Estimate:
    return Estimate(target.size.scaled(TRAVERSAL) * arguments[0].size.scaled(TRAVERSAL))


def _affix(_target: Argument, arguments: Sequence[Argument]) -> Estimate:
    return Estimate(arguments[0].size.scaled(TRAVERSAL))


def _matched(target: Argument, arguments: Sequence[Argument]) -> Estimate:
    return Estimate((target.size + ONE).scaled(TRAVERSAL) * arguments[0].size.scaled(_PATTERN))


def _found(target: Argument, arguments: Sequence[Argument]) -> Estimate:
    return Estimate(_matched(target, arguments).cost, Range(0, target.size.most))


def _split(target: Argument, arguments: Sequence[Argument]) -> Estimate:
    most = target.size.most
    if len(arguments) > 1 and isinstance(arguments[1].node, Literal) and isinstance(arguments[1].node.value, int):
        count = int(arguments[1].node.value)
        most = count if count >= 0 else LIMIT
    return Estimate(target.size.scaled(2 * TRAVERSAL), Range(0, most))


def _joined(target: Argument, arguments: Sequence[Argument]) -> Estimate:
    size = target.size * (target.item or UNKNOWN)
    if arguments:
        between = Range(max(target.size.least - 1, 0), max(target.size.most - 1, 0))
        size += arguments[0].size * between
    return Estimate(size.scaled(TRAVERSAL), size)


def _replaced(target: Argument, arguments: Sequence[Argument]) -> Estimate:
    size, old, new = target.size, arguments[0].size, arguments[1].size
    kept_most = size.most if old.least == 0 or new.most <= old.least else 0
    times_most = _times(size.most, old.least, grows=new.most > old.least)
    kept_least = size.least if old.most == 0 or old.most <= new.least else 0
    times_least = _times(size.least, old.most, grows=old.most > new.least)
    made = Range(times_least, times_most) * new + Range(kept_least, kept_most)
    return Estimate(size.scaled(2 * TRAVERSAL), made)


def _times(length: int, old: int, *, grows: bool) -> int:
    """Return how often a text of that length has something to replace."""
    if old == 0:
        return min(length + 1, LIMIT)
    return math.ceil(length / old) if grows else 0


def _validated(_target: Argument, arguments: Sequence[Argument]) -> Estimate:
    return Estimate(arguments[0].size.scaled(TRAVERSAL).scaled(_LONGEST_FORMAT_PATTERN * _PATTERN))


def _formatted(target: Argument, _arguments: Sequence[Argument]) -> Estimate:
    return Estimate(target.size.scaled(TRAVERSAL))


def _contains_address(_target: Argument, arguments: Sequence[Argument]) -> Estimate:
    cost = (_ADDRESS + _ADDRESS).scaled(TRAVERSAL)
    text = arguments[0].type.name == "string"
    return Estimate(cost + arguments[0].size.scaled(TRAVERSAL) if text else cost)


def _contains_network(target: Argument, arguments: Sequence[Argument]) -> Estimate:
    return Estimate(_contains_address(target, arguments).cost + _ADDRESS.scaled(TRAVERSAL) + ONE)


def _check(_target: Argument, _arguments: Sequence[Argument]) -> Estimate:
    return Estimate(_CHECK)


_SETS = {"sets.contains": 1.0, "sets.intersects": 1.0, "sets.equivalent": 2.0}
_METHODS: dict[str, Rule] = {
    "check": _check,
    "contains": _contains,
    "containsCIDR": _contains_network,
    "containsIP": _contains_address,
    "endsWith": _affix,
    "find": _found,
    "findAll": _found,
    "format": _formatted,
    "indexOf": _each,
    "isSorted": _each,
    "join": _joined,
    "lastIndexOf": _each,
    "lowerAscii": _traversed,
    "matches": _matched,
    "max": _each,
    "min": _each,
    "replace": _replaced,
    "split": _split,
    "startsWith": _affix,
    "substring": _traversed,
    "sum": _each,
    "trim": _traversed,
    "upperAscii": _traversed,
    "validate": _validated,
}
