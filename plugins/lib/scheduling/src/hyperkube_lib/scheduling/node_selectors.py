"""Node selectors on all nodes at once: ``nodeSelector``, node affinity terms, tolerated taints.

Source: kubernetes component-helpers ``scheduling/corev1/nodeaffinity/nodeaffinity.go``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hyperkube.hookspecs.scheduling import NodeTable
from hyperkube.kinds.taints import is_tolerated, keeps_off
from hyperkube.machinery.names import label_key, label_value
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import Mask


_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)


def node_affinity(pod: Object) -> Object:
    """Return ``spec.affinity.nodeAffinity``, or an empty dict."""
    affinity: Object = (pod.get("spec", {}).get("affinity") or {}).get("nodeAffinity") or {}
    return affinity


def required(pod: Object, nodes: NodeTable) -> Mask:
    """Return the nodes that match the pod's ``nodeSelector`` and any of its required terms."""
    mask = np.ones(len(nodes), dtype=bool)
    for key, value in (pod.get("spec", {}).get("nodeSelector") or {}).items():
        mask &= nodes.label_equals(key, value)
    rule = node_affinity(pod).get("requiredDuringSchedulingIgnoredDuringExecution")
    if rule is not None:
        mask &= any_term(rule.get("nodeSelectorTerms") or (), nodes)
    return mask


def tolerated(pod: Object, nodes: NodeTable) -> Mask:
    """Return the nodes all of whose hard taints the pod tolerates."""
    tolerations = pod.get("spec", {}).get("tolerations") or ()
    refused = np.zeros(len(nodes), dtype=bool)
    for (key, value, effect), tainted in nodes.taints().items():
        taint = {"key": key, "value": value, "effect": effect}
        if keeps_off(taint) and not is_tolerated(taint, tolerations):
            refused |= tainted
    return ~refused


def any_term(terms: Iterable[Object], nodes: NodeTable) -> Mask:
    """Return the nodes that match at least one term; an empty list matches none."""
    mask = np.zeros(len(nodes), dtype=bool)
    for each in terms:
        mask |= term(each, nodes)
    return mask


def term(each: Object, nodes: NodeTable) -> Mask:
    """Return the nodes that match every requirement of a term; an empty term matches none, nor does a broken one."""
    expressions, fields = each.get("matchExpressions") or (), each.get("matchFields") or ()
    if (not expressions and not fields) or any(map(is_broken, expressions)):
        return np.zeros(len(nodes), dtype=bool)
    mask = np.ones(len(nodes), dtype=bool)
    for requirement in expressions:
        mask &= _requirement(requirement, nodes)
    for requirement in fields:
        mask &= _field(requirement, nodes)
    return mask


def is_broken(requirement: Object) -> bool:
    """Tell whether a requirement on labels cannot be read: its key, its operator, or its values.

    Source: apimachinery ``pkg/labels/selector.go`` (NewRequirement).
    """
    key, operator, values = requirement.get("key", ""), requirement.get("operator"), requirement.get("values") or ()
    return bool(label_key(key) or not _takes(operator, values) or any(map(label_value, values)))


def _takes(operator: str | None, values: Sequence[str]) -> bool:
    if operator in {"In", "NotIn"}:
        return bool(values)
    if operator in {"Gt", "Lt"}:
        return len(values) == 1 and _integer(values[0]) is not None
    return operator in {"Exists", "DoesNotExist"} and not values


def _requirement(requirement: Object, nodes: NodeTable) -> Mask:
    key, operator, values = requirement["key"], requirement["operator"], requirement.get("values") or ()
    if operator == "Exists":
        return nodes.label_exists(key)
    if operator == "DoesNotExist":
        return ~nodes.label_exists(key)
    if operator in {"Gt", "Lt"}:
        return _compared(nodes, key, operator, values)
    mask = np.zeros(len(nodes), dtype=bool)
    for value in values:
        mask |= nodes.label_equals(key, value)
    return mask if operator == "In" else ~mask


def _compared(nodes: NodeTable, key: str, operator: str, values: Iterable[str]) -> Mask:
    limit = _integer(next(iter(values), None))
    codes, labels = nodes.label_codes(key)

    def holds(label: str) -> bool:
        number = _integer(label)
        if number is None or limit is None:
            return False
        return number > limit if operator == "Gt" else number < limit

    held = np.array([*(holds(label) for label in labels), False], dtype=bool)
    return held[codes]  # -1, no label, is the last one


def _integer(text: str | None) -> int | None:
    return int(text) if text is not None and _INTEGER.fullmatch(text) else None


def _field(requirement: Object, nodes: NodeTable) -> Mask:
    if requirement["key"] != "metadata.name":
        return np.zeros(len(nodes), dtype=bool)
    values = requirement.get("values") or ()
    mask = np.array([name in values for name in nodes.names], dtype=bool)
    return mask if requirement["operator"] == "In" else ~mask
