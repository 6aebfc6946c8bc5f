"""Node selectors, asked of one node at a time; schedulers ask all nodes at once.

Source: kubernetes component-helpers ``scheduling/corev1/nodeaffinity/nodeaffinity.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hyperkube.machinery.labels import from_node_selector_expressions
from hyperkube.machinery.objects import Object

NAME_FIELD = "metadata.name"
"""The only field of a node that a term may ask for."""


def fits_required_affinity(spec: Object, name: str, labels: Mapping[str, str]) -> bool:
    """Tell whether a node satisfies the ``nodeSelector`` and the required node affinity of a pod's spec."""
    if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return False
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return required is None or matches_any_term(required.get("nodeSelectorTerms") or (), name, labels)


def matches_any_term(terms: Iterable[Object], name: str, labels: Mapping[str, str]) -> bool:
    """Tell whether a node satisfies at least one of the ``nodeSelectorTerms``; none satisfies none."""
    return any(_matches(term, name, labels) for term in terms)


def _matches(term: Object, name: str, labels: Mapping[str, str]) -> bool:
    expressions, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    if not expressions and not fields:
        return False  # an empty term stands for no node, not for all
    return from_node_selector_expressions(expressions).matches(labels) and all(_field(row, name) for row in fields)


def _field(requirement: Object, name: str) -> bool:
    inside = name in (requirement.get("values") or ())
    return requirement.get("key") == NAME_FIELD and inside is (requirement.get("operator") == "In")
