"""Expressions over the claims of a token and over the user they make.

Source: kubernetes apiserver ``pkg/authentication/cel/{compile,mapper}.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from hyperkube_lib.cel import CelError, CompilationFailed, EvaluationError, Program, base_environment
from hyperkube_lib.cel.environment import Environment
from hyperkube_lib.cel.parser import parse
from hyperkube_lib.cel.syntax import Call, Ident, Literal, Node, Select
from hyperkube_lib.cel.types import BOOL, DYN, STRING, Type, list_of, map_of, output_name, struct
from hyperkube_lib.cel.walk import children

from hyperkube.machinery.users import UserInfo

_TEXTS = list_of(STRING)
_USER = struct(
    "kubernetes.UserInfo", {"username": STRING, "uid": STRING, "groups": _TEXTS, "extra": map_of(STRING, _TEXTS)}
)
_OPTIONAL_SELECT = "_?._"

__all__ = ["EvaluationError", "WrongExpression", "claims_rule", "claims_value", "holds", "texts", "user_rule", "uses"]


class WrongExpression(CelError):
    """An expression that cannot be used where it stands; ``str()`` is Kubernetes' text."""


@lru_cache(1)
def _claims() -> Environment:
    return base_environment({"claims": map_of(STRING, DYN)})


@lru_cache(1)
def _user() -> Environment:
    return base_environment({"user": _USER})


def _compiled(scope: Environment, source: str, wanted: Type | None) -> Program:
    try:
        program = scope.compile(source)
    except CompilationFailed as error:
        raise WrongExpression(f"compilation failed: {error}") from error
    if wanted is not None and program.result != wanted:
        raise WrongExpression(f"must evaluate to {output_name(wanted)}")
    return program


def claims_value(source: str) -> Program:
    """Compile an expression that makes something of ``claims``.

    Raises:
        WrongExpression: it cannot work.
    """
    return _compiled(_claims(), source, None)


def claims_rule(source: str) -> Program:
    """Compile a question about ``claims``.

    Raises:
        WrongExpression: it cannot work, or is no question.
    """
    return _compiled(_claims(), source, BOOL)


def user_rule(source: str) -> Program:
    """Compile a question about ``user``.

    Raises:
        WrongExpression: it cannot work, or is no question.
    """
    return _compiled(_user(), source, BOOL)


def uses(program: Program, field: str) -> bool:
    """Tell whether an expression reads ``claims.field``, also as ``claims.?field`` or in ``has()``."""
    return _reads(parse(program.source), field)


def _reads(node: Node, field: str) -> bool:
    match node:
        case Select(operand=Ident(name="claims"), field=found) if found == field:
            return True
        case Call(function=function, arguments=(Ident(name="claims"), Literal(value=found))) if (
            function == _OPTIONAL_SELECT and found == field
        ):
            return True
    return any(_reads(child, field) for child in children(node))


def holds(program: Program, name: str, value: Mapping[str, Any]) -> bool:
    """Answer a question.

    Raises:
        EvaluationError: there is no answer.
    """
    return program.evaluate({name: value}) is True


def shown(user: UserInfo) -> dict[str, Any]:
    """Return a user as expressions see one."""
    extra = {key: list(values) for key, values in (user.extra or {}).items()}
    return {"username": user.name, "uid": user.uid, "groups": list(user.groups), "extra": extra}


def texts(value: Any) -> tuple[str, ...]:
    """Return a value as a list of texts: one text or several; empty ones, and null, are not there.

    Raises:
        EvaluationError: it is something else.
    """
    if value is None:
        return ()
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list | tuple) or not all(isinstance(one, str) for one in values):
        raise EvaluationError("expression must return a string or a list of strings")
    return tuple(one for one in values if one)
