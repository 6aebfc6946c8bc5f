"""Comprehensions at run time: the macros that run over a list or a map."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from hyperkube_lib.cel.errors import CostExceeded, EvaluationError, NoSuchOverload
from hyperkube_lib.cel.syntax import Comprehension, Node

if TYPE_CHECKING:
    from hyperkube_lib.cel.steps import Frame, Step

_TURN_COST = 2


def loop(node: Comprehension, build: Callable[[Node], Step]) -> Step:
    """Return the closure of a comprehension."""
    ranged = build(node.range)
    condition = build(node.condition) if node.condition is not None else None
    result = build(node.result) if node.result is not None else None
    run = _RUNS[node.macro]
    names = node.variables

    def repeat(frame: Frame) -> Any:
        over = ranged(frame)
        outer = frame.names
        frame.names = dict(outer)
        try:
            return run(_turns(frame, over, names), frame, condition, result)
        finally:
            frame.names = outer

    return repeat


def _turns(frame: Frame, over: Any, names: tuple[str, ...]) -> Iterator[Any]:
    """Bind the variables turn by turn; yield the first variable's value."""
    if isinstance(over, dict):
        pairs: Any = over.items()
    elif isinstance(over, list):
        pairs = enumerate(over) if len(names) == 2 else ((item, item) for item in over)
    else:
        raise NoSuchOverload
    for key, value in pairs:
        frame.spend(_TURN_COST)
        frame.names[names[0]] = key
        if len(names) == 2:
            frame.names[names[1]] = value
        yield key


def _seek(turns: Iterator[Any], frame: Frame, condition: Step, wanted: bool) -> bool:
    """Tell whether the condition has the wanted value at some turn; an error counts only when none has."""
    failure: EvaluationError | None = None
    for _ in turns:
        try:
            value = condition(frame)
        except CostExceeded:
            raise
        except EvaluationError as error:
            failure = failure or error
            continue
        if type(value) is not bool:
            failure = failure or NoSuchOverload()
        elif value is wanted:
            return True
    if failure is not None:
        raise failure
    return False


def _all(turns: Iterator[Any], frame: Frame, condition: Step, _result: Step | None) -> bool:
    return not _seek(turns, frame, condition, wanted=False)


def _exists(turns: Iterator[Any], frame: Frame, condition: Step, _result: Step | None) -> bool:
    return _seek(turns, frame, condition, wanted=True)


def _holds(frame: Frame, condition: Step | None) -> bool:
    if condition is None:
        return True
    value = condition(frame)
    if type(value) is not bool:
        raise NoSuchOverload
    return value


def _exists_one(turns: Iterator[Any], frame: Frame, condition: Step, _result: Step | None) -> bool:
    return sum(_holds(frame, condition) for _ in turns) == 1


def _filter(turns: Iterator[Any], frame: Frame, condition: Step, _result: Step | None) -> list[Any]:
    return [item for item in turns if _holds(frame, condition)]


def _map(turns: Iterator[Any], frame: Frame, condition: Step | None, result: Step) -> list[Any]:
    return [result(frame) for _ in turns if _holds(frame, condition)]


def _transform_map(turns: Iterator[Any], frame: Frame, condition: Step | None, result: Step) -> dict[Any, Any]:
    return {key: result(frame) for key in turns if _holds(frame, condition)}


def _transform_entries(turns: Iterator[Any], frame: Frame, condition: Step | None, result: Step) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for _ in turns:
        if not _holds(frame, condition):
            continue
        for key, value in result(frame).items():
            if key in made:
                raise EvaluationError(f"insert failed: key {key} already exists")
            made[key] = value
    return made


_RUNS: dict[str, Callable[..., Any]] = {
    "all": _all,
    "exists": _exists,
    "existsOne": _exists_one,
    "filter": _filter,
    "map": _map,
    "transformList": _map,
    "transformMap": _transform_map,
    "transformMapEntry": _transform_entries,
}
