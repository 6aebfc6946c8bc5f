"""The addresses of a service against one another: clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy.

Source: kubernetes pkg/apis/core/validation (ValidateServiceClusterIPsRelatedFields).
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_api.meta.validation import ip_address

from hyperkube.machinery.field import (
    ROOT,
    FieldError,
    Path,
    duplicate,
    invalid,
    not_supported,
    repeated,
    required,
)
from hyperkube.machinery.objects import Object

FAMILIES = ("IPv4", "IPv6")
POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_SPEC = ROOT.child("spec")
_IPS = _SPEC.child("clusterIPs")
_FAMILIES = _SPEC.child("ipFamilies")
MOST = 2
"""How many addresses and families a service has at most: one of either kind."""
SET_ONCE = "may not change once set"


def is_headless(spec: Object) -> bool:
    """Tell whether a service has no address, on purpose."""
    return spec.get("clusterIPs") == ["None"]


def validate_cluster_ips(service: Object, old: Object | None = None) -> list[FieldError]:
    """Check the addresses and families of a service; addresses that it has already were fine once."""
    spec = service["spec"]
    if spec.get("type") == "ExternalName":
        return []
    addresses: Sequence[str] = spec.get("clusterIPs") or []
    families: Sequence[str] = spec.get("ipFamilies") or []
    errors = _in_step(spec.get("clusterIP") or "", addresses)
    errors += _families(families)
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in POLICIES:
        errors.append(not_supported(_SPEC.child("ipFamilyPolicy"), policy, POLICIES))
    unsound = _each(addresses, ((old or {}).get("spec") or {}).get("clusterIPs") or ())
    errors += unsound
    if len(addresses) > MOST:
        errors.append(invalid(_IPS, addresses, f"may only hold up to {MOST} values"))
    if unsound:
        return errors
    if len(addresses) > 1 and len({_is_ipv6(address) for address in addresses}) < MOST:
        text = "may specify no more than one IP for each IP family"
        errors.append(invalid(_IPS, addresses, text))
    return errors if is_headless(spec) else errors + _against_families(addresses, families)


def _in_step(single: str, addresses: Sequence[str]) -> list[FieldError]:
    if addresses and not single:
        return [invalid(_IPS, addresses, "must be empty when `clusterIP` is not specified")]
    if single and not addresses:
        return [required(_IPS)]
    if single and addresses[0] != single:
        return [invalid(_IPS, addresses, "first value must match `clusterIP`")]
    return []


def _families(families: Sequence[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    again = dict(repeated(families))
    for index, family in enumerate(families):
        if family not in FAMILIES:
            errors.append(not_supported(_FAMILIES.index(index), family, FAMILIES))
        if index in again:
            errors.append(duplicate(_FAMILIES.index(index), family))
    return errors


def _each(addresses: Sequence[str], old: Sequence[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, address in enumerate(addresses):
        if index == 0 and address == "None":
            if len(addresses) > 1:
                errors.append(invalid(_IPS, addresses, "'None' must be the first and only value"))
        elif address not in old:
            errors += ip_address(_IPS.index(index), address)
    return errors


def _is_ipv6(address: str) -> bool:
    return ":" in address


def _against_families(addresses: Sequence[str], families: Sequence[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, (address, family) in enumerate(zip(addresses, families, strict=False)):
        if family in FAMILIES and _is_ipv6(address) != (family == "IPv6"):
            text = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            errors.append(invalid(_IPS.index(index), address, text))
    return errors


def addresses_kept(spec: Object, old: Object) -> list[FieldError]:
    """Check that the addresses of a service and their families stayed, but for a second one that comes or goes."""
    if "ExternalName" in {spec.get("type"), old.get("type")} or (is_headless(spec) and is_headless(old)):
        return []
    errors = _kept(_IPS, "clusterIP", spec, old)
    return errors if is_headless(spec) or is_headless(old) else errors + _kept(_FAMILIES, "ipFamily", spec, old)


def _kept(path: Path, what: str, spec: Object, old: Object) -> list[FieldError]:
    member = {"clusterIP": "clusterIPs", "ipFamily": "ipFamilies"}[what]
    values, before = spec.get(member) or [], old.get(member) or []
    errors: list[FieldError] = []
    if len(values) == len(before):
        for index, value in enumerate(values):
            if value != before[index]:
                at = path.index(index if what == "clusterIP" else 0)
                errors.append(invalid(at, values, SET_ONCE))
        return errors
    addresses = spec.get("clusterIPs") or []
    if len(values) < len(before) and not addresses:
        errors.append(invalid(path.index(0), values or None, f"primary {what} can not be unset"))
    if values and before and values[0] != before[0]:
        errors.append(invalid(path.index(0), addresses or None, SET_ONCE))
    if len(values) == 1 < len(before) and spec.get("ipFamilyPolicy") != "SingleStack":
        text = f"must be set to 'SingleStack' when releasing the secondary {what}"
        errors.append(invalid(_SPEC.child("ipFamilyPolicy"), spec.get("ipFamilyPolicy"), text))
    return errors
