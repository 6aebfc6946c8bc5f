"""What a whole pod may use, next to what its containers ask for.

Source: kubernetes pkg/apis/core/validation (validatePodResources, validatePodResourceConsistency).
"""

from __future__ import annotations

from hyperkube_api.core.amounts import requirements, resource_name

from hyperkube.kinds.pods import aggregate_containers, is_pod_level_resource
from hyperkube.kinds.resource_lists import HUGE_PAGES_PREFIX
from hyperkube.machinery.field import FieldError, Path, forbidden, invalid, not_supported
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import parse

POD_LEVEL = ("cpu", HUGE_PAGES_PREFIX, "memory")


def validate_pod_resources(path: Path, spec: Object, claims: frozenset[str]) -> list[FieldError]:
    """Check the resources of a whole pod.

    Args:
        path: where the pod's specification is.
        spec: the specification.
        claims: the names of the pod's claims.
    """
    resources = spec.get("resources")
    if resources is None:
        return []
    at = path.child("resources")
    if (spec.get("os") or {}).get("name") == "windows":
        return [forbidden(at, "may not be set for a windows pod")]
    errors: list[FieldError] = []
    if resources.get("claims") is not None:
        errors.append(forbidden(at.child("claims"), "claims may not be set for Resources at pod-level"))
    errors += requirements(at, resources, claims, _resource_name)
    return errors + _room_for_containers(at, resources, spec)


def _resource_name(path: Path, name: str) -> list[FieldError]:
    errors = resource_name(path, name)
    if not errors and not is_pod_level_resource(name):
        errors.append(not_supported(path, name, POD_LEVEL))
    return errors


def _room_for_containers(path: Path, resources: Object, spec: Object) -> list[FieldError]:
    """Check that the containers together request no more, and none alone may use more."""
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    errors: list[FieldError] = []
    for name, total in sorted(aggregate_containers(spec, "requests").items()):
        if name in requests and total > parse(requests[name]):
            text = f"must be greater than or equal to aggregate container requests of {total}"
            errors.append(invalid(path.child("requests").key(name), str(parse(requests[name])), text))
    for name, total in sorted(aggregate_containers(spec, "limits").items()):
        if name.startswith(HUGE_PAGES_PREFIX) and name in limits and total > parse(limits[name]):
            text = f"must be greater than or equal to aggregate container limits of {total}"
            errors.append(invalid(path.child("limits").key(name), str(parse(limits[name])), text))
    for index, container in enumerate(spec.get("containers") or ()):
        own = (container.get("resources") or {}).get("limits") or {}
        for name, limit in sorted(own.items()):
            if name in limits and parse(limit) > parse(limits[name]):
                text = f"must be less than or equal to pod limits of {parse(limits[name])}"
                at = path.child("containers").index(index).key(name).child("limits")
                errors.append(invalid(at, str(parse(limit)), text))
    return errors
