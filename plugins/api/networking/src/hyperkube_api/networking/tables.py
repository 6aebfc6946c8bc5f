"""Table rows of network rules, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.core.services.table import balancer_addresses
from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object

_SHOWN_HOSTS = 3


def ingress_class(obj: Object, now: datetime) -> list[Any]:
    """Return the controller and its parameters."""
    spec = cells.spec_of(obj)
    parameters = spec.get("parameters")
    shown = cells.NONE
    if parameters is not None:
        kind = parameters.get("kind") or ""
        group = "" if parameters.get("apiGroup") is None else f".{parameters['apiGroup']}"
        shown = f"{kind}{group}/{parameters.get('name') or ''}"
    return [cells.name(obj), spec.get("controller") or "", shown, cells.age(obj, now)]


def ingress(obj: Object, now: datetime) -> list[Any]:
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


def ip_address(obj: Object, now: datetime) -> list[Any]:
    """Return who has the address."""
    del now
    parent = cells.spec_of(obj).get("parentRef")
    if not parent:
        return [cells.name(obj), cells.NONE]
    resource = parent.get("resource") or ""
    group = f".{parent['group']}" if parent.get("group") else ""
    namespace = f"/{parent['namespace']}" if parent.get("namespace") else ""
    return [cells.name(obj), f"{(resource + group).lower()}{namespace}/{parent.get('name') or ''}"]


def network_policy(obj: Object, now: datetime) -> list[Any]:
    """Return whom the policy is for."""
    return [cells.name(obj), cells.selector(cells.spec_of(obj).get("podSelector")), cells.age(obj, now)]


def service_cidr(obj: Object, now: datetime) -> list[Any]:
    """Return the ranges."""
    return [cells.name(obj), ",".join(cells.spec_of(obj).get("cidrs") or ()), cells.age(obj, now)]
