"""What is wrong with storage classes, drivers and attachments.

Source: kubernetes pkg/apis/storage/validation/validation.go.
"""

from __future__ import annotations

from hyperkube_api.core.volumes.validation.volumes import csi_driver_name
from hyperkube_api.meta.go_shape import go_shape
from hyperkube_api.meta.validation import (
    IMMUTABLE,
    NOT_NEGATIVE,
    by_rule,
    label_selector,
    optional_one_of,
    unchanged,
    unchanged_exactly,
)

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
from hyperkube.machinery.objects import Object
from hyperkube.machinery.quantity import parse

_SPEC = ROOT.child("spec")
_STATUS = ROOT.child("status")
RECLAIM = ("Delete", "Retain")
BINDING = ("Immediate", "WaitForFirstConsumer")
FS_GROUP = ("File", "None", "ReadWriteOnceWithFSType")
LIFECYCLE = ("Persistent", "Ephemeral")
MAX_PARAMETERS, MAX_PARAMETER_BYTES = 512, 256 * 1024
MAX_METADATA_BYTES, MAX_MESSAGE = 256 * 1024, 1024


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
        return [too_long(path, MAX_PARAMETERS)]
    if "" in parameters:
        errors.append(invalid(path, "", "field can not be empty."))
    if sum(len(key) + len(value) for key, value in parameters.items()) > MAX_PARAMETER_BYTES:
        errors.append(too_long(path, MAX_PARAMETER_BYTES))
    return errors


def _topologies(path: Path, terms: list[Object]) -> list[FieldError]:
    """Check that each term says something new; Kubernetes begins with as many empty terms as there are terms."""
    errors: list[FieldError] = []
    seen: list[dict[str, set[str]]] = [{} for _ in terms]
    for index, term in enumerate(terms):
        at = path.index(index).child("matchLabelExpressions")
        keys: set[str] = set()
        wanted: dict[str, set[str]] = {}
        for number, item in enumerate(term.get("matchLabelExpressions") or ()):
            errors += _topology(at.index(number), item, keys)
            wanted[item.get("key") or ""] = set(item.get("values") or ())
        errors += [duplicate(at, "") for other in seen if other == wanted]
        seen.append(wanted)
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
    """Check a CSI driver; Kubernetes reports one member under another name."""
    spec = obj["spec"]
    errors = [
        required(_SPEC.child(shown))
        for member, shown in (
            ("attachRequired", "attachedRequired"),
            ("podInfoOnMount", "podInfoOnMount"),
            ("storageCapacity", "storageCapacity"),
        )
        if spec.get(member) is None
    ]
    errors += optional_one_of(_SPEC.child("fsGroupPolicy"), spec.get("fsGroupPolicy"), FS_GROUP)
    errors += _token_requests(_SPEC.child("tokenRequests"), spec.get("tokenRequests") or [])
    for mode in spec.get("volumeLifecycleModes") or ():
        if mode not in LIFECYCLE:
            errors.append(not_supported(_SPEC.child("volumeLifecycleModes"), mode, LIFECYCLE))
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
            continue
        seen.add(audience)
        if seconds is not None and seconds < 600:
            text = "may not specify a duration less than 10 minutes"
            errors.append(invalid(at.child("expirationSeconds"), seconds, text))
        if seconds is not None and seconds > 2**32:
            text = "may not specify a duration larger than 2^32 seconds"
            errors.append(invalid(at.child("expirationSeconds"), seconds, text))
    return errors


