"""Lists, sets and optional values.

Source: kubernetes apiserver ``pkg/cel/library/lists.go``; cel-go ``ext/lists.go``, ``ext/sets.go``, ``cel/library.go``.
"""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

from hyperkube_lib.cel.errors import EvaluationError, NoSuchOverload
from hyperkube_lib.cel.functions import Library
from hyperkube_lib.cel.library.operators import add
from hyperkube_lib.cel.values import NONE, Optional, equal, kind_of

LISTS = Library()
_COMPARABLE = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_SUMMABLE = ("int", "uint", "double", "duration")


def _length(items: list[Any], *_rest: Any) -> int:
    return len(items)


def _alike(items: list[Any]) -> list[Any]:
    if len({kind_of(item) for item in items}) > 1 or any(kind_of(item) not in _COMPARABLE for item in items):
        raise NoSuchOverload
    return items


@LISTS.method("isSorted", *(f"list({kind}) -> bool" for kind in _COMPARABLE), cost=_length)
def is_sorted(items: list[Any]) -> bool:
    """Tell whether no item is greater than the next."""
    _alike(items)
    return all(one <= other for one, other in pairwise(items))


@LISTS.method("sum", *(f"list({kind}) -> {kind}" for kind in _SUMMABLE), cost=_length)
def total(items: list[Any]) -> Any:
    """Return the sum of all items."""
    if not items:
        return 0
    result = items[0]
    if kind_of(result) not in _SUMMABLE:
        raise NoSuchOverload
    for item in items[1:]:
        result = add(result, item)
    return timedelta(0) + result if isinstance(result, timedelta) else result


@LISTS.method("min", *(f"list({kind}) -> {kind}" for kind in _COMPARABLE), cost=_length)
def least(items: list[Any]) -> Any:
    """Return the smallest item."""
    if not items:
        raise EvaluationError("min called on empty list")
    return min(_alike(items))


@LISTS.method("max", *(f"list({kind}) -> {kind}" for kind in _COMPARABLE), cost=_length)
def greatest(items: list[Any]) -> Any:
    """Return the largest item."""
    if not items:
        raise EvaluationError("max called on empty list")
    return max(_alike(items))


@LISTS.method("indexOf", "list(A), A -> int", cost=_length)
def index_of(items: list[Any], wanted: Any) -> int:
    """Return the place of the first equal item, -1 without one."""
    return next((place for place, item in enumerate(items) if equal(item, wanted)), -1)


@LISTS.method("lastIndexOf", "list(A), A -> int", cost=_length)
def last_index_of(items: list[Any], wanted: Any) -> int:
    """Return the place of the last equal item, -1 without one."""
    return next((place for place in range(len(items) - 1, -1, -1) if equal(items[place], wanted)), -1)


@LISTS.method("slice", "list(A), int, int -> list(A)", cost=_length)
def cut(items: list[Any], start: int, end: int) -> list[Any]:
    """Return the items between two places."""
    if start < 0 or end < 0:
        raise EvaluationError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise EvaluationError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(items):
        raise EvaluationError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return items[start:end]


@LISTS.method("flatten", "list(list(A)) -> list(A)", "list(dyn), int -> list(dyn)", cost=_length)
def flatten(items: list[Any], depth: int = 1) -> list[Any]:
    """Return nested lists as one."""
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    flat: list[Any] = []
    for item in items:
        flat += flatten(item, depth - 1) if isinstance(item, list) and depth else [item]
    return flat


@LISTS.method("sort", *(f"list({kind}) -> list({kind})" for kind in _COMPARABLE), cost=_length)
def sort(items: list[Any]) -> list[Any]:
    """Return the items in order."""
    return sort_by_keys(items, items)


