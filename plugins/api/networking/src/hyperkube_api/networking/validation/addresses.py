"""IP addresses and the ranges they come from.

Source: kubernetes pkg/apis/networking/validation (ValidateIPAddress, ValidateServiceCIDR).
"""

from __future__ import annotations

import ipaddress

from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.validation import IMMUTABLE, by_rule, cidr, ip_address, loose_network

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, invalid, quote, required
from hyperkube.machinery.objects import Object

_PARENT = ROOT.child("spec", "parentRef")
_CIDRS = ROOT.child("spec", "cidrs")


def validate_ip_address_name(name: str) -> list[str]:
    """Check an IP address in its canonical form."""
    problems = [error.detail for error in ip_address(ROOT, name)]
    if problems:
        return problems
    usual = str(ipaddress.ip_address(name))
    return [] if usual == name else [f"must be in canonical form ({quote(usual)})"]


def validate_ip_address(obj: Object) -> list[FieldError]:
    """Check whom an address belongs to."""
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
    """Check that an address stayed with its owner."""
    now, before = (obj.get("spec") or {}).get("parentRef"), (old.get("spec") or {}).get("parentRef")
    if now == before:
        return []
    shown = None if now is None else go_shape("hyperkube_api.networking.v1:ParentReference", now)
    return [invalid(_PARENT, shown, IMMUTABLE)]


def validate_service_cidr(obj: Object) -> list[FieldError]:
    """Check one range, or one of each family."""
    spec = obj.get("spec") or {}
    ranges = spec.get("cidrs") or []
    if not ranges:
        return [required(_CIDRS, "at least one CIDR required")]
    shown = {"CIDRs": ranges}
    if len(ranges) > 2:
        return [invalid(_CIDRS, shown, "may only hold up to 2 values")]
    families = {None if network is None else network.version for network in map(loose_network, ranges)}
    if len(ranges) == 2 and families != {4, 6}:
        text = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
        return [invalid(_CIDRS, shown, text)]
    return [error for index, text in enumerate(ranges) for error in _range(_CIDRS.index(index), text)]


def _range(path: Path, text: str) -> list[FieldError]:
    errors, network = cidr(path, text), loose_network(text)
    if errors or network is None or str(network) == text:
        return errors
    return [invalid(path, text, f"must be in canonical form ({quote(str(network))})")]


def validate_service_cidr_update(obj: Object, old: Object) -> list[FieldError]:
    """Check that the ranges stayed, apart from a second family that may be added."""
    now, before = (obj.get("spec") or {}).get("cidrs") or [], (old.get("spec") or {}).get("cidrs") or []
    if len(now) == len(before):
        return [
            invalid(_CIDRS.index(index), text, IMMUTABLE) for index, text in enumerate(now) if text != before[index]
        ]
    if len(before) == 1 and len(now) == 2:
        errors = [] if now[0] == before[0] else [invalid(_CIDRS.index(0), now[0], IMMUTABLE)]
        return errors + validate_service_cidr(obj)
    return [invalid(_CIDRS, now or None, IMMUTABLE)]
