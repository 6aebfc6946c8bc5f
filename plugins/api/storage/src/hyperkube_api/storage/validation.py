"""What is wrong with storage classes, drivers and attachments.

Source: kubernetes pkg/apis/storage/validation/validation.go.
"""

from __future__ import annotations

from hyperkube_api.core.validation.volumes import csi_driver_name
from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.validation import IMMUTABLE, by_rule, label_selector, unchanged, unchanged_exactly

from hyperkube.machinery import names
from hyperkube.machinery.field import (
    ROOT,
    FieldError,
    Path,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from hyperkube.machinery.objects import Object, name_of
from hyperkube.machinery.quantity import parse

_SPEC = ROOT.child("spec")
RECLAIM = ("Delete", "Retain")
BINDING = ("Immediate", "WaitForFirstConsumer")
FS_GROUP = ("File", "None", "ReadWriteOnceWithFSType")
LIFECYCLE = ("Ephemeral", "Persistent")
MAX_PARAMETERS, MAX_PARAMETER_BYTES = 512, 256 * 1024


def validate_storage_class(obj: Object) -> list[FieldError]:
    """Check a storage class."""
    provisioner = (obj.get("provisioner") or "").lower()
    at = ROOT.child("provisioner")
    errors = [required(at)] if not provisioner else []
    if provisioner:
        errors += [invalid(at, provisioner, text) for text in names.qualified_name(provisioner)]
    errors += _parameters(ROOT.child("parameters"), obj.get("parameters") or {})
    for member, known in (("reclaimPolicy", RECLAIM), ("volumeBindingMode", BINDING)):
        if obj.get(member) and obj[member] not in known:
            errors.append(not_supported(ROOT.child(member), obj[member], known))
    return errors + _topologies(ROOT.child("allowedTopologies"), obj.get("allowedTopologies") or [])


def _parameters(path: Path, parameters: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    if len(parameters) > MAX_PARAMETERS:
        errors.append(too_long(path, MAX_PARAMETERS))
    if "" in parameters:
        errors.append(invalid(path, "", "field can not be empty."))
    if sum(len(key) + len(value) for key, value in parameters.items()) > MAX_PARAMETER_BYTES:
        errors.append(too_long(path, MAX_PARAMETER_BYTES))
    return errors


def _topologies(path: Path, terms: list[Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: list[Object] = []
    for index, term in enumerate(terms):
        at = path.index(index).child("matchLabelExpressions")
        keys: set[str] = set()
        for number, item in enumerate(term.get("matchLabelExpressions") or ()):
            errors += _topology(at.index(number), item, keys)
        if term in seen:
            errors.append(duplicate(at, ""))
        seen.append(term)
    return errors


def _topology(path: Path, item: Object, keys: set[str]) -> list[FieldError]:
    key, values = item.get("key") or "", item.get("values") or []
    errors: list[FieldError] = []
    if not values:
        errors.append(required(path.child("values")))
    seen: set[str] = set()
    for index, value in enumerate(values):
        if value in seen:
            errors.append(duplicate(path.child("values").index(index), value))
        seen.add(value)
    errors += [invalid(path.child("key"), key, text) for text in names.qualified_name(key)]
    if key in keys:
        errors.append(duplicate(path.child("key"), key))
    keys.add(key)
    return errors


def validate_storage_class_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a storage class."""
    errors = validate_storage_class(obj)
    for member in ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"):
        errors += unchanged(ROOT.child(member), obj.get(member), old.get(member))
    return errors


def validate_csi_driver(obj: Object) -> list[FieldError]:
    """Check a CSI driver."""
    spec = obj["spec"]
    errors = csi_driver_name(ROOT.child("name"), name_of(obj))
    for member in ("attachRequired", "podInfoOnMount", "storageCapacity"):
        if spec.get(member) is None:
            errors.append(required(_SPEC.child(member)))
    policy = spec.get("fsGroupPolicy")
    if policy is not None and policy not in FS_GROUP:
        errors.append(not_supported(_SPEC.child("fsGroupPolicy"), policy, FS_GROUP))
    for mode in spec.get("volumeLifecycleModes") or ():
        if mode not in LIFECYCLE:
            errors.append(not_supported(_SPEC.child("volumeLifecycleModes"), mode, LIFECYCLE))
    errors += _token_requests(_SPEC.child("tokenRequests"), spec.get("tokenRequests") or [])
    period = spec.get("nodeAllocatableUpdatePeriodSeconds")
    if period is not None and period < 10:
        at = _SPEC.child("nodeAllocatableUpdatePeriodSeconds")
        errors.append(invalid(at, period, "must be greater than or equal to 10 seconds"))
    return errors


def _token_requests(path: Path, requests: list[Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, item in enumerate(requests):
        at, audience, seconds = path.index(index), item.get("audience") or "", item.get("expirationSeconds")
        if audience in seen:
            errors.append(duplicate(at.child("audience"), audience))
        seen.add(audience)
        if seconds is not None and seconds < 600:
            text = "may not specify a duration less than 10 minutes"
            errors.append(invalid(at.child("expirationSeconds"), seconds, text))
        if seconds is not None and seconds > 2**32:
            text = "may not specify a duration larger than 2^32 seconds"
            errors.append(invalid(at.child("expirationSeconds"), seconds, text))
    return errors


def validate_csi_driver_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a CSI driver; Kubernetes reports one member under another name."""
    spec, before = obj["spec"], old["spec"]
    errors = validate_csi_driver(obj)
    errors += unchanged_exactly(
        _SPEC.child("attachedRequired"), spec.get("attachRequired"), before.get("attachRequired")
    )
    member = "volumeLifecycleModes"
    return errors + unchanged_exactly(_SPEC.child(member), spec.get(member), before.get(member))


def validate_csi_node(obj: Object) -> list[FieldError]:
    """Check the drivers of a node."""
    path = _SPEC.child("drivers")
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, driver in enumerate((obj.get("spec") or {}).get("drivers") or ()):
        at, name, node = path.index(index), driver.get("name") or "", driver.get("nodeID") or ""
        errors += csi_driver_name(at.child("name"), name)
        if not node:
            errors.append(required(at.child("nodeID")))
        elif len(node) > 256:
            errors.append(invalid(at.child("nodeID"), node, "must be 256 characters or less"))
        count = (driver.get("allocatable") or {}).get("count")
        if count is not None and count < 0:
            errors.append(invalid(at.child("allocatable", "count"), count, "must be greater than or equal to 0"))
        if name in seen:
            errors.append(duplicate(at.child("name"), name))
        seen.add(name)
        errors += _topology_keys(at, driver.get("topologyKeys") or [])
    return errors


def _topology_keys(path: Path, keys: list[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, key in enumerate(keys):
        if not key:
            errors.append(required(path, key))
        elif key in keys[:index]:
            errors.append(duplicate(path, key))
        errors += [invalid(path, key, text) for text in names.qualified_name(key)]
    return errors


def validate_capacity(obj: Object) -> list[FieldError]:
    """Check a report of free capacity."""
    errors = label_selector(ROOT.child("nodeTopology"), obj.get("nodeTopology"))
    name = obj.get("storageClassName") or ""
    errors += by_rule(ROOT.child("storageClassName"), name, names.dns1123_subdomain)
    for member in ("capacity", "maximumVolumeSize"):
        if obj.get(member) is not None and parse(obj[member]).sign < 0:
            text = "must be greater than or equal to 0"
            errors.append(invalid(ROOT.child(member), str(parse(obj[member])), text))
    return errors


def validate_capacity_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a report of free capacity."""
    errors = validate_capacity(obj)
    for member in ("nodeTopology", "storageClassName"):
        errors += unchanged(ROOT.child(member), obj.get(member), old.get(member))
    return errors


def validate_attachment(obj: Object) -> list[FieldError]:
    """Check an attachment."""
    spec = obj["spec"]
    errors = csi_driver_name(_SPEC.child("attacher"), spec.get("attacher"))
    source, at = spec.get("source") or {}, _SPEC.child("source")
    inline, name = source.get("inlineVolumeSpec"), source.get("persistentVolumeName")
    if inline is None and name is None:
        text = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
        errors.append(required(at, text))
    elif inline is not None and name is not None:
        text = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
        errors.append(forbidden(at, text))
    elif name is not None and not name:
        errors.append(required(at.child("persistentVolumeName"), "must specify non empty persistentVolumeName"))
    node = spec.get("nodeName") or ""
    errors += by_rule(_SPEC.child("nodeName"), node, names.dns1123_subdomain)
    return errors


def validate_attachment_update(obj: Object, old: Object) -> list[FieldError]:
    """Check that an attachment's specification stayed."""
    errors = validate_attachment(obj)
    if obj["spec"] != old["spec"]:
        shown = go_shape("hyperkube_api.storage.v1:VolumeAttachmentSpec", obj["spec"])
        errors.append(invalid(_SPEC, shown, IMMUTABLE))
    return errors


def validate_attributes_class(obj: Object) -> list[FieldError]:
    """Check a volume attributes class."""
    driver = (obj.get("driverName") or "").lower()
    at = ROOT.child("driverName")
    errors = [invalid(at, driver, text) for text in names.qualified_name(driver)] if driver else [required(at)]
    parameters = obj.get("parameters") or {}
    if not parameters:
        return [*errors, required(ROOT.child("parameters"), "must contain at least one key/value pair")]
    return errors + _parameters(ROOT.child("parameters"), parameters)


def validate_attributes_class_update(obj: Object, old: Object) -> list[FieldError]:
    """Check that a volume attributes class stayed as it was."""
    return [
        forbidden(ROOT.child(member), f"updates to {member} are forbidden.")
        for member in ("driverName", "parameters")
        if (obj.get(member) or None) != (old.get(member) or None)
    ]
