"""Workloads: what the pod groups of an application are made from.

Source: kubernetes pkg/registry/scheduling/workload, pkg/apis/scheduling/v1alpha2/zz_generated.validations.go and
pkg/printers.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells
from hyperkube_api.meta.columns import AGE, NAME
from hyperkube_api.meta.validation import by_rule, unchanged
from hyperkube_api.scheduling.pod_groups import check_scheduling_policy, required_name
from hyperkube_api.scheduling.versions import V1ALPHA2

from hyperkube.hookspecs.api import Call, ResourceSpec, Strategy
from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, duplicate, required, too_many
from hyperkube.machinery.objects import Object

SPEC = ROOT.child("spec")
MAX_TEMPLATES = 8
_EMPTY_TEMPLATE: Object = {"name": "", "schedulingPolicy": {}, "schedulingConstraints": None}


class WorkloadStrategy(Strategy):
    """What the pod groups of a workload are made from."""

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check controller and templates."""
        spec, path = obj.get("spec") or {}, SPEC.child("podGroupTemplates")
        owner, templates = spec.get("controllerRef"), spec.get("podGroupTemplates") or []
        errors = [] if owner is None else _controller_reference(SPEC.child("controllerRef"), owner)
        if not templates:
            return [*errors, required(path)]
        if len(templates) > MAX_TEMPLATES:
            return [*errors, too_many(path, len(templates), MAX_TEMPLATES)]
        seen: set[str] = set()
        for index, template in enumerate(templates):
            name = template.get("name") or ""
            if name in seen:
                errors.append(duplicate(path.index(index), {**_EMPTY_TEMPLATE, **template}))
            seen.add(name)
        for index, template in enumerate(templates):
            at = path.index(index)
            errors += required_name(at.child("name"), template.get("name"), names.dns1123_label)
            errors += check_scheduling_policy(at.child("schedulingPolicy"), template.get("schedulingPolicy"))
        return errors

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that controller and templates stayed."""
        now, before = obj.get("spec") or {}, old.get("spec") or {}
        return [
            error
            for member in ("controllerRef", "podGroupTemplates")
            for error in unchanged(SPEC.child(member), now.get(member), before.get(member))
        ]


def _controller_reference(path: Path, owner: Object) -> list[FieldError]:
    """Check which object a workload is of."""
    group = owner.get("apiGroup") or ""
    errors = by_rule(path.child("apiGroup"), group, names.dns1123_subdomain) if group else []
    for member in ("kind", "name"):
        errors += required_name(path.child(member), owner.get(member), names.path_segment_name)
    return errors


def workload_cells(obj: Object, now: datetime) -> list[Any]:
    """Return name and age."""
    return [cells.name(obj), cells.age(obj, now)]


def workloads() -> ResourceSpec:
    """Return the specification of the resource ``workloads``."""
    return V1ALPHA2.resource(
        "workloads",
        "Workload",
        served=False,
        storage_prefix="workloads",
        storage_version_hash="vSX7gJe5Mx8=",
        strategy=WorkloadStrategy(),
        columns=(NAME, AGE),
        cells=workload_cells,
    )
