"""Validation of the status of ResourceClaims: what is allocated, and what drivers report of it.

Source: kubernetes pkg/apis/resource/validation/validation.go.
"""

from __future__ import annotations

import ipaddress

from hyperkube_api.core.nodes.selectors import node_selector
from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.validation import IMMUTABLE, condition_list
from hyperkube_api.resource.named_devices import (
    binding_conditions,
    check_list,
    check_set,
    driver,
    json_object,
    label,
    pool,
    share,
)
from hyperkube_api.resource.resource_claims.validation import (
    MAX_ITEMS,
    configuration,
    reference,
    references,
    request_names,
)

from hyperkube.machinery.field import (
    ROOT,
    FieldError,
    Path,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)
from hyperkube.machinery.objects import Object

_STATUS = ROOT.child("status")
MOST_USERS, MOST_CONDITIONS, MOST_IPS, MAX_DATA = 256, 8, 16, 10 * 1024
MAX_INTERFACE, MAX_HARDWARE = 256, 128
SOURCES = ("FromClaim", "FromClass")


def validate_claim_status(obj: Object, old: Object) -> list[FieldError]:
    """Check a report about a claim."""
    status, before = obj.get("status") or {}, old.get("status") or {}
    known = request_names(obj.get("spec") or {})
    allocation, at = status.get("allocation"), _STATUS.child("allocation")
    given = {_device(item) for item in _results(allocation)}
    users, users_at = status.get("reservedFor") or [], _STATUS.child("reservedFor")
    errors = check_set(users_at, users, MOST_USERS, _user, lambda item: item.get("uid") or "")
    errors += check_set(
        _STATUS.child("devices"), status.get("devices"), -1, lambda path, item: _report(path, item, given), _device
    )
    if users and allocation is None:
        errors.append(forbidden(users_at, "may not be specified when `allocated` is not set"))
    elif users and obj["metadata"].get("deletionTimestamp"):
        known_users = before.get("reservedFor") or []
        if any(user not in known_users for user in users):
            text = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
            errors.append(forbidden(users_at, text))
    if allocation is None:
        return errors
    if before.get("allocation") is None:
        return errors + _allocation(at, allocation, known)
    if allocation != before["allocation"]:
        shown = go_shape("hyperkube_api.resource.v1:AllocationResult", allocation)
        errors.append(invalid(at, shown, IMMUTABLE))
    return errors


def _results(allocation: Object | None) -> list[Object]:
    return list(((allocation or {}).get("devices") or {}).get("results") or ())


def _device(item: Object) -> tuple[str, str, str, str]:
    return tuple(item.get(member) or "" for member in ("driver", "pool", "device", "shareID"))  # type: ignore[return-value]  # four of them


def _user(path: Path, user: Object) -> list[FieldError]:
    return [required(path.child(member)) for member in ("resource", "name", "uid") if not user.get(member)]


def _report(path: Path, device: Object, given: set[tuple[str, str, str, str]]) -> list[FieldError]:
    """Check what a driver reports of an allocated device."""
    errors = _identity(path, device) + share(path.child("shareID"), device.get("shareID"))
    if _device(device) not in given:
        shown: Object = {
            "Driver": {},
            "Pool": {},
            "Device": {},
            "ShareID": {},
        }  # Kubernetes keeps them where JSON cannot look
        errors.append(invalid(path, shown, "must be an allocated device in the claim"))
    conditions, at = device.get("conditions") or [], path.child("conditions")
    if len(conditions) > MOST_CONDITIONS:
        errors.append(too_many(at, len(conditions), MOST_CONDITIONS))
    errors += condition_list(at, conditions)
    if device.get("data") is not None:
        errors += json_object(path.child("data"), device["data"], MAX_DATA)
    return errors + _network(path.child("networkData"), device.get("networkData") or {})


def _identity(path: Path, item: Object) -> list[FieldError]:
    errors = driver(path.child("driver"), item.get("driver")) + pool(path.child("pool"), item.get("pool"))
    return errors + label(path.child("device"), item.get("device") or "")


def _network(path: Path, data: Object) -> list[FieldError]:
    errors = [
        too_long(path.child(member), limit)
        for member, limit in (("interfaceName", MAX_INTERFACE), ("hardwareAddress", MAX_HARDWARE))
        if len(data.get(member) or "") > limit
    ]
    return errors + check_set(path.child("ips"), data.get("ips"), MOST_IPS, _address, lambda text: text)


def _address(path: Path, text: str) -> list[FieldError]:
    """Check the address of a network interface: an IP with its prefix, in the usual form."""
    try:
        usual = ipaddress.ip_interface(text)
    except ValueError:
        usual = None
    if usual is None or "%" in text or "/" not in text or not text.rpartition("/")[2].isdecimal():
        example = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
        return [invalid(path, text, example)]
    return [] if str(usual) == text else [invalid(path, text, f'must be in canonical form ("{usual}")')]


def _allocation(path: Path, allocation: Object, known: set[str]) -> list[FieldError]:
    """Check what is allocated to a claim."""
    devices, at = allocation.get("devices") or {}, path.child("devices")

    def result(where: Path, item: Object) -> list[FieldError]:
        errors = reference(where.child("request"), item.get("request") or "", known)
        errors += _identity(where, item) + binding_conditions(where, item)
        return errors + share(where.child("shareID"), item.get("shareID"))

    def config(where: Path, item: Object) -> list[FieldError]:
        source, errors = item.get("source") or "", list[FieldError]()
        if source not in SOURCES:
            place = where.child("source")
            errors.append(not_supported(place, source, ("FromClaim", "FromClass")) if source else required(place))
        return errors + references(where.child("requests"), item, known) + configuration(where, item)

    errors = check_list(at.child("results"), devices.get("results"), MAX_ITEMS, result)
    errors += check_list(at.child("config"), devices.get("config"), 2 * MAX_ITEMS, config)
    if allocation.get("nodeSelector") is not None:
        errors += node_selector(path.child("nodeSelector"), allocation["nodeSelector"])
    return errors
