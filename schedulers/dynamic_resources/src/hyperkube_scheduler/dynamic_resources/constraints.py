"""Constraints between the devices of one claim: the same attribute, or all different ones.

Both are monotonic: once one is broken, more devices do not mend it, so that a search may stop there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from hyperkube_scheduler.dynamic_resources.pools import Device
from hyperkube_scheduler.dynamic_resources.reasons import CannotAllocate

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, key_of

KINDS = ("int", "bool", "string", "version")
"""Kinds of attributes that can be compared."""


def attribute(device: Device, name: str) -> tuple[str, object] | None:
    """Return kind and value of a device's attribute by its full name; the driver's own may lack the domain."""
    known = device.spec.get("attributes") or {}
    value = known.get(name)
    if value is None:
        domain, _, short = name.partition("/")
        if domain == device.id.driver:
            value = known.get(short)
    if value is None:
        return None
    return next(((kind, value[kind]) for kind in KINDS if value.get(kind) is not None), None)


@dataclass(slots=True)
class Constraint:
    """One constraint, and the values of the devices chosen so far.

    Attributes:
        name: the attribute's full name.
        distinct: whether the values must differ; else they must be the same.
        requests: the requests it concerns; none means all. One with alternatives is named, or one of these.
        values: of the devices chosen, in their order.
    """

    name: str
    distinct: bool
    requests: frozenset[str]
    values: list[tuple[str, object]] = field(default_factory=list)

    def concerns(self, request: str) -> bool:
        """Tell whether it concerns a request, or an alternative written ``request/alternative``."""
        return not self.requests or request in self.requests or request.partition("/")[0] in self.requests

    def add(self, request: str, device: Device) -> bool:
        """Take one more device; tell whether it keeps the constraint. If not, it is not taken."""
        if not self.concerns(request):
            return True
        value = attribute(device, self.name)
        if value is None:
            return False
        if self.values and (value in self.values if self.distinct else value != self.values[0]):
            return False
        self.values.append(value)
        return True

    def remove(self, request: str) -> None:
        """Give the last device back, which was taken for that request."""
        if self.concerns(request):
            self.values.pop()


def constraints_of(claim: Object) -> Sequence[Constraint]:
    """Return a claim's constraints, with no device chosen.

    Raises:
        CannotAllocate: one of a kind that is not known.
    """
    found = []
    for number, row in enumerate(claim["spec"].get("devices", {}).get("constraints") or ()):
        name = row.get("matchAttribute") or row.get("distinctAttribute")
        if not name:
            what = f"constraint #{number}: empty constraint (unsupported constraint type?)"
            raise CannotAllocate(f"claim {key_of(claim)}, {what}")
        found.append(Constraint(name, not row.get("matchAttribute"), frozenset(row.get("requests") or ())))
    return found
