"""One evaluation and the steps it is made of: operators, fields and items.

``&&`` and ``||`` give their answer when either side decides it, even if the other fails, as the language demands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from hyperkube_lib.cel.errors import CostExceeded, EvaluationError, NoSuchOverload
from hyperkube_lib.cel.values import NONE, Optional, UInt, equal, kind_of


class Frame:
    """One evaluation: the values of names, and the cost so far."""

    __slots__ = ("cost", "limit", "names")

    def __init__(self, names: dict[str, Any], limit: int) -> None:
        self.names = names
        self.cost = 0
        self.limit = limit

    def spend(self, units: int) -> None:
        """Count units.

        Raises:
            CostExceeded: they are more than the limit.
        """
        self.cost += units
        if self.cost > self.limit:
            raise CostExceeded


Step: TypeAlias = Callable[[Frame], Any]


def opened(value: Any) -> Optional:
    """Return a value that may be absent.

    Raises:
        NoSuchOverload: it is of another kind.
    """
    if type(value) is not Optional:
        raise NoSuchOverload
    return value


def has_field(value: Any, name: str) -> bool:
    """Answer ``has(value.name)``: what has no fields, such as null, has none of that name.

    Source: cel-go ``interpreter/attributes.go`` (refQualify), as for the other fields and items here.

    Raises:
        EvaluationError: the value is a list.
    """
    if isinstance(value, list):
        raise _unsupported_index(name)
    return isinstance(value, dict) and name in value


def field_of(value: Any, name: str) -> Any:
    """Return ``value.name``.

    Raises:
        EvaluationError: there is no such field.
    """
    if isinstance(value, list):
        raise _unsupported_index(name)
    if not isinstance(value, dict):
        raise EvaluationError(f"no such key: {name}")
    try:
        return value[name]
    except KeyError:
        raise EvaluationError(f"no such key: {name}") from None


def select_optional(value: Any, name: Any) -> Optional:
    """Return ``value.?name``: absent instead of an error, also of what has no fields.

    Raises:
        EvaluationError: the value is a list, and the name no index.
    """
    if type(value) is Optional:
        if not value.present:
            return NONE
        value = value.value
    if isinstance(value, dict):
        return Optional(value[name]) if name in value else NONE
    if isinstance(value, list):
        if type(name) is not int:
            raise _unsupported_index(name)
        return Optional(value[name]) if 0 <= name < len(value) else NONE
    return NONE


def _unsupported_index(key: Any) -> EvaluationError:
    return EvaluationError(f"unsupported index type '{kind_of(key)}' in list")


def item_of(value: Any, key: Any) -> Any:
    """Return ``value[key]``.

    Raises:
        EvaluationError: no such key or index.
    """
    if isinstance(value, dict):
        if type(key) is float and key.is_integer():
            key = int(key)
        if type(key) is bool or key not in value:
            raise EvaluationError(f"no such key: {shown_key(key)}")
        return value[key]
    if isinstance(value, list):
        if type(key) is float and key.is_integer():
            key = int(key)
        if type(key) is not int and type(key) is not UInt:
            raise _unsupported_index(key)
        if not 0 <= key < len(value):
            raise EvaluationError(f"index out of bounds: {key}")
        return value[key]
    raise EvaluationError(f"no such key: {shown_key(key)}")


def shown_key(key: Any) -> str:
    """Return a key as messages show it."""
    return str(key).lower() if isinstance(key, bool) else str(key)


def _and(steps: list[Step]) -> Step:
    left, right = steps

    def both(frame: Frame) -> bool:
        try:
            first = left(frame)
        except CostExceeded:
            raise
        except EvaluationError:
            if right(frame) is False:
                return False
            raise
        if first is False:
            return False
        second = right(frame)
        if second is False:
            return False
        if first is not True or second is not True:
            raise NoSuchOverload
        return True

    return both


def _or(steps: list[Step]) -> Step:
    left, right = steps

    def either(frame: Frame) -> bool:
        try:
            first = left(frame)
        except CostExceeded:
            raise
        except EvaluationError:
            if right(frame) is True:
                return True
            raise
        if first is True:
            return True
        second = right(frame)
        if second is True:
            return True
        if first is not False or second is not False:
            raise NoSuchOverload
        return False

    return either


def _not(steps: list[Step]) -> Step:
    (operand,) = steps

    def negate(frame: Frame) -> bool:
        value = operand(frame)
        frame.cost += 1
        if type(value) is not bool:
            raise NoSuchOverload
        return not value

    return negate


def _choose(steps: list[Step]) -> Step:
    condition, then, otherwise = steps

    def choose(frame: Frame) -> Any:
        value = condition(frame)
        if type(value) is not bool:
            raise NoSuchOverload
        return then(frame) if value else otherwise(frame)

    return choose


def _equals(steps: list[Step]) -> Step:
    left, right = steps

    def equals(frame: Frame) -> bool:
        one, other = left(frame), right(frame)
        frame.spend(1 + _size(one) // 10)
        return equal(one, other)

    return equals


def _differs(steps: list[Step]) -> Step:
    same = _equals(steps)
    return lambda frame: not same(frame)


def _size(value: Any) -> int:
    return len(value) if isinstance(value, str | list | dict | bytes) else 1


def _contains(steps: list[Step]) -> Step:
    left, right = steps

    def contains(frame: Frame) -> bool:
        item, container = left(frame), right(frame)
        if isinstance(container, dict):
            frame.spend(1)
            return type(item) is not bool and type(item) is not list and item in container
        if not isinstance(container, list):
            raise NoSuchOverload
        frame.spend(1 + len(container))
        return any(equal(item, one) for one in container)

    return contains


def _index(steps: list[Step]) -> Step:
    operand, index = steps

    def at(frame: Frame) -> Any:
        value, key = operand(frame), index(frame)
        frame.spend(1)
        if type(value) is Optional:
            return select_optional(value, key)
        return item_of(value, key)

    return at


def _optional_index(steps: list[Step]) -> Step:
    operand, index = steps

    def at(frame: Frame) -> Optional:
        value, key = operand(frame), index(frame)
        frame.spend(1)
        return select_optional(value, key)

    return at


INLINE: dict[str, Callable[[list[Step]], Step]] = {
    "_&&_": _and,
    "_||_": _or,
    "!_": _not,
    "_?_:_": _choose,
    "_==_": _equals,
    "_!=_": _differs,
    "@in": _contains,
    "_[_]": _index,
    "_[?_]": _optional_index,
    "_?._": _optional_index,
}
"""Operators that are evaluated without a look-up by kinds."""
