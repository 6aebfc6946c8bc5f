"""`dataclass`: the standard library's decorator for slotted classes, at a tenth of its price.

The standard library compiles up to six methods from generated source for a class, most of a millisecond. A start
defines hundreds of classes and makes instances of less than half of them. Here ``__init__`` is compiled when the first
instance is made, and the description that `dataclasses.fields` and `dataclasses.replace` read when they read it; the
other methods need no source.

Type checkers see the standard library's decorator. What this one has not (``order``, ``unsafe_hash``, ``init``,
``repr``, ``InitVar``, ``KW_ONLY``, classes without slots) it refuses with a `TypeError`.
"""

from __future__ import annotations

import dataclasses
import operator
import reprlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

_Fields = Mapping[str, "Field[Any]"]
_FIELDS = "__hyperkube_fields__"
"""Where a class of ours keeps its fields, inherited ones included."""
_VALUES = "__hyperkube_values__"
"""Where it keeps the functions from an object to what is compared of it, and to what is hashed."""


def _dataclass(
    *, slots: bool = False, frozen: bool = False, kw_only: bool = False, eq: bool = True
) -> Callable[[type], type]:
    if not slots:
        raise TypeError("a class without slots is for dataclasses.dataclass")

    def decorate(cls: type) -> type:
        own = {name: _field(cls, name, kind, kw_only) for name, kind in _annotations(cls)}
        inherited = _inherited(cls)
        fields = {**inherited, **own}
        _check_order(cls, fields.values())
        kept = {name: value for name, value in vars(cls).items() if name not in own and name not in _OF_EVERY_CLASS}
        if "__eq__" in kept and kept.get("__hash__") is None:
            del kept["__hash__"]  # Python's own, for a class with an equality and no hash
        added: dict[str, Any] = {
            _FIELDS: fields,
            "__slots__": tuple(name for name in own if name not in inherited),
            "__match_args__": tuple(name for name, field in fields.items() if field.init and not field.kw_only),
            "__init__": _Constructor(fields, frozen),
            "__repr__": _repr,
            "__dataclass_fields__": _Description(fields, frozen),
            "__dataclass_params__": _Description(fields, frozen),
        }
        if frozen:
            added |= _FROZEN
        if eq:
            added |= _comparison(fields, frozen)
        made = type(cls)(cls.__name__, cls.__bases__, {**added, **kept})
        made.__qualname__ = cls.__qualname__
        return made

    return decorate


_OF_EVERY_CLASS = {"__dict__", "__weakref__"}


def _annotations(cls: type) -> Iterable[tuple[str, object]]:
    """Return the annotations of the class itself that are fields."""
    for name, kind in vars(cls).get("__annotations__", {}).items():
        word = str(kind).partition("[")[0].rpartition(".")[2]
        if word in {"InitVar", "KW_ONLY"}:
            raise TypeError(f"{cls.__name__}.{name}: {word} is for dataclasses.dataclass")
        if word != "ClassVar":
            yield name, kind


def _field(cls: type, name: str, kind: object, kw_only: bool) -> Field[Any]:
    """Return the field of an annotation, made of its default when it is no `dataclasses.field`."""
    default = vars(cls).get(name, MISSING)
    field: Field[Any] = default if isinstance(default, Field) else dataclasses.field(default=default)
    if type(field.default).__hash__ is None:
        raise ValueError(f"mutable default {type(field.default)} for field {name} is not allowed: use default_factory")
    field.name, field.type = name, kind
    if field.kw_only is MISSING:
        field.kw_only = kw_only
    return field


