"""Validation of the expressions of policies and match conditions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hyperkube.machinery.field import FieldError, Path, invalid
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube_lib.cel import Environment, Type


class Expressions:
    """The expressions of one object: the variables that they may use, its variables included.

    Args:
        params: whether the object has a parameter kind.
        variables: its declared variables.
        patches: whether its expressions make patches.
    """

    def __init__(self, *, params: bool = False, variables: Sequence[Object] = (), patches: bool = False) -> None:
        self._params = params
        self._variables = variables
        self._patches = patches
        self._scopes: dict[bool, Environment] = {}
        self.broken_variables: dict[str, str] = {}

    def condition(self, path: Path, source: str) -> list[FieldError]:
        """Check a match condition, which sees no variables."""
        from hyperkube_lib.cel.admission import QUESTION, environment

        scope = environment(params=self._params, authorizer=True, patches=False)
        return _check(path, source, scope, QUESTION)

    def question(self, path: Path, source: str) -> list[FieldError]:
        """Check a validation."""
        from hyperkube_lib.cel.admission import QUESTION

        return _check(path, source, self._scope(), QUESTION)

    def message(self, path: Path, source: str) -> list[FieldError]:
        """Check a message, which may not ask the authorizers."""
        from hyperkube_lib.cel.admission import TEXT

        return _check(path, source, self._scope(authorizer=False), TEXT)

    def annotation(self, path: Path, source: str) -> list[FieldError]:
        """Check the value of an audit annotation."""
        from hyperkube_lib.cel.admission import TEXT_OR_NULL

        return _check(path, source, self._scope(), TEXT_OR_NULL)

    def patch(self, path: Path, source: str, kind: str) -> list[FieldError]:
        """Check a mutation: ``JSONPatch`` or ``ApplyConfiguration``."""
        from hyperkube_lib.cel.admission import OBJECT, PATCHES_TYPE

        return _check(path, source, self._scope(), (PATCHES_TYPE if kind == "JSONPatch" else OBJECT,))

    def variable(self, path: Path, name: str, source: str) -> list[FieldError]:
        """Check a variable."""
        self._scope()
        text = self.broken_variables.get(name)
        return [] if text is None else [invalid(path, source, text)]

    def _scope(self, *, authorizer: bool = True) -> Environment:
        from hyperkube_lib.cel.admission import WrongExpression, compile_variables, environment

        if authorizer not in self._scopes:
            base = environment(params=self._params, authorizer=authorizer, patches=self._patches)
            declared = [(str(one.get("name") or ""), str(one.get("expression") or "")) for one in self._variables]
            self._scopes[authorizer], programs = compile_variables(base, declared)
            if authorizer:
                broken = {name: str(one) for name, one in programs.items() if isinstance(one, WrongExpression)}
                self.broken_variables = broken
        return self._scopes[authorizer]


def _check(path: Path, source: str, scope: Environment, wanted: tuple[Type, ...]) -> list[FieldError]:
    from hyperkube_lib.cel.admission import WrongExpression, compile_as

    try:
        compile_as(scope, source, wanted)
    except WrongExpression as error:
        return [invalid(path, source, str(error))]
    return []
