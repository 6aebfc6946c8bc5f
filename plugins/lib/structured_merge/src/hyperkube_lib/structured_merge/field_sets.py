"""Sets of fields, as server-side apply keeps them in ``managedFields``.

A set is a tree of path elements: ``f:name`` a member, ``k:{...}`` an item by its keys, ``v:...`` an item by its value,
``i:n`` an item by its place. In memory every node that belongs to the set has the entry `MEMBER`; on the wire a node
without children belongs to the set without saying so.
Source: structured-merge-diff ``fieldpath/set.go`` and ``serialize.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import orjson

from hyperkube.machinery.recent import TEMPLATE_MAX, TEMPLATES, Recent
from hyperkube.machinery.schema.lookup import TypeInfo

FieldSet: TypeAlias = dict[str, Any]
"""A node of the tree: path element → node, and `MEMBER` when the node itself belongs to the set."""

MEMBER = "."
_RANK = {"f": 0, "k": 1, "v": 2, "i": 3}
_wires: Recent[bytes, dict[str, Any]] = Recent(TEMPLATES)


class FieldSetError(ValueError):
    """A ``fieldsV1`` that is none."""


def decode(wire: Any) -> FieldSet:
    """Read a ``fieldsV1``.

    Raises:
        FieldSetError: an element of an unknown kind, or a node that is no object.
    """
    node: FieldSet = {}
    if not isinstance(wire, dict):
        raise FieldSetError("fieldsV1 must be an object")
    for element, child in wire.items():
        if element == MEMBER:
            node[MEMBER] = {}
        elif element[:2] in {"f:", "k:", "v:", "i:"}:
            node[element] = (child != {} and decode(child)) or {MEMBER: {}}
        else:
            raise FieldSetError(f"missing key type: {element!r}")
    return node


def encode(node: FieldSet) -> dict[str, Any]:
    """Write a ``fieldsV1``, elements in Kubernetes' order."""
    wire: dict[str, Any] = {}
    if MEMBER in node and len(node) > 1:
        wire[MEMBER] = {}
    for element in _in_order(node):
        child = node[element]
        if len(child) == 1:
            wire[element] = {} if MEMBER in child else encode(child)
        else:
            wire[element] = _items_encoded(child) if next(reversed(child)).startswith("k:") else encode(child)
    return wire


def _items_encoded(node: FieldSet) -> dict[str, Any]:
    """Write the fields of a list's items; objects whose items are alike share them, such as conditions of pods."""
    text = orjson.dumps(node)
    known = _wires.get(text)
    if known is None:
        known = encode(node)
        if len(text) <= TEMPLATE_MAX:
            _wires.keep(text, known)
    return known


def _in_order(node: FieldSet) -> list[str]:
    """Return a node's elements in Kubernetes' order; mostly they are of one kind, so that text order will do."""
    elements = sorted(node)
    if elements and elements[0] == MEMBER:  # it sorts before all others
        del elements[0]
    if len(elements) > 1 and elements[0][0] != elements[-1][0]:
        elements.sort(key=_order)
    return elements


def _order(element: str) -> tuple[int, str]:
    return _RANK[element[0]], element


def from_paths(paths: Iterable[Sequence[str]]) -> FieldSet:
    """Return the set of members named by paths of field names: ``("metadata", "name")``."""
    root: FieldSet = {}
    for path in paths:
        insert(root, tuple(f"f:{name}" for name in path))
    return root


def insert(root: FieldSet, path: Sequence[str]) -> None:
    """Add one path of elements to the set; the empty path adds nothing."""
    if path:
        node_at(root, path)[MEMBER] = {}


def node_at(root: FieldSet, path: Sequence[str]) -> FieldSet:
    """Return the node at a path, which need not belong to the set; those on the way are made."""
    node = root
    for element in path:
        node = node.setdefault(element, {})
    return node


def graft(root: FieldSet, path: Sequence[str], branch: FieldSet) -> None:
    """Add a set below a path that the set has nothing at yet; the root itself belongs to no set."""
    node_at(root, path).update(branch)
    root.pop(MEMBER, None)


def has(node: FieldSet, element: str) -> bool:
    """Tell whether a child belongs to the set."""
    return MEMBER in node.get(element, ())


