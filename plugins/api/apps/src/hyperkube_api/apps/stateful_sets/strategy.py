"""What happens when a StatefulSet is created, changed or deleted.

Source: kubernetes pkg/registry/apps/statefulset.
"""

from __future__ import annotations

from typing import Any

from hyperkube_api.apps.workloads import WorkloadStrategy
from hyperkube_api.core.pod_specs.warnings import template_warnings
from hyperkube_api.meta.specs import OnFirstUse
from hyperkube_api.meta.strategies import changed_generation

from hyperkube.hookspecs.api import Call
from hyperkube.machinery.field import FieldError
from hyperkube.machinery.names import dns1123_label
from hyperkube.machinery.objects import Object

_default_stateful_set: OnFirstUse[None] = OnFirstUse("hyperkube_api.apps.stateful_sets.defaults:default_stateful_set")
_claim_template_warnings: OnFirstUse[list[str]] = OnFirstUse(
    "hyperkube_api.core.persistent_volume_claims.warnings:claim_template_warnings"
)
_validate_stateful_set: OnFirstUse[list[FieldError]] = OnFirstUse(
    "hyperkube_api.apps.stateful_sets.validation:validate_stateful_set"
)
_validate_stateful_set_update: OnFirstUse[list[FieldError]] = OnFirstUse(
    "hyperkube_api.apps.stateful_sets.validation:validate_stateful_set_update"
)
_validate_stateful_set_status: OnFirstUse[list[FieldError]] = OnFirstUse(
    "hyperkube_api.apps.stateful_sets.validation:validate_stateful_set_status"
)

_NEGATIVE_HISTORY_LIMIT = (
    "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
)


class StatefulSetStrategy(WorkloadStrategy):
    """Pods with names and volumes of their own."""

    def default(self, obj: Object) -> None:
        """Fill in policies, template and claims."""
        _default_stateful_set.call(obj)

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Drop what is behind a gate that is off."""
        super().prepare_create(call, obj)
        _drop_max_unavailable(call, obj)

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Drop what is behind a gate that is off and not in use."""
        super().prepare_update(call, obj, old)
        if _max_unavailable(old) is None:
            _drop_max_unavailable(call, obj)

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        """Check a DNS label: pods and host names are made from it."""
        return dns1123_label(name.rstrip("-") + "a" if prefix and name.endswith("-") else name)

    def warnings(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Warn of what is unwise in the template, the claims and the number of revisions to keep."""
        spec = obj["spec"]
        found = template_warnings(spec.get("template"), "spec.template", None) if changed_generation(obj, old) else []
        found += _claim_template_warnings.call(spec.get("volumeClaimTemplates") or [], is_new=old is None)
        if (spec.get("revisionHistoryLimit") or 0) < 0:
            found.append(_NEGATIVE_HISTORY_LIMIT)
        return found

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check policies, selector, template and claims."""
        return _validate_stateful_set.call(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that only what may change did."""
        return _validate_stateful_set_update.call(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the counts."""
        return _validate_stateful_set_status.call(obj, old)


def _max_unavailable(obj: Object) -> Any:
    rolling = ((obj.get("spec") or {}).get("updateStrategy") or {}).get("rollingUpdate") or {}
    return rolling.get("maxUnavailable")


def _drop_max_unavailable(call: Call, obj: Object) -> None:
    if _max_unavailable(obj) is not None and not call.gates.get("MaxUnavailableStatefulSet"):
        del obj["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"]
