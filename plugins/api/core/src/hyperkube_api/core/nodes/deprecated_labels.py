"""Warnings for deprecated labels of nodes, wherever something selects nodes by them.

Source: kubernetes pkg/api/node/util.go.
"""

from __future__ import annotations

from hyperkube.machinery import names
from hyperkube.machinery.field import Path
from hyperkube.machinery.objects import Object

DEPRECATED_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}


def deprecated_label_warning(path: Path, key: str) -> str:
    """Return the warning for a key that is one of the deprecated labels."""
    return f"{path}: {key} is {DEPRECATED_LABELS[key]}"


def term_warnings(path: Path, term: Object, *, values: bool = False) -> list[str]:
    """Return the warnings for a node selector term; with `values`, also for what no label can have as its value."""
    found: list[str] = []
    for index, expression in enumerate(term.get("matchExpressions") or ()):
        at = path.child("matchExpressions").index(index)
        if expression.get("key") in DEPRECATED_LABELS:
            found.append(deprecated_label_warning(at.child("key"), expression["key"]))
        if values:
            found += _values(at.child("values"), expression.get("values") or [])
    return found


def _values(path: Path, values: list[str]) -> list[str]:
    return [
        f"{path.index(index)}: {value} is invalid, {why}"
        for index, value in enumerate(values)
        for why in names.label_value(value)
    ]


def label_selector_warnings(path: Path, selector: Object | None) -> list[str]:
    """Return the warnings for a label selector of nodes."""
    found = term_warnings(path, selector or {})
    labels = sorted((selector or {}).get("matchLabels") or ())
    return found + [
        f"{path.child('matchLabels', key)}: {DEPRECATED_LABELS[key]}" for key in labels if key in DEPRECATED_LABELS
    ]
