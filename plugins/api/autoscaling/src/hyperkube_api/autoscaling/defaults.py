"""Defaults of autoscalers that a declaration cannot express; in place and idempotent.

Source: kubernetes pkg/apis/autoscaling/v2/defaults.go.
"""

from __future__ import annotations

from hyperkube.machinery.objects import Object

CPU_PERCENT = 80
_UP_POLICIES = (
    {"type": "Pods", "value": 4, "periodSeconds": 15},
    {"type": "Percent", "value": 100, "periodSeconds": 15},
)
_DOWN_POLICIES = ({"type": "Percent", "value": 100, "periodSeconds": 15},)


def default_autoscaler(autoscaler: Object) -> None:
    """Fill in an autoscaler of either version."""
    spec = autoscaler["spec"]
    if spec.get("minReplicas") is None:
        spec["minReplicas"] = 1
    if autoscaler.get("apiVersion") == "autoscaling/v1":
        return
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": CPU_PERCENT}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    behavior = spec.get("behavior")
    if behavior is not None:
        behavior["scaleUp"] = _rules(behavior.get("scaleUp"), _UP_POLICIES, window=0)
        behavior["scaleDown"] = _rules(behavior.get("scaleDown"), _DOWN_POLICIES, window=None)


def _rules(rules: Object | None, policies: tuple[Object, ...], window: int | None) -> Object:
    rules = rules or {}
    if rules.get("stabilizationWindowSeconds") is None and window is not None:
        rules["stabilizationWindowSeconds"] = window
    if rules.get("selectPolicy") is None:
        rules["selectPolicy"] = "Max"
    if rules.get("policies") is None:
        rules["policies"] = [dict(policy) for policy in policies]
    return rules
