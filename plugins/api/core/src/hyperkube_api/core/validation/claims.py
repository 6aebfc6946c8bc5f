"""Claims to persistent volumes.

Source: kubernetes pkg/apis/core/validation (ValidatePersistentVolumeClaim and around).
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_api.core.validation.amounts import amount
from hyperkube_api.meta.go_diff import spec_diff
from hyperkube_api.meta.validation import by_rule, label_selector

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, invalid, not_supported, required
from hyperkube.machinery.objects import Object, annotations_of, copy_object
from hyperkube.machinery.quantity import parse

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")
CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
IMMUTABLE_SPEC = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
)
_SPEC = ROOT.child("spec")


def access_modes(path: Path, modes: Sequence[str] | None) -> list[FieldError]:
    """Check how a volume may be mounted."""
    if not modes:
        return [required(path, "at least 1 access mode is required")]
    errors = [not_supported(path, mode, ACCESS_MODES) for mode in modes if mode not in ACCESS_MODES]
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        errors.append(forbidden(path, "may not use ReadWriteOncePod with other access modes"))
    return errors


def validate_claim_spec(path: Path, spec: Object) -> list[FieldError]:
    """Check what a claim asks for."""
    errors = access_modes(path.child("accessModes"), spec.get("accessModes"))
    errors += label_selector(path.child("selector"), spec.get("selector"))
    requests = (spec.get("resources") or {}).get("requests") or {}
    if "storage" not in requests:
        errors.append(required(path.child("resources").key("storage")))
    else:
        at = path.child("resources").key("storage")
        errors += amount(at, "storage", requests["storage"])
        if parse(requests["storage"]).sign <= 0:
            errors.append(invalid(at, str(parse(requests["storage"])), "must be greater than zero"))
    if spec.get("storageClassName"):
        errors += by_rule(path.child("storageClassName"), spec["storageClassName"], names.dns1123_subdomain)
    mode = spec.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        errors.append(not_supported(path.child("volumeMode"), mode, VOLUME_MODES))
    errors += _sources(path, spec)
    if spec.get("volumeAttributesClassName"):
        at = path.child("volumeAttributesClassName")
        errors += by_rule(at, spec["volumeAttributesClassName"], names.dns1123_subdomain)
    return errors


def _sources(path: Path, spec: Object) -> list[FieldError]:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    errors: list[FieldError] = []
    if source is not None:
        errors += _source(path.child("dataSource"), source)
    if reference is not None:
        errors += _source(path.child("dataSourceRef"), reference)
    if source is not None and reference is not None and not reference.get("namespace"):
        same = all(
            (source.get(member) or "") == (reference.get(member) or "") for member in ("apiGroup", "kind", "name")
        )
        if not same:
            errors.append(invalid(path, path.child("dataSource"), "must match dataSourceRef"))
    elif source is not None and reference is not None:
        text = "may not be specified when dataSourceRef.namespace is specified"
        errors.append(invalid(path, path.child("dataSource"), text))
    return errors


def _source(path: Path, source: Object) -> list[FieldError]:
    errors = [required(path.child(member)) for member in ("name", "kind") if not source.get(member)]
    group = source.get("apiGroup") or ""
    if not group and source.get("kind") and source["kind"] != "PersistentVolumeClaim":
        errors.append(
            invalid(path, source.get("kind"), "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
        )
    if group:
        errors += by_rule(path.child("apiGroup"), group, names.dns1123_subdomain)
    return errors


def validate_claim(claim: Object) -> list[FieldError]:
    """Check a claim."""
    return validate_claim_spec(_SPEC, claim.get("spec") or {})


def validate_claim_template(path: Path, template: Object) -> list[FieldError]:
    """Check the template of a claim that lives as long as a pod."""
    meta = template.get("metadata") or {}
    allowed = {"labels", "annotations", "creationTimestamp"}
    text = "cannot be set"
    errors = [
        forbidden(path.child("metadata", member), text)
        for member, value in meta.items()
        if value and member not in allowed
    ]
    return errors + validate_claim_spec(path.child("spec"), template.get("spec") or {})


def validate_claim_update(claim: Object, old: Object) -> list[FieldError]:
    """Check an update of a claim: little may change, and only once it is bound."""
    spec, before = claim["spec"], old.get("spec") or {}
    errors = validate_claim(claim)
    bound = (old.get("status") or {}).get("phase") == "Bound"
    munged = copy_object(spec)
    if not before.get("volumeName") and spec.get("volumeName"):
        munged.pop("volumeName", None)
    if _may_set_class(claim, old):
        _put(munged, "storageClassName", before.get("storageClassName"))
    if bound:
        munged.setdefault("resources", {})
        _put(munged["resources"], "requests", (before.get("resources") or {}).get("requests"))
    _put(munged, "volumeAttributesClassName", before.get("volumeAttributesClassName"))
    if munged != before:
        diff = spec_diff("hyperkube_api.core.v1:PersistentVolumeClaimSpec", before, munged)
        return [*errors, forbidden(_SPEC, f"{IMMUTABLE_SPEC}\n{diff}")]
    return errors + _not_smaller(claim, old) + _attributes_class(spec, old)


def _put(holder: Object, member: str, value: object) -> None:
    if value is None:
        holder.pop(member, None)
    else:
        holder[member] = value


def _may_set_class(claim: Object, old: Object) -> bool:
    """The class may be filled in where it was left out, as the annotation of old says or by default."""
    before, after = (old.get("spec") or {}).get("storageClassName"), claim["spec"].get("storageClassName")
    if before is not None or after is None:
        return False
    annotation = annotations_of(old).get(CLASS_ANNOTATION)
    return annotation in {None, after}


def _not_smaller(claim: Object, old: Object) -> list[FieldError]:
    wanted = parse(claim["spec"]["resources"]["requests"]["storage"])
    had = parse(((old["spec"].get("resources") or {}).get("requests") or {}).get("storage") or "0")
    capacity = ((old.get("status") or {}).get("capacity") or {}).get("storage")
    if wanted >= had or (capacity is not None and wanted > parse(capacity)):
        return []
    path = _SPEC.child("resources", "requests", "storage")
    return [forbidden(path, "field can not be less than status.capacity")]


def _attributes_class(spec: Object, old: Object) -> list[FieldError]:
    had = (old.get("status") or {}).get("currentVolumeAttributesClassName")
    if had and not spec.get("volumeAttributesClassName"):
        path = _SPEC.child("volumeAttributesClassName")
        return [forbidden(path, "update from non-nil value to nil is forbidden")]
    return []


def validate_claim_status_update(claim: Object, old: Object) -> list[FieldError]:
    """Check what was reported of a claim."""
    del old
    path = ROOT.child("status")
    errors: list[FieldError] = []
    status = claim.get("status") or {}
    for member in ("capacity", "allocatedResources"):
        for name, text in sorted((status.get(member) or {}).items()):
            errors += amount(path.child(member).key(name), name, text)
    return errors
