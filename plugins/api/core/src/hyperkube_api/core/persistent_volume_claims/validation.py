"""What is wrong with a claim to a persistent volume.

Source: kubernetes pkg/apis/core/validation (ValidatePersistentVolumeClaim and around).
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_api.core.annotations import annotation_map
from hyperkube_api.meta.go_diff import spec_diff
from hyperkube_api.meta.validation import IMMUTABLE, by_rule, label_selector, labels, unchanged

from hyperkube.kinds.resource_lists import is_native
from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, forbidden, invalid, not_supported, required
from hyperkube.machinery.objects import Object, annotations_of, copy_object
from hyperkube.machinery.quantity import Quantity, parse

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
CLAIM = "PersistentVolumeClaim"
VOLUME_MODES = ("Block", "Filesystem")
CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
IMMUTABLE_SPEC = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
)
RESIZE_STATES = (
    "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible",
    "NodeResizePending",
)  # fmt: skip
_TEMPLATE_MEMBERS = (
    ("name", "name"), ("generateName", "generateName"), ("namespace", "namespace"), ("selfLink", "selfLink"),
    ("uid", "uID"), ("resourceVersion", "resourceVersion"), ("generation", "generation"),
    ("creationTimestamp", "creationTimestamp"), ("deletionTimestamp", "deletionTimestamp"),
    ("deletionGracePeriodSeconds", "deletionGracePeriodSeconds"), ("ownerReferences", "ownerReferences"),
    ("finalizers", "finalizers"), ("managedFields", "managedFields"),
)  # fmt: skip
"""What a template's metadata cannot have, and what Kubernetes calls it."""
_SPEC = ROOT.child("spec")
_STATUS = ROOT.child("status")


def access_modes(path: Path, modes: Sequence[str] | None) -> list[FieldError]:
    """Check how a volume may be mounted."""
    errors = [not_supported(path, mode, ACCESS_MODES) for mode in modes or () if mode not in ACCESS_MODES]
    known = {mode for mode in modes or () if mode in ACCESS_MODES}
    if "ReadWriteOncePod" in known and len(known) > 1:
        errors.append(forbidden(path, "may not use ReadWriteOncePod with other access modes"))
    return errors


def validate_claim_spec(path: Path, spec: Object) -> list[FieldError]:
    """Check what a claim asks for."""
    modes, at_modes = spec.get("accessModes"), path.child("accessModes")
    errors = [] if modes else [required(at_modes, "at least 1 access mode is required")]
    errors += label_selector(path.child("selector"), spec.get("selector"))
    errors += access_modes(at_modes, modes)
    errors += _size(path.child("resources").key("storage"), spec)
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


def _size(path: Path, spec: Object) -> list[FieldError]:
    text = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if text is None:
        return [required(path)]
    size = parse(text)
    return [] if size.sign > 0 else [invalid(path, str(size), "must be greater than zero")]


def _sources(path: Path, spec: Object) -> list[FieldError]:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    errors = [] if source is None else _source(path.child("dataSource"), source)
    if reference is None:
        return errors
    at = path.child("dataSourceRef")
    errors += _source(at, reference)
    if reference.get("namespace"):
        errors += by_rule(at.child("namespace"), reference["namespace"], names.dns1123_label)
    if source is None:
        return errors
    if reference.get("namespace"):
        return [*errors, invalid(path, {}, "may not be specified when dataSourceRef.namespace is specified")]
    if any(source.get(member) != reference.get(member) for member in ("apiGroup", "kind", "name")):
        errors.append(invalid(path, {}, "must match dataSourceRef"))
    return errors


def _source(path: Path, source: Object) -> list[FieldError]:
    errors = [required(path.child(member)) for member in ("name", "kind") if not source.get(member)]
    group, kind = source.get("apiGroup") or "", source.get("kind") or ""
    if not group and kind != CLAIM:
        errors.append(invalid(path, kind, f"must be '{CLAIM}' when referencing the default apiGroup"))
    return errors + (by_rule(path.child("apiGroup"), group, names.dns1123_subdomain) if group else [])


def validate_claim(claim: Object) -> list[FieldError]:
    """Check a claim."""
    return validate_claim_spec(_SPEC, claim.get("spec") or {})


def validate_claim_template(path: Path, template: Object) -> list[FieldError]:
    """Check the template of a claim that lives as long as a pod."""
    meta, at = template.get("metadata") or {}, path.child("metadata")
    errors = annotation_map(at.child("annotations"), meta.get("annotations") or {})
    errors += labels(at.child("labels"), meta.get("labels"))
    errors += [forbidden(at.child(shown), "cannot be set") for member, shown in _TEMPLATE_MEMBERS if meta.get(member)]
    return errors + validate_claim_spec(path.child("spec"), template.get("spec") or {})


