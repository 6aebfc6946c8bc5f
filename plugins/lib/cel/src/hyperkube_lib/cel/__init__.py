"""The Common Expression Language as Kubernetes speaks it.

`base_environment` has the names, functions and texts of Kubernetes 1.36; `Environment.compile` makes a `Program`, and
`Program.evaluate` its value for some JSON. An expression is read, checked against types and turned into closures once;
every evaluation has a cost limit, and patterns run in linear time, so that no author can stop the server.
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperkube_lib.cel.environment import CALL_COST_LIMIT, OBJECT_COST_BUDGET, Environment, Program
from hyperkube_lib.cel.errors import (
    CelError,
    CompilationFailed,
    CostExceeded,
    EvaluationError,
    NoSuchOverload,
    NotInstantiated,
)
from hyperkube_lib.cel.functions import Library
from hyperkube_lib.cel.types import Type

__all__ = [
    "CALL_COST_LIMIT",
    "OBJECT_COST_BUDGET",
    "CelError",
    "CompilationFailed",
    "CostExceeded",
    "Environment",
    "EvaluationError",
    "NoSuchOverload",
    "NotInstantiated",
    "Program",
    "Type",
    "base_environment",
    "libraries",
]


def libraries() -> list[Library]:
    """Return the libraries every expression in Kubernetes may use."""
    from hyperkube_lib.cel.library.authorization import AUTHORIZATION
    from hyperkube_lib.cel.library.conversions import CONVERSIONS
    from hyperkube_lib.cel.library.formats import FORMATS
    from hyperkube_lib.cel.library.lists import LISTS
    from hyperkube_lib.cel.library.network import NETWORK
    from hyperkube_lib.cel.library.operators import OPERATORS
    from hyperkube_lib.cel.library.quantities import QUANTITIES
    from hyperkube_lib.cel.library.strings import STRINGS
    from hyperkube_lib.cel.library.times import TIMES

    return [OPERATORS, CONVERSIONS, STRINGS, LISTS, TIMES, QUANTITIES, NETWORK, FORMATS, AUTHORIZATION]


def base_environment(variables: Mapping[str, Type]) -> Environment:
    """Return an environment with these names and all libraries."""
    return Environment(variables, libraries())
