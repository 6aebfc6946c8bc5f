"""Who had a say: counted once per pod for a whole set of plugins, and spread over these when somebody reads it."""

from __future__ import annotations

from collections.abc import Iterable


class EvaluationCounts:
    """The plugins that have a say about some templates, and at how many pods they had it so far.

    Attributes:
        filtered: pods for which nodes were filtered.
        scored: pods for which nodes were scored: several were left.
    """

    __slots__ = ("filtered", "filters", "scored", "scores")

    def __init__(self, filters: Iterable[str], scores: Iterable[str]) -> None:
        self.filters, self.scores = tuple(filters), tuple(scores)
        self.filtered = self.scored = 0
