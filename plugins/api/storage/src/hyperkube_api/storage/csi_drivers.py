"""CSIDrivers: what a CSI driver can do and needs.

Source: kubernetes pkg/apis/storage, pkg/registry/storage/csidriver, pkg/printers.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.validation import optional_one_of, unchanged_exactly
from hyperkube_api.storage.versions import V1

from hyperkube.hookspecs.api import Call, ResourceSpec, Strategy
from hyperkube.machinery.field import ROOT, FieldError, Path, duplicate, invalid, not_supported, required
from hyperkube.machinery.objects import Object

_SPEC = ROOT.child("spec")
FS_GROUP_POLICIES = ("File", "None", "ReadWriteOnceWithFSType")
LIFECYCLE_MODES = ("Persistent", "Ephemeral")


def default_csi_driver(driver: Object) -> None:
    """Fill in a CSI driver."""
    spec = driver["spec"]
    values = (
        ("attachRequired", True),
        ("podInfoOnMount", False),
        ("storageCapacity", False),
        ("fsGroupPolicy", "ReadWriteOnceWithFSType"),
        ("requiresRepublish", False),
        ("seLinuxMount", False),
    )
    for member, value in values:
        if spec.get(member) is None:
            spec[member] = value
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]


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
    errors += optional_one_of(_SPEC.child("fsGroupPolicy"), spec.get("fsGroupPolicy"), FS_GROUP_POLICIES)
    errors += _token_requests(_SPEC.child("tokenRequests"), spec.get("tokenRequests") or [])
    in_secrets = spec.get("serviceAccountTokenInSecrets")
    if in_secrets is not None and not spec.get("tokenRequests"):
        text = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        errors.append(invalid(_SPEC.child("serviceAccountTokenInSecrets"), in_secrets, text))
    for mode in spec.get("volumeLifecycleModes") or ():
        if mode not in LIFECYCLE_MODES:
            errors.append(not_supported(_SPEC.child("volumeLifecycleModes"), mode, LIFECYCLE_MODES))
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


def csi_driver_cells(obj: Object, now: datetime) -> list[Any]:
    """Return what a driver needs."""
    spec = cells.spec_of(obj)
    requests = [item.get("audience") or "" for item in spec.get("tokenRequests") or ()]
    attach = spec.get("attachRequired")
    return [
        cells.name(obj),
        True if attach is None else attach,
        bool(spec.get("podInfoOnMount")),
        bool(spec.get("storageCapacity")),
        ",".join(requests) if requests else cells.UNSET,
        bool(spec.get("requiresRepublish")),
        cells.joined(spec.get("volumeLifecycleModes")),
        cells.age(obj, now),
    ]


class CSIDriverStrategy(Strategy):
    """What a CSI driver can do and needs; its generation begins with the first change."""

    metadata_checks = ("change",)
    allow_unconditional_update = False
    returns_deleted_object = True

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Count changes of the specification."""
        generation = old["metadata"].get("generation") or 0
        if obj["spec"] != old["spec"]:
            generation += 1
        if generation:
            obj["metadata"]["generation"] = generation

    def default(self, obj: Object) -> None:
        """Fill in what the driver needs."""
        default_csi_driver(obj)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check name and settings."""
        return validate_csi_driver(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and what may not change."""
        return validate_csi_driver_update(obj, old)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Warn when tokens may end up in logs."""
        spec = obj["spec"]
        if old is None and spec.get("tokenRequests") and spec.get("serviceAccountTokenInSecrets") is None:
            text = (
                "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent "
                "possible logging of tokens in volume attributes"
            )
            return [text]
        return []


def csi_drivers() -> ResourceSpec:
    """Return the specification of the resource ``csidrivers``."""
    return V1.resource(
        "csidrivers",
        "CSIDriver",
        namespaced=False,
        storage_prefix="csidrivers",
        storage_version_hash="hL6j/rwBV5w=",
        strategy=CSIDriverStrategy(),
        columns=(
            NAME,
            column("AttachRequired", type="boolean", field="spec.attachRequired"),
            column("PodInfoOnMount", type="boolean", field="spec.podInfoOnMount"),
            column("StorageCapacity", type="boolean", field="spec.storageCapacity"),
            column("TokenRequests", field="spec.tokenRequests"),
            column("RequiresRepublish", type="boolean", field="spec.requiresRepublish"),
            column("Modes", field="spec.volumeLifecycleModes"),
            AGE,
        ),
        cells=csi_driver_cells,
    )
