"""Defaults of limit ranges.

Source: kubernetes pkg/apis/core/v1/defaults.go (SetDefaults_LimitRangeItem).
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object


def default_limit_range(limit_range: Object) -> None:
    """Fill in a container's defaults from the limits, and its default requests from those."""
    spec = limit_range.get("spec") or {}
    if not spec.get("limits"):
        spec["limits"] = None
    for item in spec.get("limits") or ():
        if item.get("type") != "Container":
            continue
        default = item.get("default") or {}
        for name, amount in (item.get("max") or {}).items():
            default.setdefault(name, amount)
        request = item.get("defaultRequest") or {}
        for name, amount in default.items():
            request.setdefault(name, amount)
        for name, amount in (item.get("min") or {}).items():
            request.setdefault(name, amount)
        for member, amounts in (("default", default), ("defaultRequest", request)):
            if amounts:
                item[member] = amounts
