"""Table rows of Ingresses, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.core.services.table import balancer_addresses
from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object

_SHOWN_HOSTS = 3


def ingress_cells(obj: Object, now: datetime) -> list[Any]:
    """Return class, hosts, addresses and ports."""
    spec = cells.spec_of(obj)
    return [
        cells.name(obj),
        cells.NONE if spec.get("ingressClassName") is None else spec["ingressClassName"],
        _hosts(spec.get("rules") or []),
        balancer_addresses(cells.status_of(obj)),
        "80, 443" if spec.get("tls") else "80",
        cells.age(obj, now),
    ]


def _hosts(rules: list[Object]) -> str:
    """Return the first hosts; once they are enough, any rule that follows counts as more of them."""
    hosts: list[str] = []
    for rule in rules:
        if len(hosts) == _SHOWN_HOSTS:
            return f"{','.join(hosts)} + {len(rules) - _SHOWN_HOSTS} more..."
        if rule.get("host"):
            hosts.append(rule["host"])
    return ",".join(hosts) or "*"
