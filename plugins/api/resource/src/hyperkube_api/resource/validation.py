"""What is wrong with claims to devices.

Source: kubernetes pkg/apis/resource/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.validation import IMMUTABLE, by_rule, named

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

_SPEC = ROOT.child("spec")
MAX_REQUESTS, MAX_CONSTRAINTS, MAX_SELECTORS = 32, 32, 32
MODES = ("All", "ExactCount")


def validate_claim(obj: Object) -> list[FieldError]:
    """Check a claim."""
    return validate_claim_spec(_SPEC, obj.get("spec") or {})


def validate_template(obj: Object) -> list[FieldError]:
    """Check the template of a claim."""
    return validate_claim_spec(_SPEC.child("spec"), (obj.get("spec") or {}).get("spec") or {})


def validate_claim_update(obj: Object, old: Object) -> list[FieldError]:
    """Check that a claim's wish stayed."""
    if obj.get("spec") == old.get("spec"):
        return []
    shown = go_shape("hyperkube_api.resource.v1:ResourceClaimSpec", obj.get("spec") or {})
    return [invalid(_SPEC, shown, IMMUTABLE)]


def validate_claim_spec(path: Path, spec: Object) -> list[FieldError]:
    """Check the devices that are asked for."""
    devices, at = spec.get("devices") or {}, path.child("devices")
    requests = devices.get("requests") or []
    errors: list[FieldError] = []
    known: set[str] = set()
    if len(requests) > MAX_REQUESTS:
        errors.append(too_many(at.child("requests"), len(requests), MAX_REQUESTS))
    for index, request in enumerate(requests):
        where, name = at.child("requests").index(index), request.get("name") or ""
        errors += _request(where, request)
        if name and name in known:
            errors.append(duplicate(where, name))
        known.add(name)
        known |= {f"{name}/{item.get('name') or ''}" for item in request.get("firstAvailable") or ()}
    for index, constraint in enumerate(devices.get("constraints") or ()):
        errors += _known(
            at.child("constraints").index(index).child("requests"), constraint.get("requests") or [], known
        )
    for index, config in enumerate(devices.get("config") or ()):
        errors += _known(at.child("config").index(index).child("requests"), config.get("requests") or [], known)
    return errors


def _known(path: Path, requests: Sequence[str], known: set[str]) -> list[FieldError]:
    text = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
    return [invalid(path.index(index), name, text) for index, name in enumerate(requests) if name not in known]


def _request(path: Path, request: Object) -> list[FieldError]:
    errors = named(path.child("name"), request.get("name"), names.dns1123_label)
    exactly, several = request.get("exactly"), request.get("firstAvailable")
    if exactly is None and not several:
        errors.append(required(path, "exactly one of `exactly` or `firstAvailable` is required"))
    elif exactly is not None and several:
        errors.append(
            invalid(path, None, "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set")
        )
    elif exactly is not None:
        errors += _exact(path.child("exactly"), exactly)
    for index, item in enumerate(several or ()):
        at = path.child("firstAvailable").index(index)
        errors += named(at.child("name"), item.get("name"), names.dns1123_label)
        errors += _exact(at, item)
    return errors


def _exact(path: Path, request: Object) -> list[FieldError]:
    name = request.get("deviceClassName") or ""
    at = path.child("deviceClassName")
    errors = by_rule(at, name, names.dns1123_subdomain) if name else [required(at)]
    if len(request.get("selectors") or ()) > MAX_SELECTORS:
        errors.append(too_many(path.child("selectors"), len(request["selectors"]), MAX_SELECTORS))
    else:
        for index, selector in enumerate(request.get("selectors") or ()):
            errors += _selector(path.child("selectors").index(index), selector)
    mode, count = request.get("allocationMode") or "", request.get("count") or 0
    if mode == "All":
        if count:
            text = "must not be specified when allocationMode is 'All'"
            errors.append(invalid(path.child("count"), count, text))
    elif mode == "ExactCount":
        if count <= 0:
            errors.append(invalid(path.child("count"), count, "must be greater than zero"))
    else:
        errors.append(not_supported(path.child("allocationMode"), mode, MODES))
    return errors


def _selector(path: Path, selector: Object) -> list[FieldError]:
    if selector.get("cel") is None:
        return [required(path.child("cel"))]
    from hyperkube_lib.cel.admission import WrongExpression
    from hyperkube_lib.cel.devices import compile_selector

    source, at = str(selector["cel"].get("expression") or ""), path.child("cel", "expression")
    try:
        compile_selector(source)
    except WrongExpression as error:
        return [invalid(at, source, str(error))]
    return []
