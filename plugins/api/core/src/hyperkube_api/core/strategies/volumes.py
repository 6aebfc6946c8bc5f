"""Persistent volumes and the claims to them.

Source: kubernetes pkg/registry/core/{persistentvolume,persistentvolumeclaim}.
"""

from __future__ import annotations

from hyperkube_api.core.defaults.objects import default_persistent_volume, default_persistent_volume_claim
from hyperkube_api.core.validation.claims import (
    validate_claim,
    validate_claim_status_update,
    validate_claim_update,
)
from hyperkube_api.core.validation.persistent_volumes import (
    validate_persistent_volume,
    validate_persistent_volume_update,
)
from hyperkube_api.core.warnings import claim_object_warnings, persistent_volume_warnings
from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import format_time


class PersistentVolumeStrategy(StatusStrategy):
    """A piece of storage that outlives pods."""

    returns_deleted_object = True

    def default(self, obj: Object) -> None:
        """Fill in the policy, the mode and the phase."""
        default_persistent_volume(obj)

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Start pending: nobody has looked at the volume yet."""
        obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": format_time(call.clock.now())}

    def prepare_status_update(self, call: Call, obj: Object, old: Object) -> None:
        """Note when the phase changed."""
        status, before = obj.setdefault("status", {}), old.get("status") or {}
        if status.get("phase") != before.get("phase") and not _time_changed(status, before):
            status["lastPhaseTransitionTime"] = format_time(call.clock.now())

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check capacity, modes and the source."""
        return validate_persistent_volume(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that the source stayed."""
        return validate_persistent_volume_update(obj, old)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Say what is allowed but out of use."""
        return persistent_volume_warnings(obj)


class PersistentVolumeClaimStrategy(StatusStrategy):
    """A wish for storage.

    Kubernetes stores a new claim without its phase and fills that in whenever it reads it; the first update writes it
    down, so that even an unchanged one gets a new resourceVersion.
    """

    rewritten_once = True
    returns_deleted_object = True

    def default(self, obj: Object) -> None:
        """Fill in the mode and the phase."""
        default_persistent_volume_claim(obj)

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Start pending; what the volume is copied from is said in both of its fields."""
        obj["status"] = {"phase": "Pending"}
        _mirror_source(obj["spec"])

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Fill in the source's other field where the old claim has it."""
        spec, old_spec = obj["spec"], old.get("spec") or {}
        if (
            spec.get("dataSource") is None
            and old_spec.get("dataSource") is None
            and old_spec.get("dataSourceRef") is not None
        ):
            return
        if old_spec.get("dataSource") and old_spec.get("dataSourceRef"):
            _mirror_source(spec)

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check size, modes and source."""
        return validate_claim(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that only what may change did."""
        return validate_claim_update(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the reported capacity."""
        return validate_claim_status_update(obj)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Say what is allowed but odd."""
        return claim_object_warnings(obj)


def _time_changed(status: Object, before: Object) -> bool:
    now = status.get("lastPhaseTransitionTime")
    return now is not None and now != before.get("lastPhaseTransitionTime")


def _mirror_source(spec: Object) -> None:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None and reference is None:
        spec["dataSourceRef"] = dict(source)
    elif reference is not None and source is None and not reference.get("namespace"):
        spec["dataSource"] = {key: value for key, value in reference.items() if key != "namespace"}
