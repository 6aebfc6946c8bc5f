"""IP addresses and the ranges they come from.

Source: kubernetes pkg/apis/networking/validation (ValidateIPAddress, ValidateServiceCIDR).
"""

from __future__ import annotations

import ipaddress

from hyperkube_api.meta.validation import NOT_IP, by_rule, cidr, unchanged

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, invalid, required
from hyperkube.machinery.objects import Object

_PARENT = ROOT.child("spec", "parentRef")
_CIDRS = ROOT.child("spec", "cidrs")


def validate_ip_address_name(name: str) -> list[str]:
    """Check an IP address in its canonical form."""
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return [NOT_IP]
    return [] if str(address) == name else ["must be a canonical IP address"]


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
    return unchanged(_PARENT, now, before)


def validate_service_cidr(obj: Object) -> list[FieldError]:
    """Check one range, or one of each family."""
    ranges = (obj.get("spec") or {}).get("cidrs") or []
    if not ranges:
        return [required(_CIDRS, "at least one CIDR required")]
    if len(ranges) > 2:
        return [invalid(_CIDRS, ranges, "may only hold up to 2 values")]
    errors: list[FieldError] = []
    for index, text in enumerate(ranges):
        errors += cidr(_CIDRS.index(index), text)
    if not errors and len(ranges) == 2 and (":" in ranges[0]) == (":" in ranges[1]):
        errors.append(
            invalid(
                _CIDRS,
                ranges,
                "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64",
            )
        )
    return errors


def validate_service_cidr_update(obj: Object, old: Object) -> list[FieldError]:
    """Check that the ranges stayed, apart from a second family that may be added."""
    now, before = (obj.get("spec") or {}).get("cidrs") or [], (old.get("spec") or {}).get("cidrs") or []
    if len(before) == 1 and len(now) == 2:
        errors = [] if now[0] == before[0] else [invalid(_CIDRS.index(0), now[0], "field is immutable")]
        return errors + validate_service_cidr(obj)
    return unchanged(_CIDRS, now, before)