def validate_csi_driver_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a CSI driver."""
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


def validate_csi_node_update(obj: Object, old: Object) -> list[FieldError]:
    """Check that a driver stayed as it was on its node, apart from how much it can attach."""
    errors = validate_csi_node(obj)
    for before in old["spec"].get("drivers") or ():
        for driver in obj["spec"].get("drivers") or ():
            now, was = ({**item, "allocatable": None} for item in (driver, before))
            if now.get("name") == was.get("name") and now != was:
                shown = go_shape("hyperkube_api.storage.v1:CSINodeDriver", now)
                errors.append(invalid(_SPEC.child("drivers"), shown, IMMUTABLE))
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
    if obj.get("capacity") is not None and parse(obj["capacity"]).sign < 0:
        errors.append(invalid(ROOT.child("capacity"), str(parse(obj["capacity"])), NOT_NEGATIVE))
    return errors


def validate_capacity_update(obj: Object, old: Object) -> list[FieldError]:
    """Check an update of a report of free capacity."""
    errors = validate_capacity(obj)
    for member in ("nodeTopology", "storageClassName"):
        errors += unchanged(ROOT.child(member), obj.get(member), old.get(member))
    return errors


def validate_attachment(obj: Object) -> list[FieldError]:
    """Check a new attachment: as any, and the names more closely."""
    errors, spec = _attachment(obj), obj["spec"]
    errors += csi_driver_name(_SPEC.child("attacher"), spec.get("attacher"))
    name = (spec.get("source") or {}).get("persistentVolumeName")
    if name is not None:
        errors += by_rule(_SPEC.child("source", "persistentVolumeName"), name, names.dns1123_subdomain)
    return errors


def _attachment(obj: Object) -> list[FieldError]:
    spec, status = obj["spec"], obj.get("status") or {}
    errors = [] if spec.get("attacher") else [required(_SPEC.child("attacher"))]
    source, at = spec.get("source") or {}, _SPEC.child("source")
    inline, name = source.get("inlineVolumeSpec"), source.get("persistentVolumeName")
    text = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
    if inline is None and name is None:
        errors.append(required(at, text))
    elif inline is not None and name is not None:
        errors.append(forbidden(at, text))
    elif name is not None and not name:
        errors.append(required(at.child("persistentVolumeName"), "must specify non empty persistentVolumeName"))
    errors += by_rule(_SPEC.child("nodeName"), spec.get("nodeName") or "", names.dns1123_subdomain)
    told = status.get("attachmentMetadata") or {}
    if sum(len(key) + len(value) for key, value in told.items()) > MAX_METADATA_BYTES:
        errors.append(too_long(_STATUS.child("attachmentMetadata"), MAX_METADATA_BYTES))
    for member in ("attachError", "detachError"):
        errors += _volume_error(_STATUS.child(member), status.get(member) or {})
    return errors


def _volume_error(path: Path, error: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    if len(error.get("message") or "") > MAX_MESSAGE:
        errors.append(too_long(path.child("message"), MAX_METADATA_BYTES))  # Kubernetes names this limit
    code = error.get("errorCode")
    if code is not None and code < 0:
        errors.append(invalid(path.child("errorCode"), code, names.range_error(0, 2**31 - 1)))
    return errors


def validate_attachment_update(obj: Object, old: Object) -> list[FieldError]:
    """Check that an attachment's specification stayed; Kubernetes looks at the rest twice."""
    errors = _attachment(obj) * 2
    if obj["spec"] != old["spec"]:
        shown = go_shape("hyperkube_api.storage.v1:VolumeAttachmentSpec", obj["spec"])
        errors.append(invalid(_SPEC, shown, IMMUTABLE))
    return errors


def validate_attributes_class(obj: Object) -> list[FieldError]:
    """Check a volume attributes class."""
    driver = (obj.get("driverName") or "").lower()
    at = ROOT.child("driverName")
    errors = [invalid(at, driver, text) for text in names.qualified_name(driver)] if driver else [required(at)]
    at, parameters = ROOT.child("parameters"), obj.get("parameters") or {}
    if not parameters:
        return [*errors, required(at, "must contain at least one key/value pair")]
    return errors + _parameters(at, parameters)


def validate_attributes_class_update(obj: Object, old: Object) -> list[FieldError]:
    """Check that a volume attributes class stayed as it was; Kubernetes looks at the rest twice."""
    whole = validate_attributes_class(obj)
    kept = [
        forbidden(ROOT.child(member), f"updates to {member} are forbidden.")
        for member in ("driverName", "parameters")
        if (obj.get(member) or None) != (old.get(member) or None)
    ]
    return whole + kept + whole
