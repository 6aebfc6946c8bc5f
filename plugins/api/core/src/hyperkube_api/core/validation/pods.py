"""New pods.

Source: kubernetes pkg/apis/core/validation (ValidatePodCreate).
"""

from __future__ import annotations

import orjson
from hyperkube_api.core.validation.pod_specs import validate_pod_spec

from hyperkube.machinery.field import ROOT, FieldError, forbidden, invalid
from hyperkube.machinery.objects import Object, annotations_of, name_of
from hyperkube.machinery.recent import Recent

MIRROR = "kubernetes.io/config.mirror"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_SPEC = ROOT.child("spec")
_INT32 = 2**31
_flawless: Recent[tuple[bool, bytes], bool] = Recent(256)


def validate_pod(pod: Object, *, privileged: bool = True) -> list[FieldError]:
    """Check a new pod."""
    spec = pod.get("spec") or {}
    errors = _annotations(pod)
    errors += _spec_errors(spec, privileged=privileged, pod_name=name_of(pod))
    if spec.get("ephemeralContainers"):
        errors.append(forbidden(_SPEC.child("ephemeralContainers"), "cannot be set on create"))
    if spec.get("schedulingGates") and spec.get("nodeName"):
        text = "cannot be set until all schedulingGates have been cleared"
        errors.append(forbidden(_SPEC.child("nodeName"), text))
    return errors


def _spec_errors(spec: Object, *, privileged: bool, pod_name: str) -> list[FieldError]:
    """Check a specification; that of the pods of one template is checked once."""
    if any("ephemeral" in volume for volume in spec.get("volumes") or ()):  # claims are named after the pod
        return validate_pod_spec(_SPEC, spec, privileged=privileged, pod_name=pod_name)
    key = (privileged, orjson.dumps(spec))
    if _flawless.get(key):
        return []
    errors = validate_pod_spec(_SPEC, spec, privileged=privileged, pod_name=pod_name)
    if not errors:
        _flawless.keep(key, True)
    return errors


def _annotations(pod: Object) -> list[FieldError]:
    annotations = annotations_of(pod)
    path = ROOT.child("metadata", "annotations")
    errors: list[FieldError] = []
    if annotations.get(MIRROR) and not (pod.get("spec") or {}).get("nodeName"):
        text = "must set spec.nodeName if mirror pod annotation is set"
        errors.append(invalid(path.key(MIRROR), annotations[MIRROR], text))
    cost = annotations.get(DELETION_COST)
    if cost is not None and not _is_int32(cost):
        errors.append(invalid(path.key(DELETION_COST), cost, "must be a 32bit integer"))
    return errors


def _is_int32(text: str) -> bool:
    digits = text.removeprefix("-")
    if not (digits.isdecimal() and digits.isascii()) or (len(digits) > 1 and digits.startswith("0")):
        return False
    return -_INT32 <= int(text) < _INT32
