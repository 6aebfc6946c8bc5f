"""What is wrong with a new pod.

Source: kubernetes pkg/apis/core/validation (ValidatePodCreate).
"""

from __future__ import annotations

import re

import orjson
from hyperkube_api.core.pod_specs.annotations import CHECKED_ANNOTATIONS, MIRROR
from hyperkube_api.core.pod_specs.validation.annotations import validate_pod_annotations, validate_profiles_agree
from hyperkube_api.core.pod_specs.validation.containers import padded_image
from hyperkube_api.core.pod_specs.validation.pod_spec import validate_pod_spec

from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden
from hyperkube.machinery.objects import Object, annotations_of, name_of
from hyperkube.machinery.recent import Recent

WHOLE = Path("[]")
"""What errors about a pod as a whole name: a path without elements, as Go prints it."""
_SPEC = ROOT.child("spec")
_ANNOTATIONS = ROOT.child("metadata", "annotations")
_find_checked = re.compile("|".join(map(re.escape, CHECKED_ANNOTATIONS))).search
_valid_specs: Recent[tuple[bool, bytes], bool] = Recent(256)


def validate_pod(pod: Object, *, privileged: bool = True) -> list[FieldError]:
    """Check a new pod."""
    spec, annotations = pod.get("spec") or {}, annotations_of(pod)
    checked = annotations and _find_checked(" ".join(annotations))
    errors = validate_pod_annotations(_ANNOTATIONS, annotations, spec) if checked else []
    errors += _validate_spec_once(pod, spec, privileged=privileged)
    if spec.get("ephemeralContainers"):
        errors.append(forbidden(_SPEC.child("ephemeralContainers"), "cannot be set on create"))
    if spec.get("schedulingGates") and spec.get("nodeName"):
        text = "cannot be set until all schedulingGates have been cleared"
        errors.append(forbidden(_SPEC.child("nodeName"), text))
    return errors + validate_profiles_agree(_SPEC, annotations, spec) if checked else errors


def validate_body(pod: Object, *, privileged: bool = True) -> list[FieldError]:
    """Check the annotations and the specification of a pod, be it new or old."""
    spec, annotations = pod.get("spec") or {}, annotations_of(pod)
    errors = validate_pod_annotations(_ANNOTATIONS, annotations, spec)
    return errors + _validate_spec(pod, spec, privileged=privileged)


def name_matters(spec: Object) -> bool:
    """Tell whether what is right in a specification depends on the name and the annotations of the pod, too."""
    return "resourceClaims" in spec or any("ephemeral" in volume for volume in spec.get("volumes") or ())


def _validate_spec_once(pod: Object, spec: Object, *, privileged: bool) -> list[FieldError]:
    """Check a specification; that of the pods of one template is checked once."""
    if name_matters(spec):
        return _validate_spec(pod, spec, privileged=privileged)
    key = (privileged, orjson.dumps(spec))
    if _valid_specs.get(key):
        return []
    errors = _validate_spec(pod, spec, privileged=privileged)
    if not errors:
        _valid_specs.keep(key, True)
    return errors


def _validate_spec(pod: Object, spec: Object, *, privileged: bool) -> list[FieldError]:
    static = MIRROR in annotations_of(pod)
    errors = validate_pod_spec(_SPEC, spec, privileged=privileged, pod_name=name_of(pod), static=static)
    if not spec.get("serviceAccountName"):
        errors += _tokens_without_account(spec)
    for member in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(member) or ()):
            image = container.get("image") or ""
            if image.strip() != image:
                errors += padded_image(_SPEC.child(member).index(index), container)
    return errors


def _tokens_without_account(spec: Object) -> list[FieldError]:
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
