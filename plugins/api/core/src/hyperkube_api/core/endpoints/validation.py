"""What is wrong with endpoints.

Source: kubernetes pkg/apis/core/validation (ValidateEndpoints).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from hyperkube_api.meta.loopback import LoopbackRule, never_loopback
from hyperkube_api.meta.validation import NOT_IP, by_rule, endpoint_address, ip_address, loose_network

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, invalid, not_supported, required
from hyperkube.machinery.objects import Object

PROTOCOLS = ("SCTP", "TCP", "UDP")
_SUBSETS = ROOT.child("subsets")
_MEMBERS = ("addresses", "notReadyAddresses")


def validate_endpoints(
    endpoints: Object, old: Object | None = None, *, loopback: LoopbackRule = never_loopback
) -> list[FieldError]:
    """Check the addresses and ports of an Endpoints object, unless they are the old ones.

    Args:
        endpoints: the object.
        old: the object before an update: an address that it has was checked when it came, and a controller writes all
            of a Service again for one that changed.
        loopback: which of the machine's own addresses are allowed.
    """
    if old is not None and old.get("subsets") == endpoints.get("subsets"):
        return []
    checked = {address.get("ip"): address for address in _addresses(old or {})}
    errors: list[FieldError] = []
    for index, subset in enumerate(endpoints.get("subsets") or ()):
        errors += _subset(_SUBSETS.index(index), subset, checked, loopback=loopback)
    return errors


def _addresses(endpoints: Object) -> Iterator[Object]:
    for subset in endpoints.get("subsets") or ():
        for member in _MEMBERS:
            yield from subset.get(member) or ()


def _subset(
    path: Path, subset: Object, checked: Mapping[str | None, Object], *, loopback: LoopbackRule
) -> list[FieldError]:
    errors: list[FieldError] = []
    if not subset.get("addresses") and not subset.get("notReadyAddresses"):
        errors.append(required(path, "must specify `addresses` or `notReadyAddresses`"))
    for member in _MEMBERS:
        for index, address in enumerate(subset.get(member) or ()):
            if checked.get(address.get("ip")) != address:
                errors += _address(path.child(member).index(index), address, loopback=loopback)
    ports = subset.get("ports") or []
    for index, port in enumerate(ports):
        errors += _port(path.child("ports").index(index), port, named=len(ports) > 1)
    return errors


def _address(path: Path, address: Object, *, loopback: LoopbackRule) -> list[FieldError]:
    text = address.get("ip") or ""
    wrong = ip_address(path.child("ip"), text)
    errors = [*wrong]
    if address.get("hostname"):
        errors += by_rule(path.child("hostname"), address["hostname"], names.dns1123_label)
    if address.get("nodeName") is not None:
        errors += by_rule(path.child("nodeName"), address["nodeName"], names.dns1123_subdomain)
    return errors + _endpoint_address(path.child("ip"), text, partial(loopback, address), plain=not wrong)


def _endpoint_address(path: Path, text: str, loopback: Callable[[str], bool], *, plain: bool) -> list[FieldError]:
    """Check that an address is of no special range; one that is not `plain` was reported, and may be none."""
    if not plain and loose_network(f"{text}/0") is None:
        return [invalid(path, text, "must be a valid IP address")]
    return [error for error in endpoint_address(path, text, loopback=loopback) if error.detail != NOT_IP]


def _port(path: Path, port: Object, *, named: bool) -> list[FieldError]:
    errors: list[FieldError] = []
    name, protocol = port.get("name") or "", port.get("protocol") or ""
    if named and not name:
        errors.append(required(path.child("name")))
    elif name:
        errors += by_rule(path.child("name"), name, names.dns1123_label)
    errors += [
        invalid(path.child("port"), port.get("port") or 0, text) for text in names.port_number(port.get("port") or 0)
    ]
    if protocol not in PROTOCOLS:
        at = path.child("protocol")
        errors.append(not_supported(at, protocol, PROTOCOLS) if protocol else required(at))
    if port.get("appProtocol") is not None:
        errors += by_rule(path.child("appProtocol"), port["appProtocol"], names.qualified_name)
    return errors
