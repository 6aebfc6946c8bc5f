"""How a persistent volume is created and updated.

The rules of validation and the warnings are imported where they are used: a server starts without them.

Source: kubernetes pkg/registry/core/persistentvolume/strategy.go.
"""

from __future__ import annotations

from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import format_time


class PersistentVolumeStrategy(StatusStrategy):
    """A piece of storage that outlives pods."""

    metadata_checks = ("object", "object")
    returns_deleted_object = True

    def default(self, obj: Object) -> None:
        """Fill in the policy, the mode and the phase."""
        from hyperkube_api.core.persistent_volumes.defaults import default_persistent_volume

        default_persistent_volume(obj)

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Start pending: the volume controller has not seen the volume yet."""
        obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": format_time(call.clock.now())}

    def prepare_status_update(self, call: Call, obj: Object, old: Object) -> None:
        """Note when the phase changed."""
        status, before = obj.setdefault("status", {}), old.get("status") or {}
        if status.get("phase") != before.get("phase") and not _time_changed(status, before):
            status["lastPhaseTransitionTime"] = format_time(call.clock.now())

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check capacity, modes and the source."""
        from hyperkube_api.core.persistent_volumes.validation import validate_persistent_volume

        return validate_persistent_volume(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation, and that the source stayed."""
        from hyperkube_api.core.persistent_volumes.validation import validate_persistent_volume_update

        return validate_persistent_volume_update(obj, old)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Warn of deprecated fields."""
        from hyperkube_api.core.persistent_volumes.warnings import persistent_volume_warnings

        return persistent_volume_warnings(obj)


def _time_changed(status: Object, before: Object) -> bool:
    now = status.get("lastPhaseTransitionTime")
    return now is not None and now != before.get("lastPhaseTransitionTime")
