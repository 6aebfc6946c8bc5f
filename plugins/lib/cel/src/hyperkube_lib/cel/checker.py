"""The checker: gives every node a type, resolves dotted names, and says what can never work.

Source: cel-go ``checker/checker.go``, ``checker/errors.go``; ``cel/validator.go`` (homogeneous literals).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

from hyperkube_lib.cel.errors import CompilationFailed, Issue
from hyperkube_lib.cel.functions import Functions, Overload
from hyperkube_lib.cel.literals import mixed_literals
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
from hyperkube_lib.cel.types import (
    BOOL,
    DYN,
    ERROR,
    INT,
    Substitution,
    Type,
    list_of,
    map_of,
    optional_of,
    shown,
    type_of,
)
from hyperkube_lib.cel.values import kind_of
from hyperkube_lib.cel.walk import Visitor, qualified

from hyperkube.machinery.dataclass import dataclass

StructTypes: TypeAlias = Callable[[str], Type | None]
_TYPE_NAMES = {
    *("int", "uint", "double", "bool", "string", "bytes", "list", "map", "null_type", "type", "timestamp", "duration"),
    *("optional_type", "google.protobuf.Timestamp", "google.protobuf.Duration"),
}
_ALIASES = {"google.protobuf.Timestamp": "timestamp", "google.protobuf.Duration": "duration"}


@dataclass(frozen=True, slots=True)
class Invocation:
    """What a call comes to: the function's name, the receiver of a method, and the arguments."""

    name: str
    target: Node | None
    arguments: tuple[Node, ...]

    @property
    def is_method(self) -> bool:
        """Whether it has a receiver, and is not a function whose name has dots."""
        return self.target is not None

    @property
    def given(self) -> tuple[Node, ...]:
        """All that is evaluated for the call, the receiver first."""
        return self.arguments if self.target is None else (self.target, *self.arguments)


@dataclass(slots=True)
class Checked:
    """What the checker found out.

    Attributes:
        types: the type of each node.
        names: nodes that are a (dotted) variable or type rather than a selection: the name.
        functions: calls whose target is part of the function's name: that name.
        overloads: the overloads that fit each call.
    """

    result: Type
    types: dict[Node, Type] = field(default_factory=dict)
    names: dict[Node, str] = field(default_factory=dict)
    functions: dict[Node, str] = field(default_factory=dict)
    overloads: dict[Node, list[Overload]] = field(default_factory=dict)

    def invocation(self, node: Call) -> Invocation:
        """Return what a call comes to, once it was checked."""
        name = self.functions.get(node)
        if name is not None:
            return Invocation(name, None, node.arguments)
        return Invocation(node.function.lstrip("."), node.target, node.arguments)


def check(
    source: str, node: Node, variables: Mapping[str, Type], functions: Functions, structs: StructTypes
) -> Checked:
    """Check a parsed expression.

    Raises:
        CompilationFailed: it cannot work.
    """
    checker = _Checker(variables, functions, structs)
    result = checker.type_of(node)
    if checker.issues:
        raise CompilationFailed(source, checker.issues)
    checked = checker.checked
    checked.types = {one: checker.types.resolve(found, final=True) for one, found in checked.types.items()}
    checked.result = checker.types.resolve(result, final=True)
    issues = mixed_literals(node, checked.types)
    if issues:
        raise CompilationFailed(source, issues)
    return checked


