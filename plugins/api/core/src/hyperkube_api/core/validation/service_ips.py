"""The addresses of a service against one another: clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy.

Source: kubernetes pkg/apis/core/validation (ValidateServiceClusterIPsRelatedFields).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from hyperkube_api.meta.validation import ip_address

from hyperkube.machinery.field import (
    ROOT,
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from hyperkube.machinery.objects import Object

FAMILIES = ("IPv4", "IPv6")
POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_SPEC = ROOT.child("spec")
_IPS = _SPEC.child("clusterIPs")
_FAMILIES = _SPEC.child("ipFamilies")
SET_ONCE = "may not change once set"


def validate_cluster_ips(service: Object) -> list[FieldError]:
    """Check the addresses and families of a service that has any."""
    spec = service["spec"]
    if spec.get("type") == "ExternalName":
        return _external_name(spec)
    addresses: Sequence[str] = spec.get("clusterIPs") or []
    families: Sequence[str] = spec.get("ipFamilies") or []
    errors = _families(families, addresses)
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in POLICIES:
        errors.append(not_supported(_SPEC.child("ipFamilyPolicy"), policy, POLICIES))
    errors += _primary(spec, addresses)
    if errors:
        return errors
    errors = _each(addresses)
    if errors or not addresses:
        return errors
    errors += _pairing(addresses, policy)
    return errors + _against_families(addresses, families)


def _external_name(spec: Object) -> list[FieldError]:
    text = "may not be set for ExternalName services"
    return [
        forbidden(_SPEC.child(member), text)
        for member in ("clusterIPs", "ipFamilies", "ipFamilyPolicy")
        if spec.get(member)
    ]


def addresses_kept(spec: Object, old: Object) -> list[FieldError]:
    """Check that the primary address of a service and the second one stayed."""
    if "ExternalName" in {spec.get("type"), old.get("type")}:
        return []
    addresses, before = spec.get("clusterIPs") or [], old.get("clusterIPs") or []
    if before and addresses and before[0] != addresses[0]:
        return [invalid(_IPS.index(0), addresses, SET_ONCE)]
    if before and not addresses:
        return [invalid(_IPS.index(0), addresses or None, "primary clusterIP can not be unset")]
    if len(before) > 1 and len(addresses) > 1 and before[1] != addresses[1]:
        return [invalid(_IPS.index(1), addresses, SET_ONCE)]
    return []


def _families(families: Sequence[str], addresses: Sequence[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, family in enumerate(families):
        if family not in FAMILIES:
            errors.append(not_supported(_FAMILIES.index(index), family, FAMILIES))
        if family in seen:
            errors.append(duplicate(_FAMILIES.index(index), family))
        seen.add(family)
    if len(addresses) > 2:
        errors.append(invalid(_IPS, addresses, "may only hold up to 2 values"))
    if len(families) > 2:
        errors.append(invalid(_FAMILIES, families, "may only hold up to 2 values"))
    return errors


def _primary(spec: Object, addresses: Sequence[str]) -> list[FieldError]:
    single = spec.get("clusterIP") or ""
    if addresses and not single:
        return [invalid(_IPS, addresses, "must be empty when `clusterIP` is not specified")]
    if single and not addresses:
        return [required(_IPS)]
    if single and addresses[0] != single:
        return [invalid(_IPS, addresses, "first value must match `clusterIP`")]
    return []


def _each(addresses: Sequence[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, address in enumerate(addresses):
        if address == "None":
            if len(addresses) > 1:
                text = "may not be specified when another value is also specified"
                errors.append(invalid(_IPS.index(index), address, text))
            continue
        if not address:
            text = "must be 'None' or a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
            errors.append(invalid(_IPS.index(index), address, text))
            continue
        errors += ip_address(_IPS.index(index), address)
    return errors


def _is_ipv6(address: str) -> bool:
    return ipaddress.ip_address(address).version == 6


def _pairing(addresses: Sequence[str], policy: str | None) -> list[FieldError]:
    if len(addresses) < 2:
        return []
    errors: list[FieldError] = []
    if policy in {None, "SingleStack"}:
        text = "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified"
        errors.append(invalid(_SPEC.child("ipFamilyPolicy"), policy or "", text))
    if _is_ipv6(addresses[0]) == _is_ipv6(addresses[1]):
        text = "may specify no more than one IP for each IP family"
        errors.append(invalid(_IPS, addresses, text))
    return errors


def _against_families(addresses: Sequence[str], families: Sequence[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, (address, family) in enumerate(zip(addresses, families, strict=False)):
        if address == "None":
            break
        if _is_ipv6(address) != (family == "IPv6"):
            text = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            errors.append(invalid(_IPS.index(index), address, text))
    return errors
