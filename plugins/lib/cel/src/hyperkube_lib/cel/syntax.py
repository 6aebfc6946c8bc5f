"""The nodes of a parsed expression; `offset` is where messages point."""

from __future__ import annotations

from typing import Any, TypeAlias

from hyperkube.machinery.dataclass import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A constant."""

    offset: int
    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class Ident:
    """A name; one that began with a dot is looked up in the outermost scope."""

    offset: int
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Select:
    """``operand.field``, or with `test` the question ``has(operand.field)``."""

    offset: int
    operand: Node
    field: str
    test: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A function, an operator (``_+_``) or, with a target, a method."""

    offset: int
    function: str
    target: Node | None
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ListLiteral:
    """``[a, ?b]``; `optional` are the positions of items that are left out when absent."""

    offset: int
    items: tuple[Node, ...]
    optional: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """``key: value`` of a map, optional with a question mark."""

    offset: int
    key: Node
    value: Node
    optional: bool


@dataclass(frozen=True, slots=True, eq=False)
class MapLiteral:
    """``{k: v}``."""

    offset: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FieldValue:
    """``field: value`` of a message, optional with a question mark."""

    offset: int
    name: str
    value: Node
    optional: bool


@dataclass(frozen=True, slots=True, eq=False)
class StructLiteral:
    """``Type{field: value}``."""

    offset: int
    name: str
    fields: tuple[FieldValue, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Comprehension:
    """A macro that runs over a list or a map.

    Attributes:
        macro: ``all``, ``exists``, ``existsOne``, ``map``, ``filter``, ``transformList``, ``transformMap``,
            ``transformMapEntry``.
        variables: one name (items or keys) or two (index or key, value).
        condition: what is asked of each item, or which items `result` is made of.
        result: what each item becomes.
    """

    offset: int
    macro: str
    range: Node
    variables: tuple[str, ...]
    condition: Node | None
    result: Node | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Bind:
    """``cel.bind(name, value, body)``, and with `optional` ``value.optMap(name, body)`` (``flat``: optFlatMap)."""

    offset: int
    name: str
    value: Node
    body: Node
    optional: bool = False
    flat: bool = False


Node: TypeAlias = Literal | Ident | Select | Call | ListLiteral | MapLiteral | StructLiteral | Comprehension | Bind
