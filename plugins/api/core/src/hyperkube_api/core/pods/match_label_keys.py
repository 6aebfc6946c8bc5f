"""``matchLabelKeys``: spread and affinity rules that compare with the pod's own labels.

The keys become expressions of the label selector when the pod is created, so that schedulers need not know them.
Source: kubernetes pkg/registry/core/pod/strategy.go (applyMatchLabelKeysAndMismatchLabelKeys).
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperkube.machinery.objects import Object, labels_of


def apply_match_label_keys(pod: Object) -> None:
    """Extend the selectors of a new pod's terms, in place."""
    labels = labels_of(pod)
    for term in _affinity_terms(pod["spec"].get("affinity") or {}):
        _extend(term, term.get("matchLabelKeys"), "In", labels)
        _extend(term, term.get("mismatchLabelKeys"), "NotIn", labels)
    for constraint in pod["spec"].get("topologySpreadConstraints") or ():
        _extend(constraint, constraint.get("matchLabelKeys"), "In", labels)


def _affinity_terms(affinity: Object) -> Iterator[Object]:
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(kind) or {}
        yield from rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        for weighted in rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
            yield weighted.get("podAffinityTerm") or {}


def _extend(term: Object, keys: list[str] | None, operator: str, labels: dict[str, str]) -> None:
    selector = term.get("labelSelector")
    if not keys or selector is None:
        return
    expressions = selector.get("matchExpressions") or []
    for key in keys:
        if key in labels:
            expression = {"key": key, "operator": operator, "values": [labels[key]]}
            if expression not in expressions:
                expressions.append(expression)
    if expressions:
        selector["matchExpressions"] = expressions