class _Checker(Visitor[Type]):
    def __init__(self, variables: Mapping[str, Type], functions: Functions, structs: StructTypes) -> None:
        self._scopes: list[dict[str, Type]] = [dict(variables)]
        self._functions = functions
        self._structs = structs
        self.types = Substitution()
        self.issues: list[Issue] = []
        self.checked = Checked(DYN)

    def type_of(self, node: Node) -> Type:
        """Return and note the type of a node."""
        found = self.visit(node)
        self.checked.types[node] = found
        return found

    def literal(self, node: Literal) -> Type:
        """Return the type of a constant."""
        return Type(kind_of(node.value))

    def _issue(self, offset: int, text: str) -> Type:
        self.issues.append(Issue(offset, text))
        return ERROR

    def _lookup(self, name: str) -> Type | None:
        scopes = self._scopes[:1] if name.startswith(".") else reversed(self._scopes)
        name = name.lstrip(".")
        for scope in scopes:
            if name in scope:
                return scope[name]
        if name in _TYPE_NAMES:
            return type_of(Type(_ALIASES.get(name, name)))
        return None

    def _undeclared(self, offset: int, name: str) -> Type:
        return self._issue(offset, f"undeclared reference to '{name}' (in container '')")

    def ident(self, node: Ident) -> Type:
        """Return the type of a name."""
        found = self._lookup(node.name)
        if found is None:
            return self._undeclared(node.offset, node.name.lstrip("."))
        self.checked.names[node] = node.name.lstrip(".")
        return found

    def select(self, node: Select) -> Type:
        """Return the type of a member."""
        name = "" if node.test else qualified(node)
        root = name.partition(".")[0]
        shadowed = any(root in scope for scope in self._scopes[1:])
        if name and not shadowed:
            found = self._lookup(name)
            if found is not None:
                self.checked.names[node] = name
                return found
        field_type = self._field(node.offset, self.type_of(node.operand), node.field)
        return BOOL if node.test else field_type

    def _field(self, offset: int, operand: Type, name: str) -> Type:
        operand = self.types.resolve(operand)
        if operand.name == "optional_type":
            inner = self._field(offset, operand.parameters[0], name)
            return inner if inner == ERROR else optional_of(inner)
        if operand.is_variable:
            self.types.accepts(operand, DYN)
            return DYN
        if operand in {DYN, ERROR}:
            return DYN
        if operand.name == "map":
            return operand.parameters[1]
        if not operand.struct:
            return self._issue(offset, f"type '{shown(operand)}' does not support field selection")
        if operand.fields is None:
            return DYN
        if name not in operand.fields:
            return self._issue(offset, f"undefined field '{name}'")
        return operand.fields[name]

    def call(self, node: Call) -> Type:
        """Return the type of a call."""
        if node.function == "_?._":
            self.type_of(node.arguments[1])  # the name, which has a cost of its own
            found = self._field(
                node.offset, self.type_of(node.arguments[0]), str(getattr(node.arguments[1], "value", ""))
            )
            resolved = self.types.resolve(found)
            return resolved if resolved.name == "optional_type" else optional_of(resolved)
        namespace = qualified(node.target) if node.target is not None else ""
        if (
            namespace
            and self._functions.of(f"{namespace}.{node.function}", method=False)
            and self._lookup(namespace.partition(".")[0]) is None
        ):
            self.checked.functions[node] = f"{namespace}.{node.function}"
        called = self.checked.invocation(node)
        given = [self.type_of(one) for one in called.given]
        return self._resolve(node, called.name, given, method=called.is_method)

    def _resolve(self, node: Call, name: str, given: Sequence[Type], *, method: bool) -> Type:
        if not self._functions.knows(name):
            return self._undeclared(node.offset, name)
        overloads = self._functions.of(name, method=method)
        if ERROR in given and overloads:
            return ERROR
        result: Type | None = None
        for overload in overloads:
            found = self._apply(overload, given)
            if found is None:
                continue
            self.checked.overloads.setdefault(node, []).append(overload)
            if result is None:
                result = found
            elif self.types.resolve(result) != self.types.resolve(found):
                result = DYN
        if result is None:
            return self._no_overload(node.offset, name, given, method=method)
        return result

    def _apply(self, overload: Overload, given: Sequence[Type]) -> Type | None:
        if len(overload.parameters) != len(given):
            return None
        mark, names = self.types.mark(), dict[str, Type]()
        wanted = [self.types.fresh_copy(one, names) for one in overload.parameters]
        if all(self.types.accepts(one, other) for one, other in zip(wanted, given, strict=True)):
            return self.types.resolve(self.types.fresh_copy(overload.result, names))
        self.types.reset(mark)
        return None

    def _no_overload(self, offset: int, name: str, given: Sequence[Type], *, method: bool) -> Type:
        names = [shown(self.types.resolve(one, final=True)) for one in given]
        arguments = f"{names[0]}.({', '.join(names[1:])})" if method else f"({', '.join(names)})"
        return self._issue(offset, f"found no matching overload for '{name}' applied to '{arguments}'")

    def list_of(self, node: ListLiteral) -> Type:
        """Return the type of a list."""
        item: Type | None = None
        for index, one in enumerate(node.items):
            found = self.type_of(one)
            if index in node.optional:
                found = self._unwrapped(one, found)
            item = found if item is None else self.types.join(item, found)
        return list_of(item if item is not None else self.types.fresh())

    def _unwrapped(self, node: Node, given: Type) -> Type:
        resolved = self.types.resolve(given)
        if resolved.name == "optional_type":
            return resolved.parameters[0]
        if resolved not in {DYN, ERROR}:
            return self._issue(
                node.offset, f"expected type 'optional_type({shown(resolved)})' but found '{shown(resolved)}'"
            )
        return resolved

    def map_of(self, node: MapLiteral) -> Type:
        """Return the type of a map."""
        key: Type | None = None
        value: Type | None = None
        for entry in node.entries:
            key_type, value_type = self.type_of(entry.key), self.type_of(entry.value)
            if entry.optional:
                value_type = self._unwrapped(entry.value, value_type)
            key = key_type if key is None else self.types.join(key, key_type)
            value = value_type if value is None else self.types.join(value, value_type)
        fresh = self.types.fresh
        return map_of(key if key is not None else fresh(), value if value is not None else fresh())

    def struct(self, node: StructLiteral) -> Type:
        """Return the type of a message."""
        found = self._structs(node.name.lstrip("."))
        if found is None:
            self._undeclared(node.offset, node.name.lstrip("."))
        for one in node.fields:
            given = self.type_of(one.value)
            if one.optional:
                given = self._unwrapped(one.value, given)
            if found is None or found.fields is None:
                continue
            wanted = found.fields.get(one.name)
            if wanted is None:
                self._issue(one.offset, f"undefined field '{one.name}'")
            elif not self.types.accepts(wanted, given):
                text = f"expected type of field '{one.name}' is '{shown(wanted)}' but provided type is '{shown(given)}'"
                self._issue(one.offset, text)
        return found or ERROR

    def _range(self, node: Comprehension) -> tuple[Type, ...]:
        """Return the types of the variables of a comprehension."""
        given = self.types.resolve(self.type_of(node.range))
        two = len(node.variables) == 2
        if given.is_variable:
            self.types.accepts(given, DYN)
            given = DYN
        if given.name == "list":
            return (INT, given.parameters[0]) if two else (given.parameters[0],)
        if given.name == "map":
            return given.parameters if two else (given.parameters[0],)
        if given not in {DYN, ERROR}:
            text = f"expression of type '{shown(given)}' cannot be range of a comprehension"
            self._issue(node.range.offset, f"{text} (must be list, map, or dynamic)")
        return (DYN,) * len(node.variables)

    def comprehension(self, node: Comprehension) -> Type:
        """Return the type of a loop."""
        scope = dict(zip(node.variables, self._range(node), strict=True))
        self._scopes.append(scope)
        condition = self.type_of(node.condition) if node.condition is not None else BOOL
        result = self.type_of(node.result) if node.result is not None else DYN
        self._scopes.pop()
        ranged = self.types.resolve(self.checked.types[node.range])
        whole = _made(node, scope, ranged, result)
        if node.condition is not None and not self.types.accepts(BOOL, condition):
            self._bad_condition(node, condition, whole)
        return whole

    def _bad_condition(self, node: Comprehension, condition: Type, whole: Type) -> None:
        if node.macro in {"all", "exists"}:
            operator = "_&&_" if node.macro == "all" else "_||_"
            self._no_overload(node.offset, operator, (BOOL, condition), method=False)
        else:
            kept = INT if node.macro == "existsOne" else whole
            self._no_overload(node.offset, "_?_:_", (condition, kept, kept), method=False)

    def bind(self, node: Bind) -> Type:
        """Return the type of a binding."""
        value = self.types.resolve(self.type_of(node.value))
        if node.optional:
            if value.name == "optional_type":
                value = value.parameters[0]
            elif value not in {DYN, ERROR}:
                function = "optFlatMap" if node.flat else "optMap"
                return self._no_overload(node.offset, function, (value, DYN), method=True)
        self._scopes.append({node.name: value})
        body = self.type_of(node.body)
        self._scopes.pop()
        return optional_of(body) if node.optional and not node.flat else body


def _made(node: Comprehension, scope: Mapping[str, Type], ranged: Type, result: Type) -> Type:
    if node.macro in {"all", "exists", "existsOne"}:
        return BOOL
    if node.macro == "filter":
        return list_of(scope[node.variables[0]])
    if node.macro in {"map", "transformList"}:
        return list_of(result)
    if node.macro == "transformMap":
        key = ranged.parameters[0] if ranged.name == "map" else INT if ranged.name == "list" else DYN
        return map_of(key, result)
    return result if result.name == "map" else map_of(DYN, DYN)