def validate_claim_update(claim: Object, old: Object) -> list[FieldError]:
    """Check an update of a claim: little may change, and only once it is bound."""
    spec, before = claim["spec"], old.get("spec") or {}
    errors = validate_claim(claim)
    munged = copy_object(spec)
    if not before.get("volumeName"):
        _put(munged, "volumeName", before.get("volumeName"))
    errors += _class_kept(claim, old, munged)
    if (claim.get("status") or {}).get("phase") == "Bound":
        size = ((before.get("resources") or {}).get("requests") or {}).get("storage")
        requests = (munged.get("resources") or {}).get("requests")
        if requests is not None:
            _put(requests, "storage", size)
        _put(munged, "volumeAttributesClassName", before.get("volumeAttributesClassName"))
    if munged != before:
        diff = spec_diff("hyperkube_api.core.v1:PersistentVolumeClaimSpec", before, munged)
        errors.append(forbidden(_SPEC, f"{IMMUTABLE_SPEC}\n{diff}"))
    errors += _not_smaller(claim, old)
    errors += unchanged(ROOT.child("volumeMode"), spec.get("volumeMode"), before.get("volumeMode"))
    return errors + _attributes_class(spec, old)


def _class_kept(claim: Object, old: Object, munged: Object) -> list[FieldError]:
    """Check the class in the deprecated annotation; where it may be filled in as a field, `munged` loses it."""
    before, after = annotations_of(old).get(CLASS_ANNOTATION), annotations_of(claim).get(CLASS_ANNOTATION)
    had, wanted = (old.get("spec") or {}).get("storageClassName"), claim["spec"].get("storageClassName")
    filled_in = had is None and wanted is not None and before in {None, wanted}
    if filled_in:
        munged.pop("storageClassName", None)
    if (filled_in and before is not None and after in {None, before}) or (after or "") == (before or ""):
        return []
    at = ROOT.child("metadata", "annotations", CLASS_ANNOTATION)
    return [invalid(at, after or "", IMMUTABLE)]


def _put(holder: Object, member: str, value: object) -> None:
    if value is None:
        holder.pop(member, None)
    else:
        holder[member] = value


def _not_smaller(claim: Object, old: Object) -> list[FieldError]:
    """Check that a claim only shrinks to what a failed expansion left it with."""
    wanted, had = (_requested(item["spec"]) for item in (claim, old))
    capacity = parse(((old.get("status") or {}).get("capacity") or {}).get("storage") or "0")
    if wanted >= had or wanted > capacity:
        return []
    path = _SPEC.child("resources", "requests", "storage")
    return [forbidden(path, "field can not be less than status.capacity")]


def _requested(spec: Object) -> Quantity:
    return parse(((spec.get("resources") or {}).get("requests") or {}).get("storage") or "0")


def _attributes_class(spec: Object, old: Object) -> list[FieldError]:
    """Check that a claim that got a class of attributes keeps one."""
    wanted, had = spec.get("volumeAttributesClassName"), old["spec"].get("volumeAttributesClassName")
    if wanted or wanted == had or (old.get("status") or {}).get("currentVolumeAttributesClassName") is None:
        return []
    what = "nil" if wanted is None else "empty string"
    text = f"update to {what} is forbidden when status.currentVolumeAttributesClassName is not nil"
    return [forbidden(_SPEC.child("volumeAttributesClassName"), text)]


def validate_claim_status_update(claim: Object) -> list[FieldError]:
    """Check what was reported of a claim."""
    status, errors = claim.get("status") or {}, list[FieldError]()
    for name, text in sorted((status.get("capacity") or {}).items()):
        errors += basic_amount(_STATUS.child("capacity").key(name), text)
    at = _STATUS.child("allocatedResourceStatuses")
    for name, state in sorted((status.get("allocatedResourceStatuses") or {}).items()):
        errors += _resource_key(at, name)
        if state not in RESIZE_STATES:
            errors.append(not_supported(at, name, RESIZE_STATES))
    at = _STATUS.child("allocatedResources")
    for name, text in sorted((status.get("allocatedResources") or {}).items()):
        errors += _resource_key(at, name) or basic_amount(at.key(name), text)
    return errors


def basic_amount(path: Path, text: str) -> list[FieldError]:
    """Check that a quantity is not negative."""
    value = parse(text).value()
    return [invalid(path, value, "must be a valid resource quantity")] if value < 0 else []


def _resource_key(path: Path, name: str) -> list[FieldError]:
    """Check that a claim can be given a resource: storage, or one that is not Kubernetes' own."""
    errors = by_rule(path, name, names.qualified_name)
    if not errors and name != "storage" and is_native(name):
        errors.append(not_supported(path, name, ("storage",)))
    return errors
