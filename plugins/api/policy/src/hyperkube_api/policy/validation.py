"""Validation of disruption budgets.

Source: kubernetes pkg/apis/policy/validation/validation.go.
"""

from __future__ import annotations

from hyperkube_api.meta.validation import at_most_all, condition_list, counts, int_or_percent, label_selector

from hyperkube.machinery.field import ROOT, FieldError, invalid, not_supported
from hyperkube.machinery.objects import Object

_SPEC = ROOT.child("spec")
_STATUS = ROOT.child("status")
POLICIES = ("AlwaysAllow", "IfHealthyBudget")


def validate_budget(obj: Object) -> list[FieldError]:
    """Check a disruption budget."""
    spec = obj["spec"]
    errors: list[FieldError] = []
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        shown = {
            "MinAvailable": spec["minAvailable"],
            "Selector": spec.get("selector"),
            "MaxUnavailable": spec["maxUnavailable"],
            "UnhealthyPodEvictionPolicy": spec.get("unhealthyPodEvictionPolicy"),
        }
        errors.append(invalid(_SPEC, shown, "minAvailable and maxUnavailable cannot be both set"))
    for member in ("minAvailable", "maxUnavailable"):
        errors += int_or_percent(_SPEC.child(member), spec.get(member))
        errors += at_most_all(_SPEC.child(member), spec.get(member))
    errors += label_selector(_SPEC.child("selector"), spec.get("selector"))
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in POLICIES:
        errors.append(not_supported(_SPEC.child("unhealthyPodEvictionPolicy"), policy, POLICIES))
    return errors


def validate_budget_status(obj: Object) -> list[FieldError]:
    """Check the counts of a disruption budget."""
    status = obj.get("status") or {}
    errors = condition_list(_STATUS.child("conditions"), status.get("conditions"))
    return errors + counts(_STATUS, status, "disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
