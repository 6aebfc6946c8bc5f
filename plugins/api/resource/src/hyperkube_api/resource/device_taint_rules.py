"""DeviceTaintRules: taints that are put on devices by a selector.

Source: kubernetes pkg/apis/resource/validation/validation.go, pkg/apis/resource/{v1beta2,v1alpha3}/defaults.go,
pkg/registry/resource/devicetaintrule, pkg/printers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import AGE, NAME
from hyperkube_api.meta.specs import Version
from hyperkube_api.meta.strategies import StatusStrategy
from hyperkube_api.meta.validation import condition_list

from hyperkube.hookspecs.api import Call, ResourceSpec
from hyperkube.machinery.field import ROOT, FieldError, too_many
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import format_time

V1BETA2, V1ALPHA3 = (
    Version("resource.k8s.io", version, f"hyperkube_api.resource.{version}") for version in ("v1beta2", "v1alpha3")
)
MOST_CONDITIONS = 8
_SPEC, _CONDITIONS = ROOT.child("spec"), ROOT.child("status", "conditions")


def _taint(rule: Object) -> Object:
    found: Object = (rule.get("spec") or {}).get("taint") or {}
    return found


def validate_rule(rule: Object, old: Object | None = None) -> list[FieldError]:
    """Check selector and taint; an effect that was there before may stay."""
    from hyperkube_api.resource.named_devices import driver, label, pool
    from hyperkube_api.resource.resource_slices.validation import check_taint

    at, selector = _SPEC.child("deviceSelector"), (rule.get("spec") or {}).get("deviceSelector") or {}
    checks = {"driver": driver, "pool": pool, "device": label}
    errors = [
        error
        for member, check in checks.items()
        if selector.get(member) is not None
        for error in check(at.child(member), selector[member])
    ]
    kept = old is not None and _taint(old).get("effect") == _taint(rule).get("effect")
    return errors + check_taint(_SPEC.child("taint"), _taint(rule), kept=kept)


class DeviceTaintRuleStrategy(StatusStrategy):
    """A taint by a selector."""

    returns_deleted_object = True
    generation = True
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("metadata", "spec")}

    def prepare_create(self, call: Call, obj: Object) -> None:
        """Fill in since when devices are tainted."""
        _fill_in_time(obj, call.clock.now())

    def prepare_update(self, call: Call, obj: Object, old: Object) -> None:
        """Count tolerations from when the effect has changed, unless the client says from when."""
        _fill_in_time(obj, call.clock.now())
        now, before = _taint(obj), _taint(old)
        if now and now.get("effect") != before.get("effect") and now["timeAdded"] == before.get("timeAdded"):
            now["timeAdded"] = format_time(call.clock.now())

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check selector and taint."""
        return validate_rule(obj)

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check as on creation."""
        return validate_rule(obj, old)

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the conditions, and that there are not too many."""
        conditions = (obj.get("status") or {}).get("conditions") or []
        errors = condition_list(_CONDITIONS, conditions)
        if len(conditions) > MOST_CONDITIONS:
            errors.append(too_many(_CONDITIONS, len(conditions), MOST_CONDITIONS))
        return errors


def _fill_in_time(rule: Object, now: datetime) -> None:
    taint = _taint(rule)
    if taint and not taint.get("timeAdded"):
        taint["timeAdded"] = format_time(now)


def device_taint_rule_cells(obj: Object, now: datetime) -> list[Any]:
    """Return name and age."""
    return [cells.name(obj), cells.age(obj, now)]


def device_taint_rules(version: Version) -> ResourceSpec:
    """Return the specification of the resource ``devicetaintrules`` in a version; they are stored in v1alpha3.

    Source: kubernetes ``pkg/kubeapiserver/default_storage_factory_builder.go``.
    """
    return version.resource(
        "devicetaintrules",
        "DeviceTaintRule",
        namespaced=False,
        served=False,
        storage_prefix="devicetaintrules",
        storage_version_hash="DJ3UJ0fj8MI=",
        strategy=DeviceTaintRuleStrategy(),
        columns=(NAME, AGE),
        cells=device_taint_rule_cells,
        subresources=(version.status("DeviceTaintRule"),),
        **version.stored_as(V1ALPHA3, "DeviceTaintRule"),
    )
