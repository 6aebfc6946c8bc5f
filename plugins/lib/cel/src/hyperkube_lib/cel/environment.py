"""The environment expressions are compiled in: which names, functions and message types there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from hyperkube_lib.cel.checker import Checked, StructTypes, check
from hyperkube_lib.cel.errors import CompilationFailed, EvaluationError, Issue, NotInstantiated, Unfinished
from hyperkube_lib.cel.estimates import estimate
from hyperkube_lib.cel.evaluator import build
from hyperkube_lib.cel.functions import Functions, Library
from hyperkube_lib.cel.library.strings import pattern
from hyperkube_lib.cel.parser import MAX_DEPTH, parse
from hyperkube_lib.cel.sizes import Size
from hyperkube_lib.cel.steps import Frame, Step
from hyperkube_lib.cel.syntax import Call, Literal, Node
from hyperkube_lib.cel.types import Type
from hyperkube_lib.cel.walk import children, names_in

CALL_COST_LIMIT = 1_000_000
"""What one evaluation may cost. Source: kubernetes apiserver ``pkg/apis/cel/config.go``."""

OBJECT_COST_BUDGET = 10_000_000
"""What all evaluations for one object or policy may cost together. Source: the same."""

_CACHED = 512


class Program:
    """A compiled expression; safe to use from many threads.

    Attributes:
        source: the expression.
        result: the type it gives.
        names: every name it mentions.
    """

    def __init__(self, source: str, node: Node, checked: Checked, step: Step) -> None:
        self.source = source
        self.result = checked.result
        self.names = frozenset(names_in(node))
        self._node = node
        self._checked = checked
        self._step = step

    def most(self, size: Size) -> int:
        """Return what it can cost at most, when the values it speaks of are no larger than `size`.

        2**64 - 1 stands for everything above.
        """
        return estimate(self._node, self._checked, size)

    def evaluate(self, names: Mapping[str, Any], limit: int = CALL_COST_LIMIT) -> Any:
        """Return the value for these names.

        Raises:
            EvaluationError: there is none.
        """
        return self.measure(names, limit)[0]

    def measure(self, names: Mapping[str, Any], limit: int = CALL_COST_LIMIT) -> tuple[Any, int]:
        """Return the value and what it cost.

        Raises:
            EvaluationError: there is none.
            Unfinished: a value that it speaks of is not there yet.
        """
        frame = Frame(dict(names), limit)
        try:
            return self._step(frame), frame.cost
        except RecursionError:
            raise EvaluationError("expression recursion limit exceeded") from None
        except Unfinished as cut:
            cut.cost += frame.cost
            raise


_PATTERNS = frozenset({"matches", "find", "findAll"})


def _check_patterns(node: Node) -> None:
    """Insist that the patterns which an expression writes out are such.

    Raises:
        NotInstantiated: one is none.
    """
    if isinstance(node, Call) and node.function in _PATTERNS and node.arguments:
        written = node.arguments[0] if node.target is not None else node.arguments[-1]
        if isinstance(written, Literal) and isinstance(written.value, str):
            try:
                pattern(written.value)
            except EvaluationError as error:
                raise NotInstantiated(str(error)) from error
    for child in children(node):
        _check_patterns(child)


def _no_structs(_name: str) -> Type | None:
    return None


class Environment:
    """Compiles expressions, and remembers those it compiled last.

    Args:
        variables: the type of each name; a name may have dots.
        libraries: the functions.
        structs: finds message types by name.
    """

    def __init__(
        self, variables: Mapping[str, Type], libraries: Iterable[Library], structs: StructTypes = _no_structs
    ) -> None:
        self._variables = dict(variables)
        self._libraries = tuple(libraries)
        self._functions = Functions(one for library in self._libraries for one in library.overloads)
        self._structs = structs
        self._compile: Callable[[str], Program] = lru_cache(_CACHED)(self._make)

    def extended(self, variables: Mapping[str, Type]) -> Environment:
        """Return an environment with more names."""
        return Environment({**self._variables, **variables}, self._libraries, self._structs)

    def compile(self, source: str) -> Program:
        """Compile an expression.

        Raises:
            CompilationFailed: it cannot work.
        """
        return self._compile(source)

    def _make(self, source: str) -> Program:
        try:
            node = parse(source)
            checked = check(source, node, self._variables, self._functions, self._structs)
            _check_patterns(node)
            return Program(source, node, checked, build(node, checked, self._functions))
        except RecursionError:
            text = f"expression recursion limit exceeded: {MAX_DEPTH}"
            raise CompilationFailed(source, [Issue(0, text)]) from None
