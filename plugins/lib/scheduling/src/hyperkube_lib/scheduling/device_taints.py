"""DeviceTaintRules: which devices one taints, and with what.

Source: kubernetes ``pkg/apis/resource/types.go`` (DeviceTaintSelector), dynamic-resource-allocation
``resourceslice/tracker``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube.machinery.objects import Object


def taint_of(rule: Object) -> Object:
    """Return the taint of a rule."""
    taint: Object = (rule.get("spec") or {}).get("taint") or {}
    return taint


def selects(rule: Object, driver: str, pool: str, device: str) -> bool:
    """Tell whether a rule taints a device; one without a selector taints none."""
    selector = (rule.get("spec") or {}).get("deviceSelector")
    if selector is None:
        return False
    wanted = ((selector.get("driver"), driver), (selector.get("pool"), pool), (selector.get("device"), device))
    return all(value is None or value == found for value, found in wanted)


def with_rules(resource_slice: Object, rules: Sequence[Object]) -> Object:
    """Return a slice whose devices have the taints of the rules that select them, too."""
    spec = resource_slice["spec"]
    driver, pool = spec["driver"], spec["pool"]["name"]

    def tainted(device: Object) -> Object:
        more = [taint_of(rule) for rule in rules if selects(rule, driver, pool, device["name"])]
        return {**device, "taints": [*(device.get("taints") or ()), *more]} if more else device

    devices = [tainted(device) for device in spec.get("devices") or ()]
    return {**resource_slice, "spec": {**spec, "devices": devices}} if rules else resource_slice
