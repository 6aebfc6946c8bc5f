"""Resource names and amounts: what may be requested, limited and counted.

Source: kubernetes pkg/apis/core/validation (ValidateContainerResourceRequirements and around) and pkg/apis/core/helper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hyperkube_api.meta.validation import NOT_NEGATIVE

from hyperkube.kinds import resource_lists
from hyperkube.kinds.resource_lists import HUGE_PAGES_PREFIX, REQUESTS_PREFIX, is_native
from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, duplicate, forbidden, invalid, required
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import Quantity, QuantityError, parse

STANDARD_CONTAINER = frozenset({"cpu", "memory", "ephemeral-storage"})
STANDARD_QUOTA = frozenset(
    {
        "cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.storage",
        "requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage", "pods",
        "resourcequotas", "services", "replicationcontrollers", "secrets", "persistentvolumeclaims", "configmaps",
        "services.nodeports", "services.loadbalancers",
    }
)  # fmt: skip
INTEGERS = frozenset(
    {
        "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps",
        "persistentvolumeclaims", "services.nodeports", "services.loadbalancers",
    }
)  # fmt: skip
NOT_INTEGER = "must be an integer"
NO_STANDARD_TYPE = "must be a standard resource type or fully qualified"
NO_CONTAINER_RESOURCE = "must be a standard resource for containers"


def is_extended(name: str) -> bool:
    """Tell whether a resource is extended: one that nodes advertise for a device plug-in or an operator."""
    return resource_lists.is_extended(name) and not names.qualified_name(REQUESTS_PREFIX + name)


def may_overcommit(name: str) -> bool:
    """Tell whether limits may exceed requests."""
    return is_native(name) and not name.startswith(HUGE_PAGES_PREFIX)


def is_integer(name: str) -> bool:
    """Tell whether a resource comes in whole numbers only."""
    return name in INTEGERS or is_extended(name)


def _is_standard_container(name: str) -> bool:
    return name in STANDARD_CONTAINER or name.startswith(HUGE_PAGES_PREFIX)


def _is_standard(name: str) -> bool:
    return (
        name in STANDARD_QUOTA
        or name == "storage"
        or name.startswith((HUGE_PAGES_PREFIX, REQUESTS_PREFIX + HUGE_PAGES_PREFIX))
    )


def resource_name(path: Path, name: str) -> list[FieldError]:
    """Check the form of a resource's name."""
    errors = [invalid(path, name, text) for text in names.qualified_name(name)]
    if errors:
        return errors
    if "/" not in name and not _is_standard(name):
        errors.append(invalid(path, name, NO_STANDARD_TYPE))
    return errors


def container_resource_name(path: Path, name: str) -> list[FieldError]:
    """Check that a container can request a resource."""
    if name in STANDARD_CONTAINER:
        return []
    errors = resource_name(path, name)
    if "/" not in name:
        if not _is_standard_container(name):
            errors.append(invalid(path, name, NO_CONTAINER_RESOURCE))
    elif not is_native(name) and not is_extended(name):
        text = "doesn't follow extended resource name standard"
        errors.append(invalid(path, name, text))
    return errors


def amount(path: Path, name: str, text: str) -> list[FieldError]:
    """Check a quantity of a resource: not negative, whole where only whole ones exist."""
    try:
        value = parse(text)
    except QuantityError as error:
        return [invalid(path, text, str(error))]
    errors: list[FieldError] = []
    if value.sign < 0:
        errors.append(invalid(path, str(value), NOT_NEGATIVE))
    if is_integer(name) and not value.is_whole():
        errors.append(invalid(path, str(value), NOT_INTEGER))
    return errors


def requirements(
    path: Path,
    resources: Object | None,
    claims: frozenset[str] = frozenset(),
    check_name: Callable[[Path, str], list[FieldError]] = container_resource_name,
) -> list[FieldError]:
    """Check requests and limits against one another.

    Args:
        path: where they are.
        resources: limits, requests and claims of a container, or of a whole pod.
        claims: the names of the pod's claims.
        check_name: what tells whether a resource may be asked for here.
    """
    if not resources:
        return []
    limits: Mapping[str, str] = resources.get("limits") or {}
    requests: Mapping[str, str] = resources.get("requests") or {}
    errors: list[FieldError] = []
    at_limits, at_requests = path.child("limits"), path.child("requests")
    huge = False
    for name, text in sorted(limits.items()):
        at = at_limits.key(name)
        errors += check_name(at, name)
        errors += amount(at, name, text)
        if name.startswith(HUGE_PAGES_PREFIX):
            huge = True
            errors += _whole_pages(at, name, text)
    for name, text in sorted(requests.items()):
        at = at_requests.key(name)
        errors += check_name(at, name)
        errors += amount(at, name, text)
        errors += _against_limit(at_requests, at_limits, name, text, limits)
        if name.startswith(HUGE_PAGES_PREFIX):
            huge = True
            errors += _whole_pages(at, name, text)
    if huge and not ({"cpu", "memory"} & {*limits, *requests}):
        errors.append(forbidden(path, "HugePages require cpu or memory"))
    named = resources.get("claims")
    return errors + _claims(path.child("claims"), named, claims) if named else errors


def overhead(path: Path, amounts: Object | None) -> list[FieldError]:
    """Check what a runtime needs on top; Kubernetes reports it as if it were limits."""
    return requirements(path, {"limits": amounts}) if amounts else []


def _against_limit(path: Path, at_limits: Path, name: str, text: str, limits: Mapping[str, str]) -> list[FieldError]:
    if name in limits:
        request, limit = parse(text), parse(limits[name])
        if request != limit and not may_overcommit(name):
            return [invalid(path, str(request), f"must be equal to {name} limit of {limit}")]
        if request > limit:
            return [invalid(path, str(request), f"must be less than or equal to {name} limit of {limit}")]
    elif not may_overcommit(name):
        return [required(at_limits, "Limit must be set for non overcommitable resources")]
    return []


def _whole_pages(path: Path, name: str, text: str) -> list[FieldError]:
    """Check that huge pages come in whole pages of the size in their name."""
    value = parse(text)
    try:
        page: Quantity | None = parse(name.removeprefix(HUGE_PAGES_PREFIX))
    except QuantityError:
        page = None
    if page is not None and page.sign > 0 and not page.milli_value() % 1000 and not value.value() % page.value():
        return []
    return [invalid(path, str(value), f"{value} is not positive integer multiple of {name}")]


def _claims(path: Path, claims: list[Object], known: frozenset[str]) -> list[FieldError]:
    """Check the claims of a container: each request of one at most once, a whole claim on its own."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        at, name, request = path.index(index), claim.get("name") or "", claim.get("request") or ""
        if not name:
            errors.append(required(at))
            continue
        if name in seen:
            errors.append(duplicate(at, name))
        else:
            errors += _claimed_once(at, name, request, seen)
        if name not in known:
            listed = f": {', '.join(sorted(known))}" if known else " which is empty"
            text = f"must be one of the names in pod.spec.resourceClaims{listed}"
            errors.append(FieldError("FieldValueNotFound", at, name, text))
    return errors


def _claimed_once(at: Path, name: str, request: str, seen: set[str]) -> list[FieldError]:
    key = f"{name}/{request}" if request else name
    errors: list[FieldError] = []
    if request:
        errors += [invalid(at.child("request"), request, text) for text in names.dns1123_label(request)]
        if key in seen:
            errors.append(duplicate(at, key))
    else:
        errors += [duplicate(at, name) for other in sorted(seen) if other.startswith(name + "/")]
    seen.add(key)
    return errors
