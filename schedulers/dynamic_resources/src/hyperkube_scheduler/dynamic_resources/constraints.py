"""Constraints between the devices of one claim: the same attribute, or all different ones.

Both are monotonic: once one is broken, more devices do not mend it, so that a search may stop there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hyperkube_scheduler.dynamic_resources.pools import Device

from hyperkube.machinery.objects import Object

_KINDS = ("int", "bool", "string", "version")


def attribute(device: Device, name: str) -> tuple[str, object] | None:
    """Return kind and value of a device's attribute by its full name; the driver's own may lack the domain."""
    known = device.spec.get("attributes") or {}
    domain, _, short = name.rpartition("/")
    value = known.get(name)
    if value is None and domain == device.id.driver:
        value = known.get(short)
    if value is None:
        return None
    return next(((kind, value[kind]) for kind in _KINDS if value.get(kind) is not None), None)


def hold(constraints: Iterable[Object], chosen: Sequence[tuple[str, Device]]) -> bool:
    """Tell whether the devices chosen so far keep all constraints.

    Args:
        constraints: ``spec.devices.constraints`` of the claim.
        chosen: (request, device); a request of a list of alternatives is ``request/alternative``.
    """
    return all(_holds(constraint, chosen) for constraint in constraints)


def _holds(constraint: Object, chosen: Sequence[tuple[str, Device]]) -> bool:
    names = set(constraint.get("requests") or ())
    concerned = [
        device for request, device in chosen if not names or request in names or request.partition("/")[0] in names
    ]
    if constraint.get("matchAttribute"):
        values = [attribute(device, constraint["matchAttribute"]) for device in concerned]
        return None not in values and len(set(values)) <= 1
    if constraint.get("distinctAttribute"):
        values = [attribute(device, constraint["distinctAttribute"]) for device in concerned]
        return None not in values and len(set(values)) == len(values)
    return False
