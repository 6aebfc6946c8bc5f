"""The evaluator: turns a checked expression into nested closures, and counts what they cost.

Cost units are cel-go's: one for reading a name or a field and for a call, ten for a list, thirty for a map, forty for
a message, and a tenth for each character a function goes through. Source: cel-go ``interpreter/runtimecost.go``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hyperkube_lib.cel.checker import Checked
from hyperkube_lib.cel.errors import EvaluationError
from hyperkube_lib.cel.functions import Functions
from hyperkube_lib.cel.loops import loop
from hyperkube_lib.cel.steps import INLINE, Frame, Step, field_of, has_field, opened, select_optional
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
from hyperkube_lib.cel.values import NONE, Optional, Struct, TypeValue, kind_of, type_name

_LIST_COST, _MAP_COST, _STRUCT_COST = 10, 30, 40
_SCALARS = frozenset({str, bytes})


def build(node: Node, checked: Checked, functions: Functions) -> Step:
    """Return the closure that evaluates a node."""
    return _Builder(checked, functions).build(node)


class _Builder:
    def __init__(self, checked: Checked, functions: Functions) -> None:
        self._checked = checked
        self._functions = functions

    def build(self, node: Node) -> Step:
        """Return the closure of a node."""
        name = self._checked.names.get(node)
        if name is not None:
            return self._name(name, self._checked.types[node])
        if isinstance(node, Literal):
            value = node.value
            return lambda _frame: value
        if isinstance(node, Comprehension):
            return loop(node, self.build)
        makers: dict[type, Callable[[Any], Step]] = {
            Ident: lambda one: self._name(one.name.lstrip("."), self._checked.types[one]),
            Select: self._select,
            Call: self._call,
            ListLiteral: self._list,
            MapLiteral: self._map,
            StructLiteral: self._struct,
            Bind: self._bind,
        }
        return makers[type(node)](node)

    def _name(self, name: str, given: Type) -> Step:
        is_type = given.name == "type" and bool(given.parameters)
        constant = TypeValue(type_name(given.parameters[0])) if is_type else None

        def read(frame: Frame) -> Any:
            frame.cost += 1
            try:
                return frame.names[name]
            except KeyError:
                if constant is not None:
                    return constant
                raise EvaluationError(f"no such attribute(s): {name}") from None

        return read

    def _select(self, node: Select) -> Step:
        operand, field, test = self.build(node.operand), node.field, node.test

        def select(frame: Frame) -> Any:
            value = operand(frame)
            frame.spend(0 if test else 1)
            if type(value) is Optional:
                return select_optional(value, field) if not test else value.present and has_field(value.value, field)
            if test:
                return has_field(value, field)
            return field_of(value, field)

        return select

    def _call(self, node: Call) -> Step:
        special = INLINE.get(node.function) if node.target is None else None
        if special is not None:
            return special([self.build(one) for one in node.arguments])
        called = self._checked.invocation(node)
        name, method = called.name, called.is_method
        steps = tuple(self.build(one) for one in called.given)
        functions = self._functions

        def call(frame: Frame) -> Any:
            values = [step(frame) for step in steps]
            overload = functions.find(name, values, method=method)
            units = 1 + sum(len(value) // 10 for value in values if type(value) in _SCALARS)
            frame.spend(units + (overload.cost(*values) if overload.cost is not None else 0))
            return overload.call(*values)

        return call

    def _list(self, node: ListLiteral) -> Step:
        steps = tuple((self.build(one), index in node.optional) for index, one in enumerate(node.items))

        def make(frame: Frame) -> list[Any]:
            frame.spend(_LIST_COST)
            items = []
            for step, optional in steps:
                value = step(frame)
                if not optional:
                    items.append(value)
                elif opened(value).present:
                    items.append(value.value)
            return items

        return make

    def _map(self, node: MapLiteral) -> Step:
        steps = tuple((self.build(one.key), self.build(one.value), one.optional) for one in node.entries)

        def make(frame: Frame) -> dict[Any, Any]:
            frame.spend(_MAP_COST)
            made: dict[Any, Any] = {}
            for key_step, value_step, optional in steps:
                key, value = key_step(frame), value_step(frame)
                if kind_of(key) not in {"string", "int", "uint", "bool"}:
                    raise EvaluationError(f"unsupported key type: {kind_of(key)}")
                if key in made:
                    raise EvaluationError(f"Failed with repeated key {key}")
                if not optional:
                    made[key] = value
                elif opened(value).present:
                    made[key] = value.value
            return made

        return make

    def _struct(self, node: StructLiteral) -> Step:
        name = node.name.lstrip(".")
        steps = tuple((one.name, self.build(one.value), one.optional) for one in node.fields)

        def make(frame: Frame) -> Struct:
            frame.spend(_STRUCT_COST)
            fields: dict[str, Any] = {}
            for field, step, optional in steps:
                value = step(frame)
                if not optional:
                    fields[field] = value
                elif opened(value).present:
                    fields[field] = value.value
            return Struct(name, fields)

        return make

    def _bind(self, node: Bind) -> Step:
        value_step, body, name = self.build(node.value), self.build(node.body), node.name
        optional, flat = node.optional, node.flat

        def bind(frame: Frame) -> Any:
            value = value_step(frame)
            if optional:
                if not opened(value).present:
                    return NONE
                value = value.value
            outer = frame.names
            frame.names = {**outer, name: value}
            try:
                result = body(frame)
            finally:
                frame.names = outer
            return result if flat or not optional else Optional(result)

        return bind
