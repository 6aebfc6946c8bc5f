"""The values an expression works on.

JSON values are used as they are: None, bool, int, float, str, list, dict. The classes here are what JSON lacks.
Timestamps are aware `datetime`, durations `timedelta`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from hyperkube_lib.cel.errors import EvaluationError
from hyperkube_lib.cel.types import Type

INT_MIN, INT_MAX, UINT_MAX = -(2**63), 2**63 - 1, 2**64 - 1


class UInt(int):
    """An unsigned integer: equal to the signed one, but another kind."""

    __slots__ = ()


class Optional:
    """A value that may be absent."""

    __slots__ = ("present", "value")

    def __init__(self, value: Any = None, *, present: bool = True) -> None:
        self.present = present
        self.value = value


NONE = Optional(present=False)


class TypeValue:
    """A type as a value: what ``type(x)`` gives."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Opaque:
    """The base of values that only functions look into; equality is theirs to define."""

    __slots__ = ()
    kind = ""

    def same(self, other: Opaque) -> bool:
        """Tell whether another value of the same kind is equal."""
        return self is other


class Struct(dict[str, Any]):
    """A message built by an expression: its fields, and the name of its type."""

    __slots__ = ("type_name",)

    def __init__(self, type_name: str, fields: dict[str, Any]) -> None:
        super().__init__(fields)
        self.type_name = type_name


class LazyMap(dict[str, Any]):
    """A map whose values are made when they are first read; a failure is kept as well: each is made once."""

    def __init__(self, makers: dict[str, Callable[[], Any]]) -> None:
        super().__init__()
        self._makers = makers
        self._failures: dict[str, EvaluationError] = {}

    def __contains__(self, key: object) -> bool:
        return key in self._makers

    def __missing__(self, key: str) -> Any:
        if key in self._failures:
            raise self._failures[key].with_traceback(None)
        try:
            value = self._makers[key]()
        except EvaluationError as error:
            self._failures[key] = error
            raise
        self[key] = value
        return value


class SetList(list[Any]):
    """A list of which the order does not count (``x-kubernetes-list-type: set``)."""


class MapList(list[Any]):
    """A list whose items are told apart by keys (``x-kubernetes-list-type: map``)."""

    def __init__(self, items: Iterable[Any], keys: tuple[str, ...]) -> None:
        super().__init__(items)
        self.keys = keys

    def key_of(self, item: Any) -> tuple[Any, ...]:
        """Return what tells an item apart."""
        return tuple(item.get(key) for key in self.keys)


_KINDS: dict[type, str] = {
    bool: "bool", int: "int", UInt: "uint", float: "double", str: "string", bytes: "bytes", type(None): "null_type",
    list: "list", SetList: "list", MapList: "list", dict: "map", LazyMap: "map", datetime: "timestamp",
    timedelta: "duration", Optional: "optional_type", TypeValue: "type",
}  # fmt: skip


def kind_of(value: Any) -> str:
    """Return the name of a value's type, without parameters."""
    kind = _KINDS.get(type(value))
    if kind is not None:
        return kind
    if isinstance(value, Struct):
        return value.type_name
    if isinstance(value, Opaque):
        return value.kind
    if isinstance(value, dict):
        return "map"
    raise EvaluationError(f"unsupported value of type {type(value).__name__}")


def type_name(given: Type) -> str:
    """Return the name a type has as a value."""
    full = {"timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration"}
    return full.get(given.name, given.name)


_NUMBERS = frozenset({int, float, UInt})


def equal(one: Any, other: Any) -> bool:
    """Tell whether two values are equal: numbers across kinds, everything else within its kind."""
    left, right = type(one), type(other)
    if left is right and left in {str, int, bool, bytes, type(None), float}:
        return bool(one == other)
    if left in _NUMBERS and right in _NUMBERS:
        return bool(one == other)
    if isinstance(one, list):
        return isinstance(other, list) and _equal_lists(one, other)
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and len(one) == len(other)
            and all(key in other and equal(value, other[key]) for key, value in one.items())
        )
    if left is not right:
        return False
    if left is Optional:
        return one.present == other.present and (not one.present or equal(one.value, other.value))
    if left is TypeValue:
        return bool(one.name == other.name)
    if isinstance(one, Opaque):
        return one.same(other)
    return bool(one == other)


def _equal_lists(one: list[Any], other: list[Any]) -> bool:
    if len(one) != len(other):
        return False
    if isinstance(one, SetList):
        return all(any(equal(item, another) for another in other) for item in one)
    if isinstance(one, MapList):
        others = {one.key_of(item): item for item in other if isinstance(item, dict)}
        return all(one.key_of(item) in others and equal(item, others[one.key_of(item)]) for item in one)
    return all(equal(item, another) for item, another in zip(one, other, strict=True))


def concatenate(one: list[Any], other: list[Any]) -> list[Any]:
    """Return ``one + other``: sets keep one of each, keyed lists take the later item in the earlier one's place."""
    if isinstance(one, SetList):
        return SetList([*one, *(item for item in other if not any(equal(item, known) for known in one))])
    if isinstance(one, MapList):
        later = {one.key_of(item): item for item in other}
        kept = [later.pop(one.key_of(item), item) for item in one]
        return MapList([*kept, *later.values()], one.keys)
    return [*one, *other]


def whole(value: int) -> int:
    """Return an integer that fits 64 bits.

    Raises:
        EvaluationError: it does not.
    """
    if INT_MIN <= value <= INT_MAX:
        return value
    raise EvaluationError("integer overflow")


def unsigned(value: int) -> UInt:
    """Return an unsigned integer that fits 64 bits.

    Raises:
        EvaluationError: it does not.
    """
    if 0 <= value <= UINT_MAX:
        return UInt(value)
    raise EvaluationError("unsigned integer overflow")
