"""Macros: calls that are syntax, replaced while parsing.

Source: cel-go ``parser/macro.go``, ``ext/comprehensions.go``, ``ext/{bindings,lists}.go``, ``cel/library.go`` (optMap).
"""

from __future__ import annotations

from collections.abc import Callable

from hyperkube_lib.cel.syntax import Bind, Call, Comprehension, Ident, Node, Select

Report = Callable[[int, str], None]
_TWO_FORM = {"all": "all", "exists": "exists", "exists_one": "existsOne", "existsOne": "existsOne"}
_SORTED = "@__sortBy_input__"
_TRANSFORMS = {"transformList", "transformMap", "transformMapEntry"}


def expand(call: Call, report: Report) -> Node:
    """Return what a call stands for: a macro's meaning, or the call itself."""
    count = len(call.arguments)
    if call.target is None:
        if call.function == "has" and count == 1:
            return _has(call, report)
        return call
    if call.function in {"optMap", "optFlatMap"} and count == 2:
        name = _variable(call.arguments[0], report, f"{call.function}() variable name must be a simple identifier")
        flat = call.function == "optFlatMap"
        return Bind(call.offset, name, call.target, call.arguments[1], optional=True, flat=flat)
    if call.function == "sortBy" and count == 2:
        return _sorted(call, report)
    return _comprehension(call, report)


def _sorted(call: Call, report: Report) -> Node:
    """Return a list sorted by what becomes of its items: evaluated once, under a name that cannot be written."""
    assert call.target is not None  # noqa: S101  the caller looked
    items = Ident(call.offset, _SORTED)
    name = _variable(call.arguments[0], report)
    keys = Comprehension(call.offset, "map", items, (name,), None, call.arguments[1])
    return Bind(call.offset, _SORTED, call.target, Call(call.offset, "@sortByAssociatedKeys", items, (keys,)))


def _has(call: Call, report: Report) -> Node:
    argument = call.arguments[0]
    if isinstance(argument, Select) and not argument.test:
        return Select(call.offset, argument.operand, argument.field, test=True)
    report(argument.offset, "invalid argument to has() macro")
    return call


def _variable(node: Node, report: Report, text: str = "argument must be a simple name") -> str:
    if isinstance(node, Ident) and not node.name.startswith("."):
        return node.name
    report(node.offset, text)
    return "_"


def _comprehension(call: Call, report: Report) -> Node:
    arguments, target = call.arguments, call.target
    assert target is not None  # noqa: S101  the caller looked
    count, function = len(arguments), call.function
    if function in _TWO_FORM and count in {2, 3}:
        names = tuple(_variable(one, report) for one in arguments[:-1])
        return Comprehension(call.offset, _TWO_FORM[function], target, names, arguments[-1])
    if function == "filter" and count == 2:
        return Comprehension(call.offset, "filter", target, (_variable(arguments[0], report),), arguments[1])
    if function == "map" and count in {2, 3}:
        name = _variable(arguments[0], report)
        condition = arguments[1] if count == 3 else None
        return Comprehension(call.offset, "map", target, (name,), condition, arguments[-1])
    if function in _TRANSFORMS and count in {3, 4}:
        names = (_variable(arguments[0], report), _variable(arguments[1], report))
        condition = arguments[2] if count == 4 else None
        return Comprehension(call.offset, function, target, names, condition, arguments[-1])
    return call
