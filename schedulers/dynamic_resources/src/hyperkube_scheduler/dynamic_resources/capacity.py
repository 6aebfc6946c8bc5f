"""Consumable capacity: what a claim takes of a device that several claims share.

A device's owner may say in which amounts a capacity can be had (``requestPolicy``); what is asked for is rounded up to
the next of them.
Source: kubernetes dynamic-resource-allocation ``structured/internal/incubating/consumable_capacity.go``.
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import Quantity, parse

Amounts = Mapping[str, Quantity]
"""Capacity name, as the device spells it → amount."""
_NOTHING = Quantity(0)


@dataclass(frozen=True, slots=True)
class Capacity:
    """One capacity of a device: how much there is, and in which amounts it can be had."""

    value: Quantity
    default: Quantity | None = None
    choices: tuple[Quantity, ...] = ()
    least: Quantity | None = None
    most: Quantity | None = None
    step: Quantity | None = None

    @classmethod
    def of(cls, row: Object) -> Capacity:
        """Read an entry of ``capacity`` of a device."""
        policy = row.get("requestPolicy") or {}
        span = policy.get("validRange") or {}
        return cls(
            parse(str(row["value"])),
            _read(policy.get("default")),
            tuple(parse(str(value)) for value in policy.get("validValues") or ()),
            _read(span.get("min")),
            _read(span.get("max")),
            _read(span.get("step")),
        )

    def taken(self, wanted: Quantity | None) -> Quantity:
        """Return what a claim takes that asks for `wanted`; one that does not ask takes the default, or all."""
        if wanted is None:
            return self.value if self.default is None else self.default
        if self.least is not None:
            return self._in_range(wanted, self.least)
        return next((choice for choice in self.choices if wanted <= choice), wanted)

    def allows(self, amount: Quantity) -> bool:
        """Tell whether the policy lets a claim have that amount."""
        if self.default is not None and amount == self.default:
            return True
        if self.least is not None or self.most is not None or self.step is not None:
            if self.most is not None and amount > self.most:
                return False
            least = _NOTHING if self.least is None else self.least
            return self.step is None or (amount.value() - least.value()) % self.step.value() == 0
        return not self.choices or amount in self.choices

    def _in_range(self, wanted: Quantity, least: Quantity) -> Quantity:
        if wanted < least:
            return least
        if self.step is None:
            return wanted
        step = self.step.value()
        steps = -((least.value() - wanted.value()) // step)
        return Quantity(least.value() + steps * step, 0, "BinarySI")


def taken(capacities: Mapping[str, Capacity], wanted: Amounts) -> dict[str, Quantity]:
    """Return what a claim takes of each capacity of a device."""
    return {name: capacity.taken(wanted.get(name)) for name, capacity in capacities.items()}


def suffices(capacities: Mapping[str, Capacity], wanted: Amounts, *used: Amounts) -> bool:
    """Tell whether a device has what is wanted left.

    Args:
        capacities: what the device has.
        wanted: what the claim asks for; the device must have each of them.
        used: what others have of it already.
    """
    if any(name not in capacities for name in wanted):
        return False
    for name, capacity in capacities.items():
        amount = capacity.taken(wanted.get(name))
        if not capacity.allows(amount):
            return False
        total = amount
        for each in used:
            if name in each:
                total = total + each[name]
        if total > capacity.value:
            return False
    return True


def _read(value: object) -> Quantity | None:
    return None if value is None else parse(str(value))
