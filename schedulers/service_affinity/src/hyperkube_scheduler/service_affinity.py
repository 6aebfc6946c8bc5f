"""ServiceAffinity: all pods of a service under one value of a label, or spread over its values; 1.x only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from hyperkube_lib.scheduling.owners import Owners
from hyperkube_lib.scheduling.pod_counts import per_domain, per_node

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import MAX_SCORE, Filtered, FilterPlugin, NodeTable, PodInfo, ScorePlugin
from hyperkube.machinery.objects import Object, labels_of, namespace_of

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores, Mask

REASON = "node(s) didn't match service affinity"
SERVICE = "service"
"""What a change of a service is called."""


class ServiceAffinity(FilterPlugin, ScorePlugin):
    """Settings: ``affinityLabels`` (filter), ``antiAffinityLabelsPreference`` (score).

    Source: kubernetes 1.20 ``pkg/scheduler/framework/plugins/serviceaffinity/service_affinity.go``.
    """

    events_to_register = frozenset({"node", "pod", "pod gone", SERVICE})

    @classmethod
    def policy_settings(cls, arguments: Mapping[str, Sequence[Object]]) -> Mapping[str, Any]:
        """Take ``serviceAffinity`` (labels), and ``serviceAntiAffinity`` (label), of a 1.x policy."""
        if "serviceAffinity" in arguments:
            values = arguments["serviceAffinity"]
            return {"affinityLabels": [label for value in values for label in value.get("labels") or ()]}
        values = arguments["serviceAntiAffinity"]
        return {"antiAffinityLabelsPreference": [value.get("label", "") for value in values]}

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        settings = context.settings if context is not None else {}
        informers = context.informers if context is not None else None
        self._together = tuple(settings.get("affinityLabels") or ())
        self._apart = tuple(settings.get("antiAffinityLabelsPreference") or ())
        self._owners = Owners(informers) if informers is not None else None

    def connect(self, wake: Callable[[str], None]) -> None:
        """Let rejected pods be scheduled again when services come, go or select others."""
        if self._owners is not None and self._together:
            self._owners.on_change(lambda: wake(SERVICE))

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes with the labels' values that the pod selects, or else that the service's first pod has."""
        selected = pod.pod.get("spec", {}).get("nodeSelector") or {}
        wanted = {key: selected[key] for key in self._together if key in selected}
        missing = [key for key in self._together if key not in wanted]
        if missing and self._services(pod):
            first = self._first_like(pod, nodes)
            labels = labels_of(nodes.node(first)) if first is not None else {}
            wanted |= {key: labels[key] for key in missing if key in labels}
        mask = np.ones(len(nodes), dtype=bool)
        for key, value in wanted.items():
            mask &= nodes.label_equals(key, value)
        return Filtered(mask, {REASON: ~mask} if not mask.all() else {})

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return how many pods of the pod's first service each node has."""
        services, namespace = self._services(pod), namespace_of(pod.pod)
        if not services:
            return np.zeros(len(nodes), dtype=np.int64)
        selector = services[0].items()
        like = (
            group
            for group in nodes.pod_counts()
            if group.namespace == namespace and not group.deleting and selector <= group.labels.items()
        )
        return per_node(like, len(nodes))

    def normalize(self, pod: PodInfo, nodes: NodeTable, scores: IntScores, feasible: Mask) -> IntScores:
        """Average over the labels: the fewer of the service's pods under a value, the higher; no label scores 0."""
        total = np.zeros(len(nodes), dtype=np.float64)
        number = int(scores[feasible].sum())
        for key in self._apart:
            sums, _, codes = per_domain(nodes, key, scores, feasible)
            share = (number - sums[codes]) / number if number else np.ones(len(nodes))
            total += np.where(codes >= 0, MAX_SCORE * share, 0.0) / len(self._apart)
        return total.astype(np.int64)

    def _services(self, pod: PodInfo) -> list[dict[str, str]]:
        return self._owners.service_selectors(pod.pod) if self._owners is not None else []

    def _first_like(self, pod: PodInfo, nodes: NodeTable) -> int | None:
        """Return the first column with a pod that has all of this pod's labels."""
        namespace, labels = namespace_of(pod.pod), labels_of(pod.pod).items()
        columns = (
            column
            for group in nodes.pod_counts()
            if group.namespace == namespace and labels <= group.labels.items()
            for column in group.counts
        )
        return min(columns, default=None)
