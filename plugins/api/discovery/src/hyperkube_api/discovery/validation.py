"""Validation of endpoint slices.

Source: kubernetes pkg/apis/discovery/validation/validation.go.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from functools import partial

from hyperkube_api.meta.loopback import LoopbackRule, never_loopback
from hyperkube_api.meta.validation import by_rule, endpoint_address, ip_address, labels

from hyperkube.machinery import names
from hyperkube.machinery.field import (
    ROOT,
    FieldError,
    Path,
    duplicate,
    invalid,
    not_supported,
    required,
    too_many,
)
from hyperkube.machinery.objects import Object

ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")
PROTOCOLS = ("SCTP", "TCP", "UDP")
MAX_ENDPOINTS, MAX_ADDRESSES, MAX_PORTS, MAX_HINTS, MAX_TOPOLOGY = 1000, 100, 20000, 8, 16


def validate_endpoint_slice(
    obj: Object, old: Object | None = None, *, loopback: LoopbackRule = never_loopback
) -> list[FieldError]:
    """Check an endpoint slice.

    Args:
        obj: the slice.
        old: the slice before an update, of the same address type: an endpoint that it has was checked when it came, and
            a controller writes a hundred of them again for one that changed.
        loopback: which of the machine's own addresses are allowed.
    """
    kind = obj.get("addressType") or ""
    at = ROOT.child("addressType")
    errors: list[FieldError] = []
    if not kind:
        errors.append(required(at))
    elif kind not in ADDRESS_TYPES:
        errors.append(not_supported(at, kind, ADDRESS_TYPES))
    errors += _endpoints(obj.get("endpoints") or [], (old or {}).get("endpoints") or [], kind, loopback=loopback)
    return errors + _ports(obj.get("ports") or [])


def _endpoints(endpoints: list[Object], before: list[Object], kind: str, *, loopback: LoopbackRule) -> list[FieldError]:
    path = ROOT.child("endpoints")
    if len(endpoints) > MAX_ENDPOINTS:
        return [too_many(path, len(endpoints), MAX_ENDPOINTS)]
    checked = {_first_address(endpoint): endpoint for endpoint in before}
    return [
        error
        for index, item in enumerate(endpoints)
        if checked.get(_first_address(item)) != item
        for error in _endpoint(path.index(index), item, kind, loopback=loopback)
    ]


def _first_address(endpoint: Object) -> str:
    addresses = endpoint.get("addresses")
    return addresses[0] if addresses else ""


def _endpoint(path: Path, endpoint: Object, kind: str, *, loopback: LoopbackRule) -> list[FieldError]:
    addresses, at = endpoint.get("addresses") or [], path.child("addresses")
    errors: list[FieldError] = []
    if not addresses:
        errors.append(required(at, "must contain at least 1 address"))
    elif len(addresses) > MAX_ADDRESSES:
        errors.append(too_many(at, len(addresses), MAX_ADDRESSES))
    for index, address in enumerate(addresses):
        errors += _address(at, at.index(index), address, kind, loopback=partial(loopback, endpoint))
    if endpoint.get("nodeName") is not None:
        errors += by_rule(path.child("nodeName"), endpoint["nodeName"], names.dns1123_subdomain)
    topology = endpoint.get("deprecatedTopology") or {}
    if len(topology) > MAX_TOPOLOGY:
        errors.append(too_many(path.child("deprecatedTopology"), len(topology), MAX_TOPOLOGY))
    errors += labels(path.child("deprecatedTopology"), topology)
    if endpoint.get("hostname") is not None:
        errors += by_rule(path.child("hostname"), endpoint["hostname"], names.dns1123_label)
    return errors + _hints(path.child("hints"), endpoint.get("hints") or {})


def _address(whole: Path, path: Path, address: str, kind: str, *, loopback: Callable[[str], bool]) -> list[FieldError]:
    """Check an address; one of the wrong family is reported at the list."""
    if kind == "FQDN":
        return _domain(path, address)
    if kind not in {"IPv4", "IPv6"}:
        return []
    errors = ip_address(path, address)
    if errors:
        return errors
    if ipaddress.ip_address(address).version != int(kind[-1]):
        errors.append(invalid(whole, address, f"must be an {kind} address"))
    return errors + endpoint_address(path, address, loopback=loopback)


def _domain(path: Path, name: str) -> list[FieldError]:
    """Check a domain name of at least two segments; a dot may end it."""
    if not name:
        return [required(path)]
    name = name.removesuffix(".")
    problems = names.dns1123_subdomain(name)
    if problems:
        return [invalid(path, name, ",".join(problems))]
    segments = name.split(".")
    if len(segments) < 2:
        return [invalid(path, name, "should be a domain with at least two segments separated by dots")]
    wrong = ((segment, names.dns1123_label(segment)) for segment in segments)
    return next(([invalid(path, segment, ",".join(texts))] for segment, texts in wrong if texts), [])


def _hints(path: Path, hints: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for member, rule in (("forZones", names.label_value), ("forNodes", names.dns1123_subdomain)):
        items, at = hints.get(member) or [], path.child(member)
        if len(items) > MAX_HINTS:
            return [*errors, too_many(at, len(items), MAX_HINTS)]
        seen: set[str] = set()
        for index, item in enumerate(items):
            name, place = item.get("name") or "", at.index(index).child("name")
            if name in seen:
                errors.append(duplicate(place, name))
            seen.add(name)
            errors += by_rule(place, name, rule)
    return errors


def _ports(ports: list[Object]) -> list[FieldError]:
    path = ROOT.child("ports")
    if len(ports) > MAX_PORTS:
        return [too_many(path, len(ports), MAX_PORTS)]
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, port in enumerate(ports):
        at, name = path.index(index), port.get("name") or ""
        if name:
            errors += by_rule(at.child("name"), name, names.dns1123_label)
        if name in seen:
            errors.append(duplicate(at.child("name"), name))
        seen.add(name)
        protocol = port.get("protocol") or ""
        if protocol not in PROTOCOLS:
            where = at.child("protocol")
            errors.append(not_supported(where, protocol, PROTOCOLS) if protocol else required(where))
        if port.get("appProtocol") is not None:
            errors += by_rule(at.child("appProtocol"), port["appProtocol"], names.qualified_name)
    return errors
