"""How a claim to a persistent volume is created and updated.

Source: kubernetes pkg/registry/core/persistentvolumeclaim/strategy.go.
"""

from __future__ import annotations

from hyperkube_api.meta.strategies import StatusStrategy

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.objects import Object


class PersistentVolumeClaimStrategy(StatusStrategy):
    """A request for storage.

    Kubernetes stores a new claim without its phase and fills that in whenever it reads it; the first update writes it
    down, so that even an unchanged one gets a new resourceVersion.
    """

    rewritten_once = True
    returns_deleted_object = True

    def default(self, obj: Object) -> None:
        """Fill in the mode and the phase."""
        from hyperkube_api.core.persistent_volume_claims.defaults import default_persistent_volume_claim

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
        from hyperkube_api.core.persistent_volume_claims.validation import validate_claim

        return validate_claim(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that only what may change did."""
        from hyperkube_api.core.persistent_volume_claims.validation import validate_claim_update

        return validate_claim_update(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the reported capacity."""
        from hyperkube_api.core.persistent_volume_claims.validation import validate_claim_status_update

        return validate_claim_status_update(obj)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Warn of the deprecated annotation and of fractional bytes."""
        from hyperkube_api.core.persistent_volume_claims.warnings import claim_object_warnings

        return claim_object_warnings(obj)


def _mirror_source(spec: Object) -> None:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None and reference is None:
        spec["dataSourceRef"] = dict(source)
    elif reference is not None and source is None and not reference.get("namespace"):
        spec["dataSource"] = {key: value for key, value in reference.items() if key != "namespace"}
