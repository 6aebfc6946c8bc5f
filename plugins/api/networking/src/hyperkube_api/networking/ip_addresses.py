"""IPAddresses: which Service has a cluster IP.

Source: kubernetes pkg/apis/networking, pkg/registry/networking/ipaddress, pkg/printers.
"""

from __future__ import annotations

import ipaddress
from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import NAME, column
from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.validation import IMMUTABLE, by_rule, ip_address
from hyperkube_api.networking.versions import V1

from hyperkube.hookspecs.api import Call, ResourceSpec, Strategy
from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, invalid, quote, required
from hyperkube.machinery.objects import Object

_PARENT = ROOT.child("spec", "parentRef")


def validate_ip_address_name(name: str) -> list[str]:
    """Check an IP address in its canonical form."""
    problems = [error.detail for error in ip_address(ROOT, name)]
    if problems:
        return problems
    usual = str(ipaddress.ip_address(name))
    return [] if usual == name else [f"must be in canonical form ({quote(usual)})"]


def validate_ip_address(obj: Object) -> list[FieldError]:
    """Check the object that an address belongs to."""
    parent = (obj.get("spec") or {}).get("parentRef")
    if parent is None:
        return [required(_PARENT)]
    errors: list[FieldError] = []
    if parent.get("group"):
        errors += by_rule(_PARENT.child("group"), parent["group"], names.dns1123_subdomain)
    for member in ("resource", "name"):
        value = parent.get(member) or ""
        if not value:
            errors.append(required(_PARENT.child(member)))
        else:
            errors += [invalid(_PARENT.child(member), value, text) for text in names.path_segment_name(value)]
    if parent.get("namespace"):
        value = parent["namespace"]
        errors += [invalid(_PARENT.child("namespace"), value, text) for text in names.path_segment_name(value)]
    return errors


def validate_ip_address_update(obj: Object, old: Object) -> list[FieldError]:
    """Check as on creation, and that an address stayed with its owner."""
    now, before = (obj.get("spec") or {}).get("parentRef"), (old.get("spec") or {}).get("parentRef")
    errors = validate_ip_address(obj)
    if now == before:
        return errors
    shown = None if now is None else go_shape("hyperkube_api.networking.v1:ParentReference", now)
    return [*errors, invalid(_PARENT, shown, IMMUTABLE)]


def ip_address_cells(obj: Object, now: datetime) -> list[Any]:
    """Return the object that has the address, and the age, for which Kubernetes declares no column."""
    age = cells.age(obj, now)
    parent = cells.spec_of(obj).get("parentRef")
    if not parent:
        return [cells.name(obj), cells.NONE, age]
    resource = parent.get("resource") or ""
    group = f".{parent['group']}" if parent.get("group") else ""
    namespace = f"/{parent['namespace']}" if parent.get("namespace") else ""
    return [cells.name(obj), f"{(resource + group).lower()}{namespace}/{parent.get('name') or ''}", age]


class IPAddressStrategy(Strategy):
    """Which Service has a cluster IP; the name of the object is the address."""

    generates_names = False

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        """Check an IP address in its canonical form."""
        return validate_ip_address_name(name)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the object that has the address."""
        return validate_ip_address(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that it stayed with its owner."""
        return validate_ip_address_update(obj, old)


def ip_addresses() -> ResourceSpec:
    """Return the specification of the resource ``ipaddresses``."""
    return V1.resource(
        "ipaddresses",
        "IPAddress",
        namespaced=False,
        short_names=("ip",),
        storage_prefix="ipaddresses",
        storage_version_hash="3f/plJFChNE=",
        strategy=IPAddressStrategy(),
        columns=(NAME, column("ParentRef", field="spec.parentRef")),
        cells=ip_address_cells,
    )
