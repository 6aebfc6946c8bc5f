"""Pod groups and workloads: what the server decides when one is created or changed.

Source: kubernetes pkg/registry/scheduling/podgroup, pkg/registry/scheduling/workload and the validation tags of
staging/src/k8s.io/api/scheduling/v1alpha2/types.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube_api.meta.strategies import StatusStrategy
from hyperkube_api.meta.validation import condition_list, unchanged

from hyperkube.hookspecs.api import Call, Strategy
from hyperkube.machinery.field import ROOT, FieldError, Path, duplicate, invalid, required, too_many
from hyperkube.machinery.objects import Object

MAX_TEMPLATES = 8
SPEC = ROOT.child("spec")


class PodGroupStrategy(StatusStrategy):
    """Pods that are scheduled together; how never changes."""

    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("metadata", "spec")}

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the policy."""
        return _policy(SPEC.child("schedulingPolicy"), (obj.get("spec") or {}).get("schedulingPolicy"))

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that policy and origin stayed, and the conditions' shape."""
        spec, before = obj.get("spec") or {}, old.get("spec") or {}
        errors = [
            error
            for member in ("podGroupTemplateRef", "schedulingPolicy")
            for error in unchanged(SPEC.child(member), spec.get(member), before.get(member))
        ]
        return errors + condition_list(ROOT.child("status", "conditions"), (obj.get("status") or {}).get("conditions"))


class WorkloadStrategy(Strategy):
    """What the pod groups of a workload are made from."""

    def validate(self, call: Call, obj: Object) -> list[FieldError]:
        """Check the templates."""
        path = SPEC.child("podGroupTemplates")
        templates = (obj.get("spec") or {}).get("podGroupTemplates") or []
        if not templates:
            return [required(path)]
        if len(templates) > MAX_TEMPLATES:
            return [too_many(path, len(templates), MAX_TEMPLATES)]
        errors: list[FieldError] = []
        seen: set[str] = set()
        for index, template in enumerate(templates):
            at, name = path.index(index), template.get("name") or ""
            if not name:
                errors.append(required(at.child("name")))
            elif name in seen:
                errors.append(duplicate(at, {"name": name}))
            seen.add(name)
            errors += _policy(at.child("schedulingPolicy"), template.get("schedulingPolicy"))
        return errors

    def validate_update(self, call: Call, obj: Object, old: Object) -> list[FieldError]:
        """Check that the templates stayed."""
        now, before = ((each.get("spec") or {}).get("podGroupTemplates") for each in (obj, old))
        return unchanged(SPEC.child("podGroupTemplates"), now, before)


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
