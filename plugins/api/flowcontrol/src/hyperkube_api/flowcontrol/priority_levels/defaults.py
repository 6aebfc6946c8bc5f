"""Defaults of PriorityLevelConfigurations; in place and idempotent.

Source: kubernetes pkg/apis/flowcontrol/v1/defaults.go.
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object


def default_priority_level(level: Object) -> None:
    """Fill in a priority level: its shares and its queues."""
    spec = level["spec"]
    for member, shares in (("exempt", 0), ("limited", 30)):
        section = spec.get(member)
        if section is not None:
            if section.get("nominalConcurrencyShares") is None:
                section["nominalConcurrencyShares"] = shares
            if section.get("lendablePercent") is None:
                section["lendablePercent"] = 0
    queuing = ((spec.get("limited") or {}).get("limitResponse") or {}).get("queuing")
    if queuing is not None:
        for member, number in (("handSize", 8), ("queues", 64), ("queueLengthLimit", 50)):
            if not queuing.get(member):
                queuing[member] = number
