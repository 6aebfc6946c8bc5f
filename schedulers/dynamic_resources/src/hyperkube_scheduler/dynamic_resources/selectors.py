"""Selectors: which devices a class or a request means, by expression. Each is judged once per device.

Source: kubernetes ``structured/internal/incubating/allocator_incubating.go`` (selectorsMatch).
"""

from __future__ import annotations

from collections import OrderedDict

from hyperkube_lib.cel import EvaluationError
from hyperkube_lib.cel.admission import WrongExpression
from hyperkube_lib.cel.devices import compile_selector, device_value
from hyperkube_lib.cel.environment import Program
from hyperkube_scheduler.dynamic_resources.constraints import KINDS
from hyperkube_scheduler.dynamic_resources.pools import Device
from hyperkube_scheduler.dynamic_resources.reasons import CannotAllocate
from hyperkube_scheduler.dynamic_resources.requests import Wanted

from hyperkube.machinery.objects import Object, name_of

PROGRAMS = 256
"""Compiled expressions that are kept."""
JUDGED = 64
"""Expressions whose answers a device remembers."""


class Selectors:
    """Compiles expressions and asks them; keeps what does not change."""

    def __init__(self) -> None:
        self._programs: OrderedDict[str, Program] = OrderedDict()

    def match(self, wanted: Wanted, device: Device) -> bool:
        """Tell whether a device is what the class and the request select.

        Raises:
            CannotAllocate: an expression is wrong, or fails for the device.
        """
        spec = wanted.device_class.get("spec") or {}
        return all(
            self._holds(_expression(row), device, f"class {name_of(wanted.device_class)}: selector #{number}")
            for number, row in enumerate(spec.get("selectors") or ())
        ) and all(
            self._holds(_expression(row), device, f"claim {wanted.claim}: selector #{number}")
            for number, row in enumerate(wanted.body.get("selectors") or ())
        )

    def _holds(self, expression: str, device: Device, where: str) -> bool:
        judged = device.judged
        known = judged.get(expression)
        if known is None:
            if len(judged) >= JUDGED:
                judged.clear()
            known = judged[expression] = self._judge(expression, device, where)
        return known

    def _judge(self, expression: str, device: Device, where: str) -> bool:
        program = self._programs.get(expression)
        if program is None:
            try:
                program = self._programs[expression] = compile_selector(expression)
            except WrongExpression as error:
                raise CannotAllocate(f"{where}: CEL compile error: {error}") from error
            if len(self._programs) > PROGRAMS:
                self._programs.popitem(last=False)
        failed = f"{where} on device {device.id}: CEL runtime error"
        for name, row in (device.spec.get("attributes") or {}).items():
            if all(row.get(kind) is None for kind in KINDS):
                raise CannotAllocate(f"{failed}: attribute {name}: unsupported attribute value")
        try:
            value = program.evaluate({"device": device_value(device.id.driver, device.spec)})
        except EvaluationError as error:
            raise CannotAllocate(f"{failed}: {error}") from error
        if not isinstance(value, bool):
            raise CannotAllocate(f"{failed}: CEL result of type {type(value).__name__} could not be converted to bool")
        return value


def _expression(selector: Object) -> str:
    return str((selector.get("cel") or {}).get("expression") or "")
