"""Expressions that belong together, evaluated for one request within one budget.

Source: kubernetes apiserver ``pkg/admission/plugin/cel/{condition,composition}.go``,
``pkg/admission/plugin/webhook/matchconditions/matcher.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from hyperkube_lib.cel import OBJECT_COST_BUDGET, CostExceeded, Environment, EvaluationError, Program
from hyperkube_lib.cel.admission import QUESTION, WrongExpression, compile_as
from hyperkube_lib.cel.errors import Unfinished
from hyperkube_lib.cel.values import LazyMap

from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.objects import Object

Compiled = Program | WrongExpression
MATCH_COST_BUDGET = 2_500_000
"""What match conditions may cost together. Source: kubernetes apiserver ``pkg/apis/cel/config.go``."""

DEEPEST = 40
"""How many variables are evaluated within one another; Python's stack bears a hundred, and a server's own calls."""

_OUT_OF_BUDGET = "validation failed due to running out of cost budget, no further validation rules will be run"


class Failed(Exception):
    """An expression gave no value; ``str()`` is Kubernetes' text."""


class OutOfBudget(Failed):
    """There is nothing left to spend: evaluate no more."""


class _TooDeep(Unfinished):
    """A variable is read within too many others: it is to be evaluated first."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


def compiled(scope: Environment, source: str, wanted: tuple[Any, ...]) -> Compiled:
    """Compile an expression, or keep why it cannot be."""
    try:
        return compile_as(scope, source, wanted)
    except WrongExpression as error:
        return error


class Evaluation:
    """The expressions of one policy for one request: names, variables made when needed, and the budget."""

    def __init__(self, names: Mapping[str, Any], variables: Mapping[str, Compiled]) -> None:
        self._names = dict(names)
        self._left = OBJECT_COST_BUDGET
        makers = {name: self._maker(name, program) for name, program in variables.items()}
        self._names["variables"] = self._variables = LazyMap(makers)
        self._depth = 0

    def _maker(self, name: str, program: Compiled) -> Callable[[], Any]:
        def make() -> Any:
            if isinstance(program, WrongExpression):
                raise EvaluationError(f'composited variable "{name}" fails to compile: {program}')
            if self._depth == DEEPEST:
                raise _TooDeep(name)
            self._depth += 1
            try:
                return self._spend(program)
            except CostExceeded:
                raise
            except EvaluationError as error:
                raise EvaluationError(f'composited variable "{name}" fails to evaluate: {error}') from error
            finally:
                self._depth -= 1

        return make

    def _spend(self, program: Program) -> Any:
        value, cost = program.measure(self._names)
        self._left -= cost
        return value

    def _settled(self, program: Program) -> Any:
        """Return the value of an expression; variables that it reads too deep are evaluated before it.

        Each of them is then there when it is read again, as a value or a failure. What was begun in vain is spent, too.
        """
        first: list[str] = []
        while True:
            try:
                if not first:
                    return self._spend(program)
                with suppress(EvaluationError):  # for the expression that reads it
                    _ = self._variables[first[-1]]
                first.pop()
            except _TooDeep as cut:
                self._left -= cut.cost
                if self._left < 0:
                    raise OutOfBudget(_OUT_OF_BUDGET) from cut
                first.append(cut.name)

    @contextmanager
    def apart(self, budget: int) -> Iterator[None]:
        """Evaluate what follows within a budget of its own."""
        left, self._left = self._left, budget
        try:
            yield
        finally:
            self._left = left

    def value(self, program: Compiled, **more: Any) -> Any:
        """Return the value of an expression; `more` are further names.

        Raises:
            OutOfBudget: the budget is spent.
            Failed: there is no value.
        """
        if isinstance(program, WrongExpression):
            raise Failed(f"compilation error: {program}")
        self._names.update(more)
        try:
            value = self._settled(program)
        except CostExceeded as error:
            raise OutOfBudget(_OUT_OF_BUDGET) from error
        except EvaluationError as error:
            raise Failed(f"expression '{program.source}' resulted in error: {error}") from error
        if self._left < 0:
            raise OutOfBudget(_OUT_OF_BUDGET)
        return value


class Conditions:
    """Match conditions: all must hold for a webhook or policy to be asked."""

    def __init__(self, scope: Environment, declared: Sequence[Object]) -> None:
        self._programs = [compiled(scope, str(one.get("expression") or ""), QUESTION) for one in declared]

    def hold(self, evaluation: Evaluation) -> bool:
        """Tell whether all hold; one that does not outweighs those that fail.

        Raises:
            Failed: none is false, but some have no value.
        """
        failures: list[str] = []
        with evaluation.apart(MATCH_COST_BUDGET):
            for program in self._programs:
                try:
                    if evaluation.value(program) is not True:
                        return False
                except OutOfBudget:
                    raise
                except Failed as error:
                    failures.append(str(error))
        if failures:
            raise Failed(aggregate(failures))
        return True
