"""PodGroups: pods that are scheduled together.

Source: kubernetes pkg/registry/scheduling/podgroup, pkg/apis/scheduling/v1alpha2/zz_generated.validations.go and
pkg/printers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import AGE, NAME, column
from hyperkube_api.meta.strategies import StatusStrategy
from hyperkube_api.meta.validation import Rule, by_rule, condition_list, unchanged
from hyperkube_api.scheduling.versions import V1ALPHA2

from hyperkube.hookspecs.api import Call, ResourceSpec
from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, invalid, required
from hyperkube.machinery.objects import Object

SPEC = ROOT.child("spec")


def required_name(path: Path, value: str | None, rule: Rule) -> list[FieldError]:
    """Check a name that must be there."""
    return by_rule(path, value, rule) if value else [required(path)]


def check_scheduling_policy(path: Path, policy: Object | None) -> list[FieldError]:
    """Check that there is one policy, and that a gang has a size."""
    members = [name for name in ("basic", "gang") if (policy or {}).get(name) is not None]
    if not members:
        return [invalid(path, "", "must specify one of: `basic`, `gang`")]
    if len(members) > 1:
        given = "{" + ", ".join(f"`{name}`" for name in members) + "}"
        return [invalid(path, given, "must specify exactly one of: `basic`, `gang`")]
    if members == ["gang"]:
        count = (policy or {})["gang"].get("minCount")
        if not count:
            return [required(path.child("gang", "minCount"))]
        if count < 1:
            return [invalid(path.child("gang", "minCount"), count, "must be greater than or equal to 1")]
    return []


class PodGroupStrategy(StatusStrategy):
    """Pods that are scheduled together; their policy never changes."""

    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("metadata", "spec")}

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check origin and policy."""
        spec = obj.get("spec") or {}
        origin = spec.get("podGroupTemplateRef")
        errors = [] if origin is None else _template_reference(SPEC.child("podGroupTemplateRef"), origin)
        return errors + check_scheduling_policy(SPEC.child("schedulingPolicy"), spec.get("schedulingPolicy"))

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that policy and origin stayed."""
        spec, before = obj.get("spec") or {}, old.get("spec") or {}
        return [
            error
            for member in ("podGroupTemplateRef", "schedulingPolicy")
            for error in unchanged(SPEC.child(member), spec.get(member), before.get(member))
        ]

    def validate_status_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check the conditions' shape, and that there are no more claims than the group has."""
        status, path = obj.get("status") or {}, ROOT.child("status")
        errors = condition_list(path.child("conditions"), status.get("conditions"))
        known = {claim.get("name") for claim in (obj.get("spec") or {}).get("resourceClaims") or ()}
        for index, claim in enumerate(status.get("resourceClaimStatuses") or ()):
            name = claim.get("name") or ""
            if name not in known:
                at = path.child("resourceClaimStatuses").index(index).child("name")
                errors.append(invalid(at, name, "must match the name of an entry in `spec.resourceClaims`"))
        return errors


def _template_reference(path: Path, origin: Object) -> list[FieldError]:
    """Check from which template of which workload a group was made."""
    workload = origin.get("workload")
    if workload is None:
        return [invalid(path, "", "must specify one of: `workload`")]
    at = path.child("workload")
    errors = required_name(at.child("workloadName"), workload.get("workloadName"), names.dns1123_subdomain)
    return errors + required_name(
        at.child("podGroupTemplateName"), workload.get("podGroupTemplateName"), names.dns1123_label
    )


def pod_group_cells(obj: Object, now: datetime) -> list[Any]:
    """Return how its pods are scheduled, the workload that it is part of, and whether they were placed."""
    spec = obj.get("spec") or {}
    policy = "Gang" if (spec.get("schedulingPolicy") or {}).get("gang") is not None else "Basic"
    workload = ((spec.get("podGroupTemplateRef") or {}).get("workload") or {}).get("workloadName") or ""
    rows = (obj.get("status") or {}).get("conditions") or ()
    placed = next((row for row in rows if row["type"] == "PodGroupScheduled"), None)
    status = "Pending" if placed is None else "Scheduled" if placed["status"] == "True" else placed.get("reason", "")
    return [cells.name(obj), policy, workload, status, cells.age(obj, now)]


def pod_groups() -> ResourceSpec:
    """Return the specification of the resource ``podgroups``."""
    return V1ALPHA2.resource(
        "podgroups",
        "PodGroup",
        served=False,
        storage_prefix="podgroups",
        storage_version_hash="YYgX3v5V204=",
        strategy=PodGroupStrategy(),
        columns=(NAME, column("Policy"), column("Workload"), column("Status"), AGE),
        cells=pod_group_cells,
        subresources=(V1ALPHA2.status("PodGroup"),),
    )
