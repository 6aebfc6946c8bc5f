"""Declared defaults, applied wherever a type with one occurs.

Only the ways that lead to a default are compiled, into one function for a kind, so that an object without any costs a
few dictionary look-ups.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hyperkube.machinery.schema.fields import KubeField, List, Map, Struct
from hyperkube.machinery.schema.structs import members

if TYPE_CHECKING:
    from hyperkube.machinery.schema.base import KubeSchema

Defaulter = Callable[[Any], None]


def has_defaults(schema: type[KubeSchema]) -> bool:
    """Tell whether a default is declared in the schema or anywhere below it."""
    seen: set[type[KubeSchema]] = set()
    waiting = [schema]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for field in members(current).values():
            if matters(field):
                return True
            inner = _struct_of(field)
            if inner is not None:
                waiting.append(inner.schema())
    return False


def matters(field: KubeField) -> bool:
    """Tell whether a field has a default that changes an object: not the zero value of what is left out anyway."""
    return field.default is not None and (field.ptr or bool(field.default))


def _struct_of(field: KubeField) -> Struct | None:
    while isinstance(field, List | Map):
        field = field.items
    return field if isinstance(field, Struct) else None


def defaulter(schema: type[KubeSchema]) -> Defaulter | None:
    """Return a function that fills in the declared defaults of an object in place, or None if there are none."""
    if schema.shape or not has_defaults(schema):
        return None
    source = _Source()
    name = source.function(schema)
    functions: dict[str, Any] = {}
    exec("\n".join(source.lines), functions)  # noqa: S102  of declared names and defaults alone
    fill: Defaulter = functions[name]
    return fill


class _Source:
    """Python that fills in objects: one function has a whole tree of types, as calls are what costs.

    Attributes:
        lines: the functions, of the schema and of types that contain themselves.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._names: dict[type[KubeSchema], str] = {}

    def function(self, schema: type[KubeSchema]) -> str:
        """Return the name of the function for a type; write it when it is first asked for."""
        name = self._names.get(schema)
        if name is None:
            name = self._names[schema] = f"fill_{len(self._names)}"
            self.lines += [f"def {name}(value):", *_indented(self._filling(schema, "value", (schema,))), " return"]
        return name

    def _filling(self, schema: type[KubeSchema], value: str, above: tuple[type[KubeSchema], ...]) -> list[str]:
        """Return what fills in the object in the variable `value`; `above` are the types that contain it."""
        lines = []
        for name, field in members(schema).items():
            if matters(field):
                lines += [f"if {value}.get({name!r}) is None:", f" {value}[{name!r}] = {field.default!r}"]
            below = self._going_below(field, f"{value}[{name!r}]", f"{value}_", above)
            if below:  # of many members few are there
                lines += [f"if {name!r} in {value}:", *_indented(below)]
        return [f"if {value}.__class__ is dict:", *_indented(lines)] if lines else []

    def _going_below(self, field: KubeField, value: str, inner: str, above: tuple[type[KubeSchema], ...]) -> list[str]:
        """Return what fills in the value of an expression, by way of the variable `inner`."""
        if isinstance(field, List | Map):
            lines = self._going_below(field.items, inner, f"{inner}_", above)
            each = f"{value} or ()" if isinstance(field, List) else f"({value} or {{}}).values()"
            return [f"for {inner} in {each}:", *_indented(lines)] if lines else []
        if not isinstance(field, Struct) or field.schema().shape or not has_defaults(field.schema()):
            return []
        schema = field.schema()
        if schema in above:
            return [f"{self.function(schema)}({value})"]
        if value.isidentifier():
            return self._filling(schema, value, (*above, schema))
        return [f"{inner} = {value}", *self._filling(schema, inner, (*above, schema))]


def _indented(lines: list[str]) -> list[str]:
    return [f" {line}" for line in lines]
