"""A plugin's settings as its own frozen dataclass, or record: plain data, checked against the annotations.

The annotations may be ``bool``, ``int``, ``float``, ``str``, ``Any``, ``tuple[X, ...]``, ``Mapping[str, X]``, another
dataclass or record, ``Literal[…]``, and unions of these; a value of any other annotation is taken as it is.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from typing import Any, Literal, TypeVar

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record

Shape = TypeVar("Shape")

_WORDS = {bool: "true or false", int: "an integer", float: "a number", str: "a string"}


class _Wrong(ValueError):
    """A value is not of its annotation; the message says what would be valid."""


def parse_settings(plugin: str, shape: type[Shape], values: Mapping[str, Any]) -> Shape:
    """Return the settings of `plugin` as the dataclass `shape`.

    Raises:
        UsageError: a key that `shape` does not have, a missing one without default, or a value of another type.
    """
    try:
        return _built(shape, values, "")
    except _Wrong as error:
        raise UsageError(f"settings of plugin {plugin!r}: {error}") from error


@lru_cache(maxsize=512)
def _hints(shape: type) -> Mapping[str, Any]:
    return typing.get_type_hints(shape)


def defaults_of(shape: type) -> dict[str, Any]:
    """Return the fields of a dataclass or record with their defaults, `dataclasses.MISSING` for one that has none."""
    if issubclass(shape, Record):
        return {name: getattr(shape, name, MISSING) for name in shape.field_names}
    return {
        one.name: one.default if one.default_factory is MISSING else one.default_factory()
        for one in fields(shape)  # type: ignore[arg-type]  # a dataclass: see the callers
        if one.init
    }


def _built(shape: type[Shape], values: Mapping[str, Any], path: str) -> Shape:
    hints = _hints(shape)  # type: ignore[arg-type]  # a class is hashable
    known = defaults_of(shape)
    for key in values:
        if key not in known:
            names = ", ".join(sorted(known)) or "none"
            raise _Wrong(f"unknown key '{path}{key}' (known: {names})")
    for name, default in known.items():
        if name not in values and default is MISSING:
            raise _Wrong(f"missing key '{path}{name}'")
    return shape(**{key: _value(hints[key], value, f"{path}{key}") for key, value in values.items()})


def _value(hint: Any, value: Any, path: str) -> Any:
    """Return a value as its annotation has it.

    Raises:
        _Wrong: it is something else.
    """
    origin = typing.get_origin(hint)
    if origin in {types.UnionType, typing.Union}:
        return _one_of(typing.get_args(hint), value, path)
    if origin is Literal:
        return _choice(typing.get_args(hint), value, path)
    if hint in _WORDS:
        return _plain(hint, value, path)
    if hint is None or hint is type(None):
        if value is not None:
            raise _wrong(path, value, "nothing")
        return None
    if origin is tuple:
        return _items(typing.get_args(hint), value, path)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _table(typing.get_args(hint), value, path)
    if isinstance(hint, type) and (is_dataclass(hint) or issubclass(hint, Record)) and not isinstance(value, hint):
        if not isinstance(value, Mapping):
            raise _wrong(path, value, "a table")
        return _built(hint, value, f"{path}.")
    return value


def _plain(hint: type, value: Any, path: str) -> Any:
    fits = isinstance(value, hint) and (hint is bool or not isinstance(value, bool))
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not fits:
        raise _wrong(path, value, _WORDS[hint])
    return value


def _one_of(hints: Sequence[Any], value: Any, path: str) -> Any:
    failure: _Wrong | None = None
    for hint in hints:
        try:
            return _value(hint, value, path)
        except _Wrong as error:
            failure = failure or error
    raise failure or _wrong(path, value, "nothing")


def _choice(choices: Sequence[Any], value: Any, path: str) -> Any:
    if value not in choices:
        raise _wrong(path, value, f"one of {', '.join(repr(choice) for choice in choices)}")
    return value


def _items(hints: Sequence[Any], value: Any, path: str) -> tuple[Any, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise _wrong(path, value, "a list")
    if len(hints) == 2 and hints[1] is Ellipsis:
        return tuple(_value(hints[0], item, f"{path}[{index}]") for index, item in enumerate(value))
    if hints and len(hints) != len(value):
        raise _wrong(path, value, f"a list of {len(hints)}")
    return tuple(
        _value(hint, item, f"{path}[{index}]") for index, (hint, item) in enumerate(zip(hints, value, strict=True))
    )


def _table(hints: Sequence[Any], value: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _wrong(path, value, "a table")
    hint = hints[1] if len(hints) == 2 else Any
    return {key: _value(hint, item, f"{path}.{key}") for key, item in value.items()}


def _wrong(path: str, value: Any, valid: str) -> _Wrong:
    return _Wrong(f"{path} = {value!r} must be {valid}")
