"""New pods.

Source: kubernetes pkg/apis/core/validation (ValidatePodCreate).
"""

from __future__ import annotations

import re

import orjson
from hyperkube_api.core.pod_specs.validation.annotations import (
    MIRROR,
    TELLING,
    validate_pod_annotations,
    validate_profiles_agree,
)
from hyperkube_api.core.pod_specs.validation.containers import padded_image
from hyperkube_api.core.pod_specs.validation.pod_spec import validate_pod_spec

from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden
from hyperkube.machinery.objects import Object, annotations_of, name_of
from hyperkube.machinery.recent import Recent

WHOLE = Path("[]")
"""What errors about a pod as a whole name: a path without elements, as Go prints it."""
_SPEC = ROOT.child("spec")
_ANNOTATIONS = ROOT.child("metadata", "annotations")
_telling = re.compile("|".join(map(re.escape, TELLING))).search
_flawless: Recent[tuple[bool, bytes], bool] = Recent(256)


def validate_pod(pod: Object, *, privileged: bool = True) -> list[FieldError]:
    """Check a new pod."""
    spec, annotations = pod.get("spec") or {}, annotations_of(pod)
    telling = annotations and _telling(" ".join(annotations))
    errors = validate_pod_annotations(_ANNOTATIONS, annotations, spec) if telling else []
    errors += _spec_errors(pod, spec, privileged=privileged)
    if spec.get("ephemeralContainers"):
        errors.append(forbidden(_SPEC.child("ephemeralContainers"), "cannot be set on create"))
    if spec.get("schedulingGates") and spec.get("nodeName"):
        text = "cannot be set until all schedulingGates have been cleared"
        errors.append(forbidden(_SPEC.child("nodeName"), text))
    return errors + validate_profiles_agree(_SPEC, annotations, spec) if telling else errors


def validate_body(pod: Object, *, privileged: bool = True) -> list[FieldError]:
    """Check the annotations and the specification of a pod, be it new or old."""
    spec, annotations = pod.get("spec") or {}, annotations_of(pod)
    errors = validate_pod_annotations(_ANNOTATIONS, annotations, spec)
    return errors + _checked(pod, spec, privileged=privileged)


def _spec_errors(pod: Object, spec: Object, *, privileged: bool) -> list[FieldError]:
    """Check a specification; that of the pods of one template is checked once."""
    if "resourceClaims" in spec or any("ephemeral" in volume for volume in spec.get("volumes") or ()):
        return _checked(pod, spec, privileged=privileged)  # what is right depends on the pod's name and annotations
    key = (privileged, orjson.dumps(spec))
    if _flawless.get(key):
        return []
    errors = _checked(pod, spec, privileged=privileged)
    if not errors:
        _flawless.keep(key, True)
    return errors


def _checked(pod: Object, spec: Object, *, privileged: bool) -> list[FieldError]:
    static = MIRROR in annotations_of(pod)
    errors = validate_pod_spec(_SPEC, spec, privileged=privileged, pod_name=name_of(pod), static=static)
    if not spec.get("serviceAccountName"):
        errors += _tokens_of_nobody(spec)
    for member in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(member) or ()):
            image = container.get("image") or ""
            if image.strip() != image:
                errors += padded_image(_SPEC.child(member).index(index), container)
    return errors


def _tokens_of_nobody(spec: Object) -> list[FieldError]:
    text = "must not be specified when serviceAccountName is not set"
    return [
        forbidden(
            _SPEC.child("volumes").index(index).child("projected", "sources").index(number).child(_TOKEN),
            text,
        )
        for index, volume in enumerate(spec.get("volumes") or ())
        for number, source in enumerate((volume.get("projected") or {}).get("sources") or ())
        if source.get(_TOKEN) is not None
    ]


_TOKEN = "serviceAccountToken"  # noqa: S105  the name of a source
