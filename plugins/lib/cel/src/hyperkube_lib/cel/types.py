"""The types of the expression language, and when one may stand where another is wanted.

Source: cel-spec ``doc/langdef.md`` and cel-go ``common/types/types.go``, ``checker/types.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from hyperkube.machinery.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Type:
    """A type by name, with its parameters; a struct also knows its fields.

    Attributes:
        name: ``int``, ``list``, ``optional_type``, a struct's name …; a type variable begins with ``%``.
        parameters: the element type of a list, key and value types of a map, and so on.
        fields: the fields of a struct by the name expressions use; None for a struct that takes any field.
        struct: whether this is a message with fields.
    """

    name: str
    parameters: tuple[Type, ...] = ()
    fields: Mapping[str, Type] | None = field(default=None, compare=False, hash=False)
    struct: bool = False

    def __str__(self) -> str:
        if not self.parameters:
            return self.name
        return f"{self.name}({', '.join(str(parameter) for parameter in self.parameters)})"

    @property
    def is_variable(self) -> bool:
        """Whether this stands for a type that is not known yet."""
        return self.name.startswith("%")


BOOL, INT, UINT, DOUBLE = Type("bool"), Type("int"), Type("uint"), Type("double")
STRING, BYTES, NULL, DYN, ERROR = Type("string"), Type("bytes"), Type("null_type"), Type("dyn"), Type("!error!")
TIMESTAMP, DURATION = Type("timestamp"), Type("duration")

_SHOWN = {"null_type": "null"}
_FULL = {"timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration"}


def list_of(item: Type) -> Type:
    """Return the type of lists of that item."""
    return Type("list", (item,))


def map_of(key: Type, value: Type) -> Type:
    """Return the type of maps."""
    return Type("map", (key, value))


def optional_of(value: Type) -> Type:
    """Return the type of values that may be absent."""
    return Type("optional_type", (value,))


def type_of(value: Type) -> Type:
    """Return the type of a type."""
    return Type("type", (value,))


def struct(name: str, fields: Mapping[str, Type] | None) -> Type:
    """Return a message type; `fields` None takes any field, each dynamic."""
    return Type(name, (), fields, struct=True)


def shown(given: Type) -> str:
    """Return a type as error messages of the checker name it."""
    if given.is_variable:
        return "dyn"
    name = _SHOWN.get(given.name, given.name)
    if not given.parameters:
        return name
    return f"{name}({', '.join(shown(parameter) for parameter in given.parameters)})"


def output_name(given: Type) -> str:
    """Return a type as "must evaluate to" messages name it."""
    name = _FULL.get(given.name, given.name)
    if not given.parameters:
        return name
    return f"{name}({', '.join(output_name(parameter) for parameter in given.parameters)})"


class Substitution:
    """What the type variables of one expression turned out to be."""

    __slots__ = ("_bound", "_count")

    def __init__(self) -> None:
        self._bound: dict[str, Type] = {}
        self._count = 0

    def fresh(self) -> Type:
        """Return a type variable that is used nowhere else."""
        self._count += 1
        return Type(f"%{self._count}")

    def fresh_copy(self, given: Type, names: dict[str, Type]) -> Type:
        """Return a signature's type with its variables renamed, equal ones equally."""
        if given.is_variable:
            if given.name not in names:
                names[given.name] = self.fresh()
            return names[given.name]
        if not given.parameters:
            return given
        return Type(given.name, tuple(self.fresh_copy(one, names) for one in given.parameters))

    def resolve(self, given: Type, *, final: bool = False) -> Type:
        """Return a type with known variables replaced; with `final`, unknown ones become dyn."""
        if given.is_variable:
            bound = self._bound.get(given.name)
            if bound is None:
                return DYN if final else given
            return self.resolve(bound, final=final)
        if not given.parameters:
            return given
        return Type(given.name, tuple(self.resolve(one, final=final) for one in given.parameters))

    def mark(self) -> int:
        """Return the state, for `reset`: how much was learnt, as nothing of it ever changes."""
        return len(self._bound)

    def reset(self, mark: int) -> None:
        """Forget what was learnt since `mark`."""
        while len(self._bound) > mark:
            self._bound.popitem()

    def accepts(self, wanted: Type, given: Type) -> bool:
        """Tell whether `given` may stand where `wanted` is; learn what that means for variables."""
        wanted, given = self._head(wanted), self._head(given)
        if wanted.is_variable:
            return self._bind(wanted, given)
        if given.is_variable:
            return self._bind(given, wanted)
        if DYN in (wanted, given) or ERROR in (wanted, given):
            return True
        if given == NULL and (wanted.struct or wanted.name in {"timestamp", "duration"}):
            return True
        if wanted.name != given.name or len(wanted.parameters) != len(given.parameters):
            return False
        if wanted.name == "type":
            return True
        return all(self.accepts(one, other) for one, other in zip(wanted.parameters, given.parameters, strict=True))

    def _head(self, given: Type) -> Type:
        while given.is_variable and given.name in self._bound:
            given = self._bound[given.name]
        return given

    def _bind(self, variable: Type, given: Type) -> bool:
        if variable == given:
            return True
        if self._occurs(variable, given):
            return False
        if given.is_variable:  # the newer one follows, or each item of a list would make a longer chain
            variable, given = given, variable
        self._bound[variable.name] = given
        return True

    def _occurs(self, variable: Type, given: Type) -> bool:
        given = self._head(given)
        return given == variable or any(self._occurs(variable, one) for one in given.parameters)

    def join(self, one: Type, other: Type) -> Type:
        """Return the type that fits two members of a literal."""
        mark = self.mark()
        if self.accepts(one, other):
            return DYN if DYN in (self._head(one), self._head(other)) else one
        self.reset(mark)
        return DYN
