"""Functions and operators: declared once with a signature, used by the checker and by the evaluator.

A signature reads ``"string, int -> bool"``; a capital letter is a type variable (``"list(A), A -> int"``), and
``optional(A)`` a value that may be absent. A method's first parameter is its target.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from hyperkube_lib.cel.errors import NoSuchOverload
from hyperkube_lib.cel.types import Type, struct
from hyperkube_lib.cel.values import kind_of

from hyperkube.machinery.dataclass import dataclass

_Function = TypeVar("_Function", bound=Callable[..., Any])
_TOKEN = re.compile(r"\s*([A-Za-z_][\w.]*|[(),]|->)")
_FULL_NAMES = {
    "optional": "optional_type",
    "null": "null_type",
    "Quantity": "kubernetes.Quantity",
    "URL": "kubernetes.URL",
    "Semver": "kubernetes.Semver",
    "NamedFormat": "kubernetes.NamedFormat",
    "IP": "net.IP",
    "CIDR": "net.CIDR",
    "Authorizer": "kubernetes.authorization.Authorizer",
    "PathCheck": "kubernetes.authorization.PathCheck",
    "GroupCheck": "kubernetes.authorization.GroupCheck",
    "ResourceCheck": "kubernetes.authorization.ResourceCheck",
    "Decision": "kubernetes.authorization.Decision",
}


@dataclass(frozen=True, slots=True)
class Overload:
    """One way to call a function.

    Attributes:
        name: as expressions write it, dots included; operators as ``_+_``.
        method: whether it is called on a target.
        parameters: the target first.
        call: takes the values in that order.
        cost: units it costs beyond one and a tenth per character of its strings, from the same values.
    """

    name: str
    method: bool
    parameters: tuple[Type, ...]
    result: Type
    call: Callable[..., Any]
    cost: Callable[..., int] | None = None


class Library:
    """Functions that belong together; a module fills one by decorating its functions."""

    def __init__(self) -> None:
        self.overloads: list[Overload] = []

    def function(
        self, name: str, *signatures: str, cost: Callable[..., int] | None = None
    ) -> Callable[[_Function], _Function]:
        """Declare the decorated callable as a global function, once per signature."""
        return self._declare(name, signatures, cost, method=False)

    def method(
        self, name: str, *signatures: str, cost: Callable[..., int] | None = None
    ) -> Callable[[_Function], _Function]:
        """Declare the decorated callable as a method, once per signature."""
        return self._declare(name, signatures, cost, method=True)

    def _declare(
        self, name: str, signatures: Sequence[str], cost: Callable[..., int] | None, *, method: bool
    ) -> Callable[[_Function], _Function]:
        def declare(call: _Function) -> _Function:
            for text in signatures:
                parameters, result = read_signature(text)
                self.overloads.append(Overload(name, method, parameters, result, call, cost))
            return call

        return declare


def read_signature(text: str) -> tuple[tuple[Type, ...], Type]:
    """Read ``"list(A), A -> bool"``."""
    left, _, right = text.partition("->")
    return tuple(_read_types(left)), _read_types(right)[0]


def _read_types(text: str) -> list[Type]:
    tokens = _TOKEN.findall(text)
    types, end = _read_list(tokens, 0)
    if end != len(tokens):
        raise ValueError(f"bad signature {text!r}")
    return types


def _read_list(tokens: Sequence[str], at: int) -> tuple[list[Type], int]:
    types: list[Type] = []
    while at < len(tokens) and tokens[at] != ")":
        name = tokens[at]
        at += 1
        parameters: list[Type] = []
        if at < len(tokens) and tokens[at] == "(":
            parameters, at = _read_list(tokens, at + 1)
            at += 1
        types.append(_type(name, tuple(parameters)))
        if at < len(tokens) and tokens[at] == ",":
            at += 1
    return types, at


def _type(name: str, parameters: tuple[Type, ...]) -> Type:
    if len(name) == 1 and name.isupper():
        return Type(f"%{name}")
    if name.startswith("struct."):
        return struct(name.removeprefix("struct."), None)
    return Type(_FULL_NAMES.get(name, name), parameters)


class Functions:
    """All functions of an environment, by name."""

    def __init__(self, overloads: Iterable[Overload]) -> None:
        self._by_name: dict[tuple[str, bool], list[Overload]] = {}
        for overload in overloads:
            self._by_name.setdefault((overload.name, overload.method), []).append(overload)
        self._found: dict[tuple[Any, ...], Overload] = {}

    def of(self, name: str, *, method: bool) -> list[Overload]:
        """Return the overloads of a function; none when it does not exist."""
        return self._by_name.get((name, method), [])

    def knows(self, name: str) -> bool:
        """Tell whether there is a function or a method of that name."""
        return (name, False) in self._by_name or (name, True) in self._by_name

    def find(self, name: str, values: Sequence[Any], *, method: bool) -> Overload:
        """Return the overload for these values.

        Raises:
            NoSuchOverload: there is none.
        """
        kinds = tuple(map(kind_of, values))
        key = (name, method, kinds)
        found = self._found.get(key)
        if found is None:
            found = self._search(name, kinds, method=method)
            self._found[key] = found
        return found

    def _search(self, name: str, kinds: tuple[str, ...], *, method: bool) -> Overload:
        for overload in self.of(name, method=method):
            if len(overload.parameters) == len(kinds) and all(
                parameter.is_variable or parameter.name in {"dyn", kind}
                for parameter, kind in zip(overload.parameters, kinds, strict=True)
            ):
                return overload
        raise NoSuchOverload
