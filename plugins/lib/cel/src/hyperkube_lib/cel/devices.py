"""Expressions that choose devices (dynamic resource allocation).

Source: kubernetes dynamic-resource-allocation ``cel/compile.go``.
"""

from __future__ import annotations

from functools import lru_cache

from hyperkube_lib.cel import base_environment
from hyperkube_lib.cel.admission import QUESTION, compile_as
from hyperkube_lib.cel.environment import Environment, Program
from hyperkube_lib.cel.types import BOOL, DYN, STRING, Type, map_of, struct

_QUANTITY = Type("kubernetes.Quantity")
_DEVICE = struct(
    "kubernetes.DRADevice",
    {
        "driver": STRING,
        "attributes": map_of(STRING, map_of(STRING, DYN)),
        "capacity": map_of(STRING, map_of(STRING, _QUANTITY)),
        "allowMultipleAllocations": BOOL,
    },
)


@lru_cache(1)
def _environment() -> Environment:
    return base_environment({"device": _DEVICE})


def compile_selector(source: str) -> Program:
    """Compile the selector of a device request or class: a question about ``device``.

    Raises:
        WrongExpression: it cannot work, or is no question (`hyperkube_lib.cel.admission.WrongExpression`).
    """
    return compile_as(_environment(), source, QUESTION)