def _inherited(cls: type) -> dict[str, Field[Any]]:
    """Return the fields of the class's bases, of the standard library's kind too."""
    found: dict[str, Field[Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        if _FIELDS in vars(base):
            found |= vars(base)[_FIELDS]
        elif "__dataclass_fields__" in vars(base):
            found |= {field.name: field for field in dataclasses.fields(base)}
    return found


def _check_order(cls: type, fields: Iterable[Field[Any]]) -> None:
    default = ""
    for field in fields:
        if not field.init or field.kw_only:
            continue
        if field.default is not MISSING or field.default_factory is not MISSING:
            default = field.name
        elif default:
            raise TypeError(f"{cls.__name__}: non-default argument {field.name!r} follows default argument {default!r}")


class _Constructor:
    """``__init__`` until the first instance is made, which puts the compiled one in its place."""

    __slots__ = ("_fields", "_frozen", "_owner")

    def __init__(self, fields: _Fields, frozen: bool) -> None:
        self._fields, self._frozen = fields, frozen

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner = owner

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        # Threads may race to here: both compile the same, and the later one's stays.
        made = _compiled(self._owner, self._fields, self._frozen)
        self._owner.__init__ = made  # type: ignore[misc]  # of a class, as dataclasses do
        return made.__get__(instance, owner)


def _compiled(cls: type, fields: _Fields, frozen: bool) -> Any:
    """Return the constructor of a class: like the one of the standard library, but it sets slots directly."""
    known: dict[str, Any] = {"_MISSING": MISSING}
    positional, keywords, body = ["self"], ["*"], []
    for name, field in fields.items():
        value = f"_default_{name}" if field.default is not MISSING and not field.init else name
        parameter = name
        if field.default is not MISSING:
            known[f"_default_{name}"] = field.default
            parameter = f"{name}=_default_{name}"
        elif field.default_factory is not MISSING:
            known[f"_factory_{name}"] = field.default_factory
            parameter = f"{name}=_MISSING"
            value = f"_factory_{name}() if {name} is _MISSING else {name}" if field.init else f"_factory_{name}()"
        elif not field.init:
            continue
        if field.init:
            (keywords if field.kw_only else positional).append(parameter)
        if frozen:
            known[f"_set_{name}"] = _setter(cls, name)
            body.append(f"_set_{name}(self, {value})")
        else:
            body.append(f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = ", ".join([*positional, *(keywords if len(keywords) > 1 else [])])
    exec(f"def __init__({parameters}):\n " + "\n ".join(body or ["pass"]), known)  # noqa: S102  of names alone
    made = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {**{name: field.type for name, field in fields.items() if field.init}, "return": None}
    return made


def _setter(cls: type, name: str) -> Callable[[object, Any], None]:
    """Return what sets a field past ``__setattr__``: the slot itself, if the class that brought the field has slots."""
    slot = getattr(cls, name, None)
    if isinstance(slot, MemberDescriptorType):
        return slot.__set__
    return lambda self, value: object.__setattr__(self, name, value)


class _Description:
    """``__dataclass_fields__`` and ``__dataclass_params__`` until something reads one of them."""

    __slots__ = ("_fields", "_frozen", "_name", "_owner")

    def __init__(self, fields: _Fields, frozen: bool) -> None:
        self._fields, self._frozen = fields, frozen

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        rows = [(name, field.type, _again(field)) for name, field in self._fields.items()]
        # Without a docstring it gets its signature for one, and to find that a copy of all modules is made and stays.
        twin = dataclasses.make_dataclass(
            "_Twin", rows, init=False, repr=False, eq=False, frozen=self._frozen, namespace={"__doc__": "The fields."}
        )
        found = vars(twin)[self._name]
        setattr(self._owner, self._name, found)
        return found


def _again(field: Field[Any]) -> Any:
    """Return a field like another one."""
    return dataclasses.field(
        default=field.default,
        default_factory=field.default_factory,
        init=field.init,
        repr=field.repr,
        hash=field.hash,
        compare=field.compare,
        metadata=field.metadata,
        kw_only=bool(field.kw_only),
    )


@reprlib.recursive_repr()
def _repr(self: Any) -> str:
    fields: _Fields = getattr(self, _FIELDS)
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name, field in fields.items() if field.repr)
    return f"{type(self).__qualname__}({shown})"


def _refuse_assignment(_self: object, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(_self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: object) -> list[object]:
    return [getattr(self, name) for name in getattr(self, _FIELDS)]


def _set_state(self: object, state: list[object]) -> None:
    for name, value in zip(getattr(self, _FIELDS), state, strict=True):
        object.__setattr__(self, name, value)


_FROZEN = {
    "__setattr__": _refuse_assignment,
    "__delattr__": _refuse_deletion,
    "__getstate__": _state,
    "__setstate__": _set_state,
}
"""What frozen classes have besides; copies and pickles are filled without ``__setattr__``."""


def _comparison(fields: _Fields, frozen: bool) -> dict[str, Any]:
    """Return ``__eq__`` and, for frozen classes, ``__hash__``: both of what the fields hold, and the same of all."""
    compared = [name for name, field in fields.items() if field.compare]
    hashed = [name for name, field in fields.items() if (field.compare if field.hash is None else field.hash)]
    values = _getter(compared)
    of_hash = values if hashed == compared else _getter(hashed)
    return {_VALUES: (values, of_hash), "__eq__": _equal, "__hash__": _hash if frozen else None}


def _getter(names: list[str]) -> Callable[[object], tuple[object, ...]]:
    """Return a function from an object to the values of its attributes, of a single one twice."""
    # In a tuple an object equals itself, whatever it says; without fields all of a class are equal.
    first, *others = names or ["__class__"]
    return operator.attrgetter(first, *(others or [first]))


def _equal(self: Any, other: object) -> Any:
    values = self.__hyperkube_values__[0]
    return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: Any) -> int:
    return hash(self.__hyperkube_values__[1](self))


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _dataclass

__all__ = ["dataclass"]
