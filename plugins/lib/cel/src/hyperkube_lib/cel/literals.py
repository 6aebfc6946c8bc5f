"""Literals keep to one type: a list or map of mixed types is refused.

Source: cel-go ``cel/validator.go`` (homogeneous aggregate literals).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hyperkube_lib.cel.errors import Issue
from hyperkube_lib.cel.syntax import Call, ListLiteral, MapLiteral, Node
from hyperkube_lib.cel.types import DYN, Substitution, Type, shown
from hyperkube_lib.cel.walk import children

_HETEROGENEOUS = frozenset({"format"})
"""Functions whose list argument may mix types."""


def mixed_literals(node: Node, types: Mapping[Node, Type]) -> list[Issue]:
    """Return an issue for each list or map literal that mixes types."""
    issues: list[Issue] = []

    def compare(nodes: Sequence[Node], optional: frozenset[int]) -> None:
        first: Type | None = None
        for index, one in enumerate(nodes):
            found = types[one]
            if index in optional and found.name == "optional_type":
                found = found.parameters[0]
            if first is None or first == DYN:
                first = found
            elif found != DYN and not Substitution().accepts(first, found):
                issues.append(Issue(one.offset, f"expected type '{shown(first)}' but found '{shown(found)}'"))
                return

    def walk(one: Node, *, mixed: bool = False) -> None:
        if isinstance(one, ListLiteral) and not mixed:
            compare(one.items, one.optional)
        if isinstance(one, MapLiteral) and not mixed:
            compare([entry.key for entry in one.entries], frozenset())
            marks = frozenset(index for index, entry in enumerate(one.entries) if entry.optional)
            compare([entry.value for entry in one.entries], marks)
        exempt = isinstance(one, Call) and one.function in _HETEROGENEOUS
        for child in children(one):
            walk(child, mixed=exempt or mixed)

    walk(node)
    return issues
