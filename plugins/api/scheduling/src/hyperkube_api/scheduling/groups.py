"""Pod groups and workloads: what the server decides when one is created or changed.

Source: kubernetes pkg/registry/scheduling/podgroup, pkg/registry/scheduling/workload and
pkg/apis/scheduling/v1alpha2/zz_generated.validations.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube_api.meta.strategies import StatusStrategy
from hyperkube_api.meta.validation import Rule, by_rule, condition_list, unchanged

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, FieldError, Path, duplicate, invalid, required, too_many
from hyperkube.machinery.objects import Object

MAX_TEMPLATES = 8
SPEC = ROOT.child("spec")
_BARE: Object = {"name": "", "schedulingPolicy": {}, "schedulingConstraints": None}


class PodGroupStrategy(StatusStrategy):
    """Pods that are scheduled together; how never changes."""

    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("metadata", "spec")}

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check origin and policy."""
        spec = obj.get("spec") or {}
        origin = spec.get("podGroupTemplateRef")
        errors = [] if origin is None else _origin(SPEC.child("podGroupTemplateRef"), origin)
        return errors + _policy(SPEC.child("schedulingPolicy"), spec.get("schedulingPolicy"))

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


class WorkloadStrategy(Strategy):
    """What the pod groups of a workload are made from."""

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check controller and templates."""
        spec, path = obj.get("spec") or {}, SPEC.child("podGroupTemplates")
        owner, templates = spec.get("controllerRef"), spec.get("podGroupTemplates") or []
        errors = [] if owner is None else _owner(SPEC.child("controllerRef"), owner)
        if not templates:
            return [*errors, required(path)]
        if len(templates) > MAX_TEMPLATES:
            return [*errors, too_many(path, len(templates), MAX_TEMPLATES)]
        seen: set[str] = set()
        for index, template in enumerate(templates):
            name = template.get("name") or ""
            if name in seen:
                errors.append(duplicate(path.index(index), {**_BARE, **template}))
            seen.add(name)
        for index, template in enumerate(templates):
            at = path.index(index)
            errors += _required(at.child("name"), template.get("name"), names.dns1123_label)
            errors += _policy(at.child("schedulingPolicy"), template.get("schedulingPolicy"))
        return errors

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that controller and templates stayed."""
        now, before = obj.get("spec") or {}, old.get("spec") or {}
        return [
            error
            for member in ("controllerRef", "podGroupTemplates")
            for error in unchanged(SPEC.child(member), now.get(member), before.get(member))
        ]


def _required(path: Path, value: str | None, rule: Rule) -> list[FieldError]:
    """Check a name that must be there."""
    return by_rule(path, value, rule) if value else [required(path)]


def _origin(path: Path, origin: Object) -> list[FieldError]:
    """Check from which template of which workload a group was made."""
    workload = origin.get("workload")
    if workload is None:
        return [invalid(path, "", "must specify one of: `workload`")]
    at = path.child("workload")
    errors = _required(at.child("workloadName"), workload.get("workloadName"), names.dns1123_subdomain)
    return errors + _required(
        at.child("podGroupTemplateName"), workload.get("podGroupTemplateName"), names.dns1123_label
    )


def _owner(path: Path, owner: Object) -> list[FieldError]:
    """Check which object a workload is of."""
    group = owner.get("apiGroup") or ""
    errors = by_rule(path.child("apiGroup"), group, names.dns1123_subdomain) if group else []
    for member in ("kind", "name"):
        errors += _required(path.child(member), owner.get(member), names.path_segment_name)
    return errors


def _policy(path: Path, policy: Object | None) -> list[FieldError]:
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