@LISTS.method("@sortByAssociatedKeys", *(f"list(A), list({kind}) -> list(A)" for kind in _COMPARABLE), cost=_length)
def sort_by_keys(items: list[Any], keys: list[Any]) -> list[Any]:
    """Return the items in the order of their keys.

    Raises:
        EvaluationError: keys have no order, or several types.
    """
    if keys and kind_of(keys[0]) not in _COMPARABLE:
        raise EvaluationError("list elements must be comparable")
    if any(kind_of(key) != kind_of(keys[0]) for key in keys):
        raise EvaluationError("list elements must have the same type")
    places = sorted(range(len(items)), key=keys.__getitem__)
    return [items[place] for place in places]


@LISTS.method("distinct", "list(A) -> list(A)", cost=lambda items: len(items) ** 2)
def distinct(items: list[Any]) -> list[Any]:
    """Return each item once."""
    found: list[Any] = []
    for item in items:
        if not any(equal(item, known) for known in found):
            found.append(item)
    return found


@LISTS.method("reverse", "list(A) -> list(A)", cost=_length)
def reverse(items: list[Any]) -> list[Any]:
    """Return the items backwards."""
    return items[::-1]


@LISTS.function("lists.range", "int -> list(int)", cost=lambda count: max(count, 0))
def numbers(count: int) -> list[int]:
    """Return the numbers from 0 up."""
    return list(range(count))


def _product(one: list[Any], other: list[Any]) -> int:
    return len(one) * len(other)


@LISTS.function("sets.contains", "list(A), list(A) -> bool", cost=_product)
def set_contains(items: list[Any], part: list[Any]) -> bool:
    """Tell whether every item of the second is in the first."""
    return all(any(equal(wanted, item) for item in items) for wanted in part)


@LISTS.function("sets.equivalent", "list(A), list(A) -> bool", cost=_product)
def set_equivalent(one: list[Any], other: list[Any]) -> bool:
    """Tell whether two lists have the same items."""
    return set_contains(one, other) and set_contains(other, one)


@LISTS.function("sets.intersects", "list(A), list(A) -> bool", cost=_product)
def set_intersects(one: list[Any], other: list[Any]) -> bool:
    """Tell whether two lists have an item in common."""
    return any(equal(item, another) for item in one for another in other)


@LISTS.method("first", "list(A) -> optional(A)")
def first(items: list[Any]) -> Optional:
    """Return the first item, if any."""
    return Optional(items[0]) if items else NONE


@LISTS.method("last", "list(A) -> optional(A)")
def last(items: list[Any]) -> Optional:
    """Return the last item, if any."""
    return Optional(items[-1]) if items else NONE


@LISTS.function("optional.of", "A -> optional(A)")
def optional_of(value: Any) -> Optional:
    """Return a value that is present."""
    return Optional(value)


@LISTS.function("optional.none", "-> optional(A)")
def optional_none() -> Optional:
    """Return the absent value."""
    return NONE


@LISTS.function("optional.ofNonZeroValue", "A -> optional(A)")
def optional_of_non_zero(value: Any) -> Optional:
    """Return a value that is present unless it is empty or nought."""
    empty = (
        value is None or value is False or (isinstance(value, int | float | str | bytes | list | dict) and not value)
    )
    return NONE if empty else Optional(value)


@LISTS.method("hasValue", "optional(A) -> bool")
def has_value(value: Optional) -> bool:
    """Tell whether a value is present."""
    return value.present


@LISTS.method("value", "optional(A) -> A")
def value_of(value: Optional) -> Any:
    """Return the value that is present."""
    if not value.present:
        raise EvaluationError("optional.none() dereference")
    return value.value


@LISTS.method("orValue", "optional(A), A -> A")
def or_value(value: Optional, other: Any) -> Any:
    """Return the value, or another when it is absent."""
    return value.value if value.present else other


@LISTS.method("or", "optional(A), optional(A) -> optional(A)")
def or_optional(value: Optional, other: Optional) -> Optional:
    """Return the first that is present."""
    return value if value.present else other


@LISTS.function("optional.unwrap", "list(optional(A)) -> list(A)")
@LISTS.method("unwrapOpt", "list(optional(A)) -> list(A)")
def unwrap(items: list[Optional]) -> list[Any]:
    """Return the items that are present."""
    return [item.value for item in items if item.present]
