"""Evaluations of plugins: counted once per pod for a whole set, and spread over its plugins when metrics are read."""

from __future__ import annotations

from collections.abc import Iterable


class EvaluationCounts:
    """The plugins that are evaluated for some templates, and for how many pods they were so far.

    Attributes:
        filtered: pods for which nodes were filtered.
        scored: pods for which nodes were scored: several were left.
    """

    __slots__ = ("filtered", "filters", "scored", "scores")

    def __init__(self, filters: Iterable[str], scores: Iterable[str]) -> None:
        self.filters, self.scores = tuple(filters), tuple(scores)
        self.filtered = self.scored = 0
