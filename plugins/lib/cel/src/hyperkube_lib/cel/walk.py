"""Going through the nodes of an expression."""

from __future__ import annotations

from hyperkube_lib.cel.syntax import (
    Bind,
    Call,
    Comprehension,
    Ident,
    ListLiteral,
    MapLiteral,
    Node,
    Select,
    StructLiteral,
)


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
