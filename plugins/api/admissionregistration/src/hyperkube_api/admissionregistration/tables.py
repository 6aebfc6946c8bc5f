"""Table rows of webhooks and policies, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def validating_webhook_configuration(obj: Object, now: datetime) -> list[Any]:
    """Return how many webhooks there are."""
    return [cells.name(obj), len(obj.get("webhooks") or ()), cells.age(obj, now)]


mutating_webhook_configuration = validating_webhook_configuration


def validating_admission_policy(obj: Object, now: datetime) -> list[Any]:
    """Return how many rules there are, and what parametrizes them."""
    spec = cells.spec_of(obj)
    return [cells.name(obj), len(spec.get("validations") or ()), _kind(spec.get("paramKind")), cells.age(obj, now)]


def mutating_admission_policy(obj: Object, now: datetime) -> list[Any]:
    """Return how many mutations there are, and what parametrizes them."""
    spec = cells.spec_of(obj)
    return [cells.name(obj), len(spec.get("mutations") or ()), _kind(spec.get("paramKind")), cells.age(obj, now)]


def _kind(kind: Object | None) -> str:
    return f"{kind.get('apiVersion')}/{kind.get('kind')}" if kind else cells.UNSET


def validating_admission_policy_binding(obj: Object, now: datetime) -> list[Any]:
    """Return the policy and its parameters."""
    spec = cells.spec_of(obj)
    shown = _parameters(spec.get("paramRef") or {})
    return [cells.name(obj), spec.get("policyName") or "", shown, cells.age(obj, now)]


def _parameters(reference: Object) -> str:
    """Return which parameters: one by name, in any namespace if it names none, or a selector's, as Go writes it."""
    if reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    selector = reference.get("selector")
    if selector is None:
        return cells.UNSET
    labels = "".join(f"{key}: {value}," for key, value in sorted((selector.get("matchLabels") or {}).items()))
    rules = "".join(
        f"LabelSelectorRequirement{{Key:{rule.get('key') or ''},Operator:{rule.get('operator') or ''},"
        f"Values:[{' '.join(rule.get('values') or ())}],}},"
        for rule in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{rules}}},}}"
    )


mutating_admission_policy_binding = validating_admission_policy_binding
