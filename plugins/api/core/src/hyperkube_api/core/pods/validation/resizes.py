"""What a resize of a running pod may ask for.

Source: kubernetes pkg/apis/core/validation (ValidatePodResize).
"""

from __future__ import annotations

from hyperkube_api.core.pod_specs.annotations import MIRROR
from hyperkube_api.core.pods.validation.pod import WHOLE, validate_body

from hyperkube.kinds.qos import computed_qos_class, qos_class
from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, invalid
from hyperkube.machinery.objects import Object, annotations_of

COMPUTE = ("cpu", "memory")
ONLY_COMPUTE = "only cpu and memory resources are mutable"
_SPEC = ROOT.child("spec")


def validate_resize(pod: Object, old: Object, wanted: Object, *, privileged: bool = True) -> list[FieldError]:
    """Check a resize: cpu and memory only, and the quality of service stays.

    Args:
        pod: the pod as it would be.
        old: the pod as it is.
        wanted: the specification that was sent, from which the order of the containers shows.
        privileged: whether the cluster allows privileged containers.
    """
    if MIRROR in annotations_of(old):
        return [forbidden(WHOLE, "static pods cannot be resized")]
    if (old["spec"].get("os") or {}).get("name") == "windows":
        return [forbidden(WHOLE, "windows pods cannot be resized")]
    errors = validate_body(pod, privileged=privileged)
    if qos_class(old) != computed_qos_class(pod):
        text = "Pod QOS Class may not change as a result of resizing"
        errors.append(invalid(_SPEC, (pod.get("status") or {}).get("qosClass") or "", text))
    errors += _whole_pod(pod["spec"].get("resources"), old["spec"].get("resources"))
    moved = [error for member in ("containers", "initContainers") for error in _order(member, wanted, old["spec"])]
    if moved:
        return errors + moved
    return errors + _containers(pod["spec"], old["spec"])


def _whole_pod(resources: Object | None, old: Object | None) -> list[FieldError]:
    at = _SPEC.child("resources")
    if old is not None and resources is None:
        return [forbidden(at, "pod-level resources cannot be removed")]
    errors = _removed(at, resources or {}, old or {}, "pod-level resource")
    if _others(resources or {}) != _others(old or {}):
        errors.append(forbidden(_SPEC, f"{ONLY_COMPUTE} at pod-level"))
    return errors


def _removed(path: Path, resources: Object, old: Object, what: str) -> list[FieldError]:
    return [
        forbidden(path.child(member), f"{what} {member} cannot be removed")
        for member in ("requests", "limits")
        if set(old.get(member) or ()) - set(resources.get(member) or ())
    ]


def _others(resources: Object) -> Object:
    """Return what is asked for besides cpu and memory."""
    return {
        member: {name: amount for name, amount in (resources.get(member) or {}).items() if name not in COMPUTE}
        for member in ("requests", "limits")
    }


def _order(member: str, wanted: Object, old: Object) -> list[FieldError]:
    names, before = ([item.get("name") for item in spec.get(member) or ()] for spec in (wanted, old))
    at = _SPEC.child(member)
    if len(names) != len(before):
        return [forbidden(at, f"{member} may not be added or removed on resize")]
    text = f"{member} may not be renamed or reordered on resize"
    return [
        forbidden(at.index(index).child("name"), text)
        for index, (name, known) in enumerate(zip(names, before, strict=True))
        if name != known
    ]


def _containers(spec: Object, old: Object) -> list[FieldError]:
    errors = [
        error
        for member in ("initContainers", "containers")
        for at, container, before in _pairs(member, spec, old)
        for error in _removed(at.child("resources"), _resources(container), _resources(before), "resource")
    ]
    for _, container, before in _pairs("containers", spec, old):
        if _beyond_compute(container, before):
            errors.append(forbidden(_SPEC, ONLY_COMPUTE))
    for at, container, before in _pairs("initContainers", spec, old):
        errors += _init_container(at, container, before)
    return errors


def _pairs(member: str, spec: Object, old: Object) -> list[tuple[Path, Object, Object]]:
    """Return the containers of a list with their paths and what they were."""
    pairs = zip(spec.get(member) or (), old.get(member) or (), strict=False)
    return [(_SPEC.child(member).index(index), container, before) for index, (container, before) in enumerate(pairs)]


def _resources(container: Object) -> Object:
    return container.get("resources") or {}


def _beyond_compute(container: Object, before: Object) -> bool:
    """Tell whether more than cpu and memory changes; what has claims cannot change at all."""
    policies, were = container.get("resizePolicy") or [], before.get("resizePolicy") or []
    resources, had = _resources(container), _resources(before)
    return policies != were or _others(resources) != _others(had) or bool(had.get("claims"))


def _init_container(at: Path, container: Object, before: Object) -> list[FieldError]:
    """Check what runs before the containers: sidecars, and what ends, which starts with its resources only once."""
    errors: list[FieldError] = []
    if _beyond_compute(container, before):
        errors.append(forbidden(at, "only cpu and memory resources for init or sidecar containers are mutable"))
    restarts = any(policy.get("restartPolicy") == "RestartContainer" for policy in container.get("resizePolicy") or ())
    if restarts and container != before and before.get("restartPolicy") != "Always":
        text = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
        errors.append(forbidden(at, text))
    return errors
