"""What an expression can cost at most, told from its form and from the bounds of the schema it speaks of.

Rules of custom resources are refused by this figure before they are ever evaluated, so it follows cel-go to the unit,
its omissions included: macros are reckoned as the loops they stand for, scalars of a schema have no size, and what a
loop makes has the size of its range. Source: cel-go ``checker/cost.go``, ``parser/macro.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from hyperkube_lib.cel.call_costs import TRAVERSAL, Argument, Estimate, call_cost
from hyperkube_lib.cel.checker import Checked, Invocation
from hyperkube_lib.cel.ranges import LIMIT, NOTHING, ONE, UNKNOWN, Range, exactly
from hyperkube_lib.cel.sizes import ITEMS, KEYS, VALUES, Size
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
from hyperkube_lib.cel.types import Type
from hyperkube_lib.cel.walk import Visitor

from hyperkube.machinery.dataclass import dataclass

Path: TypeAlias = tuple[str, ...]
_LIST_COST, _MAP_COST, _STRUCT_COST = exactly(10), exactly(30), exactly(40)
_SCALARS = {"bool", "double", "duration", "int", "timestamp", "uint"}


def estimate(node: Node, checked: Checked, root: Size) -> int:
    """Return the most a checked expression over values of that size can cost; 2**64 - 1 stands for everything above."""
    return _Estimator(checked, root).cost(node).most


@dataclass(frozen=True, slots=True)
class _Entry:
    """The sizes of what a list or map has in it: items by index, or keys and values."""

    key: Range
    value: Range
    is_list: bool

    def __or__(self, other: _Entry) -> _Entry:
        return _Entry(self.key | other.key, self.value | other.value, self.is_list)


@dataclass(frozen=True, slots=True)
class _Local:
    path: Path = ()
    size: Range | None = None
    entry: _Entry | None = None


class _Estimator(Visitor[Range]):
    def __init__(self, checked: Checked, root: Size) -> None:
        self._checked = checked
        self._root = root
        self._paths: dict[Node, Path] = {}
        self._sizes: dict[Node, Range] = {}
        self._entries: dict[Node, _Entry] = {}
        self._locals: dict[str, list[_Local]] = {}

    def cost(self, node: Node) -> Range:
        """Return the cost of a node; note its path and size."""
        return self.visit(node)

    def literal(self, node: Literal) -> Range:
        """Return the cost of a constant: none."""
        return NOTHING

    def struct(self, node: StructLiteral) -> Range:
        """Return the cost of a message."""
        return sum((self.cost(one.value) for one in node.fields), _STRUCT_COST)

    def _type(self, node: Node) -> Type:
        return self._checked.types[node]

    def _local(self, node: Node) -> _Local | None:
        stack = self._locals.get(node.name) if isinstance(node, Ident) else None
        return stack[-1] if stack else None

    def _path(self, node: Node) -> Path:
        local = self._local(node)
        return local.path if local is not None else self._paths.get(node, ())

    def _size(self, node: Node) -> Range | None:
        found = self._sizes.get(node) or _literal_size(node)
        if found is not None:
            return found
        path = self._path(node)
        known = self._root.at(path[1:]) if path else None
        if known is not None:
            return Range(0, known.most)
        if _is_scalar(self._type(node)):
            return ONE
        local = self._local(node)
        return local.size if local is not None else None

    def _size_or_unknown(self, node: Node) -> Range:
        return self._size(node) or UNKNOWN

    def _entry(self, node: Node) -> _Entry | None:
        found = self._entries.get(node)
        if found is not None:
            return found
        local = self._local(node)
        return local.entry if local is not None else None

    def ident(self, node: Ident) -> Range:
        """Return the cost of a name."""
        local = self._local(node)
        self._paths[node] = local.path if local is not None else (node.name.lstrip("."),)
        return ONE

    def select(self, node: Select) -> Range:
        """Return the cost of a member."""
        cost = self.cost(node.operand)
        if node.test:
            return cost
        given = self._checked.types.get(node.operand)
        self._paths[node] = (*self._path(node.operand), node.field)
        return cost + ONE if given is not None and (given.struct or given.name == "map") else cost

    def list_of(self, node: ListLiteral) -> Range:
        """Return the cost of a list."""
        cost = sum((self.cost(one) for one in node.items), _LIST_COST)
        self._entries[node] = _Entry(ONE, self._joined(node.items), is_list=True)
        return cost

    def map_of(self, node: MapLiteral) -> Range:
        """Return the cost of a map."""
        keys, values = [entry.key for entry in node.entries], [entry.value for entry in node.entries]
        cost = sum((self.cost(one) for one in (*keys, *values)), _MAP_COST)
        self._entries[node] = _Entry(self._joined(keys), self._joined(values), is_list=False)
        return cost

    def _joined(self, nodes: Sequence[Node]) -> Range:
        if not nodes:
            return NOTHING
        joined = Range(LIMIT, 0)
        for one in nodes:
            joined |= self._size_or_unknown(one)
        return joined

    def call(self, node: Call) -> Range:
        """Return the cost of a call."""
        if node.function == "dyn" and len(node.arguments) == 1:
            return self._dyn(node)
        called = self._checked.invocation(node)
        costs = [self.cost(one) for one in called.arguments]
        before = self.cost(called.target) if called.target is not None else NOTHING
        found = self._operator(node, costs)
        if found is None:
            found = self._function(node, called, sum(costs, NOTHING))
        size = found.size or self._size(node)
        if size is not None:
            self._sizes[node] = size
        return before + found.cost

    def _dyn(self, node: Call) -> Range:
        (inner,) = node.arguments
        cost = self.cost(inner) + ONE
        self._copy(node, inner)
        return cost

    def _copy(self, node: Node, source: Node) -> None:
        size, entry = self._size(source), self._entry(source)
        if size is not None:
            self._sizes[node] = size
        if entry is not None:
            self._entries[node] = entry

    def _operator(self, node: Call, costs: list[Range]) -> Estimate | None:
        """Return the cost of an operator that does not always evaluate what it is given, or that finds parts."""
        arguments = node.arguments
        match node.function:
            case "_&&_" | "_||_":
                return Estimate(Range(costs[0].least, (costs[0] + costs[1]).most))
            case "_?_:_":
                entry, other = self._entry(arguments[1]), self._entry(arguments[2])
                if entry is not None and other is not None:
                    self._entries[node] = entry | other
                size = self._size_or_unknown(arguments[1]) | self._size_or_unknown(arguments[2])
                return Estimate(costs[0] + (costs[1] | costs[2]), size)
            case "_[_]":
                entry = self._entry(arguments[0])
                part = VALUES if self._type(arguments[0]).name in {"map", "dyn"} else ITEMS
                self._paths[node] = (*self._path(arguments[0]), part)
                return Estimate(costs[0] + costs[1] + ONE, entry.value if entry is not None else None)
            case _:
                return None

    def _argument(self, node: Node) -> Argument:
        given, path = self._type(node), self._path(node)
        item: Range | None = None
        if given.name == "list":
            known = self._root.at((*path[1:], ITEMS)) if path else None
            item = Range(0, known.most) if known is not None else UNKNOWN
        return Argument(node, given, self._size_or_unknown(node), item)

    def _function(self, node: Call, called: Invocation, costs: Range) -> Estimate:
        name = called.name
        arguments = [self._argument(one) for one in called.arguments]
        on = self._argument(called.target) if called.target is not None else None
        whole: Estimate | None = None
        for overload in self._checked.overloads.get(node, ()):
            found = call_cost(name, overload, on, arguments)
            whole = found if whole is None else Estimate(whole.cost | found.cost, _either(whole.size, found.size))
        if name == "_+_":
            one, other = (self._entry(each) for each in node.arguments)
            if one is not None and other is not None:
                self._entries[node] = one | other
        found = whole or Estimate(ONE)
        return Estimate(found.cost + costs, found.size)

    def comprehension(self, node: Comprehension) -> Range:
        """Return the cost of a loop."""
        ranged = self.cost(node.range)
        before, turn_before, after = _FRAMES[_FORMS[node.macro]]
        for name, local in zip(node.variables, self._variables(node), strict=True):
            self._locals.setdefault(name, []).append(local)
        step = self._step(node)
        for name in node.variables:
            self._locals[name].pop()
        count = self._size_or_unknown(node.range)
        self._sizes[node] = count if _FORMS[node.macro] in {"list", "map"} else ONE
        return ranged + before + after + count * (turn_before + step)

    def _variables(self, node: Comprehension) -> tuple[_Local, ...]:
        entry, path = self._entry(node.range), self._path(node.range)
        is_list = entry.is_list if entry is not None else self._type(node.range).name == "list"
        key, value = (entry.key, entry.value) if entry is not None else (None, None)
        if len(node.variables) == 2:
            first, second = ("@indices", ITEMS) if is_list else (KEYS, VALUES)
            return _Local((*path, first), key), _Local((*path, second), value)
        return (_Local((*path, ITEMS), value),) if is_list else (_Local((*path, KEYS), key),)

    def _step(self, node: Comprehension) -> Range:
        """Return the cost of one turn, and note what the loop makes."""
        asked = self.cost(node.condition) if node.condition is not None else None
        form = _FORMS[node.macro]
        if form in {"all", "exists"}:
            return Range(1, (ONE + (asked or NOTHING)).most)
        if form == "count":
            return (asked or NOTHING) + Range(1, 2)
        if node.macro == "filter":
            kept = Ident(node.offset, node.variables[0])
            self._checked.types.setdefault(kept, self._type(node).parameters[0])
            made, size = self.cost(kept), self._size_or_unknown(kept)
        else:
            made = self.cost(node.result) if node.result is not None else NOTHING
            size = self._size_or_unknown(node.result) if node.result is not None else UNKNOWN
        added = made + (exactly(12) if form == "list" else exactly(3))
        if form == "list":
            self._entries[node] = _Entry(ONE, NOTHING | size, is_list=True)
        return added if asked is None else asked + (added | ONE)

    def bind(self, node: Bind) -> Range:
        """Return the cost of a binding."""
        value = self.cost(node.value)
        given = value + ONE if node.optional else value
        path = self._path(node.value) if not node.optional else ()
        size = self._size(node.value) if not node.optional else None
        self._locals.setdefault(node.name, []).append(_Local(path, size, self._entry(node.value)))
        body = self.cost(node.body)
        self._copy(node, node.body)
        self._locals[node.name].pop()
        bound = _LIST_COST + given + body
        if not node.optional:
            return bound
        made = bound if node.flat else bound + ONE
        return value + ONE + (made | ONE)


def _either(one: Range | None, other: Range | None) -> Range | None:
    return one | other if one is not None and other is not None else one or other


def _literal_size(node: Node) -> Range | None:
    if isinstance(node, ListLiteral):
        return exactly(len(node.items))
    if isinstance(node, MapLiteral):
        return exactly(len(node.entries))
    if isinstance(node, Literal):
        value: Any = node.value
        return exactly(len(value) if isinstance(value, str | bytes) else 1)
    return None


def _is_scalar(given: Type) -> bool:
    return given.name in _SCALARS or (given.name == "optional_type" and _is_scalar(given.parameters[0]))


_FORMS = {
    "all": "all",
    "exists": "exists",
    "existsOne": "count",
    "map": "list",
    "filter": "list",
    "transformList": "list",
    "transformMap": "map",
    "transformMapEntry": "map",
}
_FRAMES: dict[str, tuple[Range, Range, Range]] = {
    "all": (NOTHING, exactly(2), ONE),
    "exists": (NOTHING, exactly(3), ONE),
    "count": (NOTHING, NOTHING, ONE + ONE.scaled(TRAVERSAL)),
    "list": (_LIST_COST, NOTHING, ONE),
    "map": (_MAP_COST, NOTHING, ONE),
}
"""What a loop costs before it begins, at each turn to see whether to go on, and for its result."""
