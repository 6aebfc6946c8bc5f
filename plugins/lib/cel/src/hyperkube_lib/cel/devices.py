"""Expressions that choose devices (dynamic resource allocation).

Source: kubernetes dynamic-resource-allocation ``cel/compile.go``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from hyperkube_lib.cel import base_environment
from hyperkube_lib.cel.admission import WrongExpression, compile_as
from hyperkube_lib.cel.environment import Environment, Program
from hyperkube_lib.cel.library.quantities import QuantityValue, semver
from hyperkube_lib.cel.types import BOOL, DYN, STRING, Type, map_of, output_name, struct

from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import parse

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

    The answer may be an attribute of the device, of which only its slice says what kind it is.

    Raises:
        WrongExpression: it cannot work, or is no question.
    """
    program = compile_as(_environment(), source, ())
    if program.result not in {BOOL, DYN}:
        raise WrongExpression(f"must evaluate to bool or the unknown type, not {output_name(program.result)}")
    return program


class _Domains(dict[str, Any]):
    """What a device says, by domain; a domain of which it says nothing is empty, not an error."""

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str)

    def __missing__(self, key: str) -> dict[str, Any]:
        return {}


def device_value(driver: str, device: Object) -> dict[str, Any]:
    """Return a device of a ResourceSlice as expressions see it; names without a domain are in the driver's."""
    attributes, capacity = _Domains(), _Domains()
    for name, row in (device.get("attributes") or {}).items():
        _put(attributes, driver, name, _attribute(row))
    for name, row in (device.get("capacity") or {}).items():
        _put(capacity, driver, name, QuantityValue(parse(str(row["value"]))))
    return {
        "driver": driver,
        "attributes": attributes,
        "capacity": capacity,
        "allowMultipleAllocations": bool(device.get("allowMultipleAllocations")),
    }


def _put(domains: dict[str, Any], driver: str, name: str, value: Any) -> None:
    domain, _, short = name.rpartition("/")
    dict.setdefault(domains, domain or driver, {})[short] = value


def _attribute(row: Object) -> Any:
    if row.get("version") is not None:
        return semver(row["version"])
    return next((row[kind] for kind in ("int", "bool", "string") if row.get(kind) is not None), None)