def below(node: FieldSet, element: str) -> FieldSet:
    """Return what the set holds below a child, the child itself apart."""
    child = node.get(element)
    if not child:
        return {}
    return {key: value for key, value in child.items() if key != MEMBER} if MEMBER in child else child


def touches(wire: FieldSet, changed: FieldSet) -> bool:
    """Tell whether a ``fieldsV1``, as it is on the wire, holds any field of a set; it costs by the set alone."""
    for element, child in changed.items():
        mine = wire.get(element)
        if mine is None or element == MEMBER:
            continue
        if MEMBER in child and (not mine or MEMBER in mine):
            return True
        if mine and touches(mine, child):
            return True
    return False


def holds(wire: FieldSet, wanted: FieldSet) -> bool:
    """Tell whether a ``fieldsV1``, as it is on the wire, holds all fields of a set; it costs by the set alone."""
    for element, child in wanted.items():
        if element == MEMBER:
            continue
        mine = wire.get(element)
        if mine is None:
            return False
        if not mine:  # a leaf, which has nothing below it
            if len(child) != 1 or MEMBER not in child:
                return False
        elif (MEMBER in child and MEMBER not in mine) or not holds(mine, child):
            return False
    return True


def union(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return what belongs to either set."""
    if not left or not right:
        return left or right
    merged = dict(left)
    for element, child in right.items():
        merged[element] = union(merged[element], child) if element in merged else child
    return merged


def intersection(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return what belongs to both sets."""
    common: FieldSet = {}
    for element, child in left.items():
        if element == MEMBER:
            if MEMBER in right:
                common[MEMBER] = {}
        elif element in right:
            shared = intersection(child, right[element])
            if shared:
                common[element] = shared
    return common


def difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return what belongs to the first set only; children of removed nodes stay. It is `left` itself if all of it."""
    if not right:
        return left
    rest: FieldSet = {}
    same = True
    for element, child in left.items():
        if element not in right:
            rest[element] = child
        elif element != MEMBER:
            remaining = difference(child, right[element])
            if remaining:
                rest[element] = remaining
            same = same and remaining is child
        else:
            same = False
    return left if same else rest


def recursive_difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the first set without what belongs to the second and without all below that."""
    if not right:
        return left
    rest: FieldSet = {}
    for element, child in left.items():
        if element not in right:
            rest[element] = child
        elif element != MEMBER and MEMBER not in right[element]:
            remaining = recursive_difference(child, right[element])
            if remaining:
                rest[element] = remaining
    return rest


def with_named_fields(node: FieldSet, info: TypeInfo | None) -> FieldSet:
    """Return the set with every declared member on the way to another one added."""
    grown: FieldSet = {}
    for element, child in node.items():
        if element == MEMBER:
            grown[MEMBER] = child
            continue
        member = _type_below(info, element)
        grown[element] = with_named_fields(child, member)
        has_children = len(child) > (MEMBER in child)
        if has_children and element.startswith("f:") and info is not None and info.is_struct and member is not None:
            grown[element][MEMBER] = {}
    return grown


def _type_below(info: TypeInfo | None, element: str) -> TypeInfo | None:
    if info is None:
        return None
    return info.field(element[2:]) if element.startswith("f:") else info.items


def paths(node: FieldSet, prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield every path of the set, members of a node before what is below them."""
    children = _in_order(node)
    for element in children:
        if MEMBER in node[element]:
            yield (*prefix, element)
    for element in children:
        yield from paths(node[element], (*prefix, element))


def show_path(path: Sequence[str]) -> str:
    """Write a path as messages show it: ``.spec.ports[port=80,protocol="TCP"].name``."""
    return "".join(show_element(element) for element in path)


def show_element(element: str) -> str:
    """Write one element as messages show it."""
    kind, rest = element[0], element[2:]
    if kind == "f":
        return f".{rest}"
    if kind == "k":
        keys = orjson.loads(rest)
        return "[" + ",".join(f"{key}={orjson.dumps(keys[key]).decode()}" for key in sorted(keys)) + "]"
    return f"[={rest}]" if kind == "v" else f"[{rest}]"


def key_element(keys: dict[str, Any]) -> str:
    """Return the element of a list item that is known by its keys."""
    return "k:" + orjson.dumps(keys, option=orjson.OPT_SORT_KEYS).decode()


def value_element(value: Any) -> str:
    """Return the element of a list item that is known by its value."""
    return "v:" + orjson.dumps(value).decode()
