"""NodeLabel: nodes that have some labels and lack others, whatever their values; a 1.x predicate and priority."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import MAX_SCORE, Filtered, FilterPlugin, NodeTable, PodInfo, Scope, ScorePlugin
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores

REASON = "node(s) didn't have the requested labels"


class NodeLabel(FilterPlugin, ScorePlugin):
    """Settings: ``presentLabels``, ``absentLabels``, ``presentLabelsPreference``, ``absentLabelsPreference``.

    Source: kubernetes 1.20 ``pkg/scheduler/framework/plugins/nodelabel/node_label.go``.
    """

    scope = Scope.NODE
    events_to_register = frozenset({"node"})

    @classmethod
    def policy_settings(cls, arguments: Mapping[str, Sequence[Object]]) -> Mapping[str, Any]:
        """Take ``labelsPresence`` (labels, presence), and ``labelPreference`` (label, presence), of a 1.x policy."""
        settings: dict[str, list[str]] = {}
        for value in arguments.get("labelsPresence", ()):
            key = "presentLabels" if value.get("presence") else "absentLabels"
            settings.setdefault(key, []).extend(value.get("labels") or ())
        for value in arguments.get("labelPreference", ()):
            key = "presentLabelsPreference" if value.get("presence") else "absentLabelsPreference"
            settings.setdefault(key, []).append(value.get("label", ""))
        return settings

    def __init__(self, context: PluginContext) -> None:
        """Read the settings.

        Raises:
            UsageError: a label is both wanted and unwanted.
        """
        super().__init__(context)
        settings = context.settings if context is not None else {}
        self._present, self._absent, self._liked, self._disliked = (
            tuple(settings.get(name) or ())
            for name in ("presentLabels", "absentLabels", "presentLabelsPreference", "absentLabelsPreference")
        )
        for one, other in ((self._present, self._absent), (self._liked, self._disliked)):
            both = sorted(set(one) & set(other))
            if both:
                raise UsageError(f"label {both[0]!r} is configured both as present and absent")

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes with all present and no absent label."""
        mask = np.ones(len(nodes), dtype=bool)
        for key in self._present:
            mask &= nodes.label_exists(key)
        for key in self._absent:
            mask &= ~nodes.label_exists(key)
        return Filtered(mask, {REASON: ~mask} if not mask.all() else {}, ~mask)

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return the share of preferences that each node meets, 0 to `MAX_SCORE`."""
        total = np.zeros(len(nodes), dtype=np.int64)
        for key in self._liked:
            total += MAX_SCORE * nodes.label_exists(key)
        for key in self._disliked:
            total += MAX_SCORE * ~nodes.label_exists(key)
        return total // max(1, len(self._liked) + len(self._disliked))
