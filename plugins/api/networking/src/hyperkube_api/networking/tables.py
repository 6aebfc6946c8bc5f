"""Table rows of network rules, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.core.tables.services import balancer_addresses
from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object

_SHOWN_HOSTS = 3


def ingress_class(obj: Object, now: datetime) -> list[Any]:
    """Return the controller and its parameters."""
    spec = cells.spec_of(obj)
    parameters = spec.get("parameters")
    shown = cells.NONE
    if parameters:
        kind = parameters.get("kind") or ""
        group = f".{parameters['apiGroup']}" if parameters.get("apiGroup") else ""
        shown = f"{kind}{group}/{parameters.get('name') or ''}"
    return [cells.name(obj), spec.get("controller") or "", shown, cells.age(obj, now)]


def ingress(obj: Object, now: datetime) -> list[Any]:
    """Return class, hosts, addresses and ports."""
    spec = cells.spec_of(obj)
    return [
        cells.name(obj),
        spec.get("ingressClassName") or cells.NONE,
        _hosts(spec.get("rules") or []),
        balancer_addresses(cells.status_of(obj)),
        "80, 443" if spec.get("tls") else "80",
        cells.age(obj, now),
    ]


def _hosts(rules: list[Object]) -> str:
    hosts = [rule["host"] for rule in rules[:_SHOWN_HOSTS] if rule.get("host")]
    if not hosts:
        return "*"
    text = ",".join(hosts)
    return f"{text} + {len(rules) - _SHOWN_HOSTS} more..." if len(rules) > _SHOWN_HOSTS else text


def ip_address(obj: Object, now: datetime) -> list[Any]:
    """Return who has the address."""
    del now
    parent = cells.spec_of(obj).get("parentRef")
    if not parent:
        return [cells.name(obj), cells.NONE]
    resource = parent.get("resource") or ""
    group = f".{parent['group']}" if parent.get("group") else ""
    path = [resource + group, *(part for part in (parent.get("namespace"), parent.get("name")) if part)]
    return [cells.name(obj), "/".join(path)]


def network_policy(obj: Object, now: datetime) -> list[Any]:
    """Return whom the policy is for."""
    return [cells.name(obj), cells.selector(cells.spec_of(obj).get("podSelector")), cells.age(obj, now)]


def service_cidr(obj: Object, now: datetime) -> list[Any]:
    """Return the ranges."""
    return [cells.name(obj), ",".join(cells.spec_of(obj).get("cidrs") or ()), cells.age(obj, now)]
