"""Validation of ResourceClaims.

Source: kubernetes pkg/apis/resource/validation/validation.go.
"""

from __future__ import annotations

from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.validation import IMMUTABLE, by_rule
from hyperkube_api.resource.named_devices import check_list, check_set, driver, fully_qualified, json_object, label

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, invalid, not_supported, required, too_long
from hyperkube.machinery.objects import Object

SPEC = ROOT.child("spec")
MAX_ITEMS, MAX_ALTERNATIVES = 32, 8
MAX_EXPRESSION = MAX_PARAMETERS = 10 * 1024
MODES = ("All", "ExactCount")
EFFECTS = ("NoExecute", "NoSchedule", "None")
CLAIM_SPEC = "hyperkube_api.resource.v1:ResourceClaimSpec"


def validate_claim(obj: Object) -> list[FieldError]:
    """Check a claim."""
    return validate_claim_spec(SPEC, obj.get("spec") or {})


def validate_claim_update(obj: Object, old: Object) -> list[FieldError]:
    """Check that a claim's specification stayed."""
    if obj.get("spec") == old.get("spec"):
        return []
    return [invalid(SPEC, go_shape(CLAIM_SPEC, obj.get("spec") or {}), IMMUTABLE)]


def validate_claim_spec(path: Path, spec: Object) -> list[FieldError]:
    """Check the devices that are asked for."""
    devices, at = spec.get("devices") or {}, path.child("devices")
    known = request_names(spec)

    def constraint(where: Path, item: Object) -> list[FieldError]:
        return _constraint(where, item, known)

    def config(where: Path, item: Object) -> list[FieldError]:
        return references(where.child("requests"), item, known) + configuration(where, item)

    errors = check_set(
        at.child("requests"), devices.get("requests"), MAX_ITEMS, _request, lambda item: item.get("name") or ""
    )
    errors += check_list(at.child("constraints"), devices.get("constraints"), MAX_ITEMS, constraint)
    return errors + check_list(at.child("config"), devices.get("config"), MAX_ITEMS, config)


def request_names(spec: Object) -> set[str]:
    """Return what allocations may refer to: requests, and alternatives as ``request/alternative``."""
    known: set[str] = set()
    for request in (spec.get("devices") or {}).get("requests") or ():
        name = request.get("name") or ""
        known |= {name, *(f"{name}/{item.get('name') or ''}" for item in request.get("firstAvailable") or ())}
    return known


def references(path: Path, holder: Object, known: set[str]) -> list[FieldError]:
    """Check the requests that a constraint or a configuration is about."""
    return check_set(
        path, holder.get("requests"), MAX_ITEMS, lambda where, name: reference(where, name, known), lambda name: name
    )


def reference(path: Path, name: str, known: set[str]) -> list[FieldError]:
    """Check the name of a request, or of a request and its alternative."""
    text = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
    segments = name.split("/")
    unknown = invalid(path, name, text)
    if len(segments) > 2:
        return [unknown]
    errors = [error for segment in segments for error in label(path, segment)]
    return errors if name in known else [*errors, unknown]


def _constraint(path: Path, constraint: Object, known: set[str]) -> list[FieldError]:
    errors = references(path.child("requests"), constraint, known)
    for member in ("matchAttribute", "distinctAttribute"):
        if constraint.get(member) is not None:
            return errors + fully_qualified(path.child(member), constraint[member])
    text = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
    return [*errors, required(path, text)]


def configuration(path: Path, config: Object) -> list[FieldError]:
    """Check the configuration that is handed to a driver."""
    opaque, at = config.get("opaque"), path.child("opaque")
    if opaque is None:
        return [required(at)]
    errors = driver(at.child("driver"), opaque.get("driver"))
    return errors + json_object(at.child("parameters"), opaque.get("parameters"), MAX_PARAMETERS)


def _request(path: Path, request: Object) -> list[FieldError]:
    errors = label(path.child("name"), request.get("name") or "")
    exactly, several = request.get("exactly"), request.get("firstAvailable")
    if exactly is None and not several:
        return [*errors, required(path, "exactly one of `exactly` or `firstAvailable` is required")]
    if exactly is not None and several:
        text = "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"
        return [*errors, invalid(path, None, text)]
    if exactly is not None:
        return errors + _exact(path.child("exactly"), exactly)
    return errors + check_set(
        path.child("firstAvailable"), several, MAX_ALTERNATIVES, _alternative, lambda item: item.get("name") or ""
    )


def _alternative(path: Path, request: Object) -> list[FieldError]:
    return label(path.child("name"), request.get("name") or "") + _exact(path, request)


def _exact(path: Path, request: Object) -> list[FieldError]:
    name, at = request.get("deviceClassName") or "", path.child("deviceClassName")
    errors = by_rule(at, name, names.dns1123_subdomain) if name else [required(at)]
    errors += check_list(path.child("selectors"), request.get("selectors"), MAX_ITEMS, check_selector)
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
    for index, toleration in enumerate(request.get("tolerations") or ()):
        errors += _toleration(path.child("tolerations").index(index), toleration)
    return errors


def check_selector(path: Path, selector: Object) -> list[FieldError]:
    """Check a selector of devices: a CEL expression that compiles."""
    if selector.get("cel") is None:
        return [required(path.child("cel"))]
    from hyperkube_lib.cel.admission import WrongExpression
    from hyperkube_lib.cel.devices import compile_selector

    source, at = str(selector["cel"].get("expression") or ""), path.child("cel", "expression")
    if len(source) > MAX_EXPRESSION:
        return [too_long(at, MAX_EXPRESSION)]
    try:
        compile_selector(source)
    except WrongExpression as error:
        return [invalid(at, source, str(error))]
    return []


def _toleration(path: Path, toleration: Object) -> list[FieldError]:
    key, value, operator = (toleration.get(member) or "" for member in ("key", "value", "operator"))
    errors = by_rule(path.child("key"), key, names.qualified_name) if key else []
    if operator == "Exists":
        if value:
            errors.append(invalid(path.child("value"), value, "must be empty for operator `Exists`"))
    elif operator == "Equal":
        errors += by_rule(path.child("value"), value, names.label_value)
    elif not operator:
        errors.append(required(path.child("operator")))
    else:
        errors.append(not_supported(path.child("operator"), operator, ("Equal", "Exists")))
    effect = toleration.get("effect") or ""
    if effect and effect not in EFFECTS:
        errors.append(not_supported(path.child("effect"), effect, EFFECTS))
    return errors
