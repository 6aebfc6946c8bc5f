"""Going through the nodes of an expression."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from hyperkube_lib.cel.syntax import (
    Bind,
    Call,
    Comprehension,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Node,
    Select,
    StructLiteral,
)

R = TypeVar("R")


class Visitor(ABC, Generic[R]):
    """Finds out one thing about each node; what a node is asked for depends on its form alone."""

    def visit(self, node: Node) -> R:
        """Return what is to be found out about a node."""
        match node:
            case Literal():
                return self.literal(node)
            case Ident():
                return self.ident(node)
            case Select():
                return self.select(node)
            case Call():
                return self.call(node)
            case ListLiteral():
                return self.list_of(node)
            case MapLiteral():
                return self.map_of(node)
            case StructLiteral():
                return self.struct(node)
            case Comprehension():
                return self.comprehension(node)
            case Bind():
                return self.bind(node)

    @abstractmethod
    def literal(self, node: Literal) -> R:
        """Answer for a constant."""

    @abstractmethod
    def ident(self, node: Ident) -> R:
        """Answer for a name."""

    @abstractmethod
    def select(self, node: Select) -> R:
        """Answer for a member, or for whether there is one."""

    @abstractmethod
    def call(self, node: Call) -> R:
        """Answer for a function, an operator or a method."""

    @abstractmethod
    def list_of(self, node: ListLiteral) -> R:
        """Answer for a list that is written out."""

    @abstractmethod
    def map_of(self, node: MapLiteral) -> R:
        """Answer for a map that is written out."""

    @abstractmethod
    def struct(self, node: StructLiteral) -> R:
        """Answer for a message that is written out."""

    @abstractmethod
    def comprehension(self, node: Comprehension) -> R:
        """Answer for a loop."""

    @abstractmethod
    def bind(self, node: Bind) -> R:
        """Answer for a name that is given to a value."""


def qualified(node: Node) -> str:
    """Return ``a.b.c`` for a chain of names, else nothing."""
    if isinstance(node, Ident):
        return node.name.lstrip(".")
    if isinstance(node, Select) and not node.test:
        before = qualified(node.operand)
        return f"{before}.{node.field}" if before else ""
    return ""


def children(node: Node) -> list[Node]:
    """Return the nodes right below a node."""
    match node:
        case Select():
            return [node.operand]
        case Call():
            return [*([node.target] if node.target is not None else []), *node.arguments]
        case ListLiteral():
            return list(node.items)
        case MapLiteral():
            return [one for entry in node.entries for one in (entry.key, entry.value)]
        case StructLiteral():
            return [one.value for one in node.fields]
        case Comprehension():
            return [one for one in (node.range, node.condition, node.result) if one is not None]
        case Bind():
            return [node.value, node.body]
        case _:
            return []


def names_in(node: Node) -> set[str]:
    """Return every name that an expression mentions, bound or not."""
    found = {node.name.lstrip(".")} if isinstance(node, Ident) else set()
    for child in children(node):
        found |= names_in(child)
    return found
