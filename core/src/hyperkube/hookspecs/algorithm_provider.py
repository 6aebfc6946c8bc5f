"""Named sets of scheduling plugins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from hyperkube.machinery.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgorithmProvider:
    """A named set of plugins: what a profile, a policy file and ``--algorithm-provider`` all come down to.

    One plugin must order the queue, and at least one bind.
    """

    name: str
    queue_sort: str
    pre_enqueue: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    post_filters: tuple[str, ...] = ()
    scores: Mapping[str, int] = field(default_factory=dict)
    """Plugin name → weight, above 0."""
    reserves: tuple[str, ...] = ()
    permits: tuple[str, ...] = ()
    pre_binds: tuple[str, ...] = ()
    binds: tuple[str, ...]
    post_binds: tuple[str, ...] = ()
    placement_generators: tuple[str, ...] = ()
    placement_scores: Mapping[str, int] = field(default_factory=dict)
    """Plugin name → weight, above 0: of placements of pod groups, see `hyperkube.hookspecs.pod_groups`."""
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Plugin name → its settings."""
    checks_all: bool = False
    """Whether a refused node gets every filter's reason, not the first one's alone (``alwaysCheckAllPredicates``)."""

    def plugin_names(self) -> tuple[str, ...]:
        """Return every plugin the set needs, each once, in a stable order."""
        named = (
            self.queue_sort, *self.pre_enqueue, *self.filters, *self.post_filters, *self.scores, *self.reserves,
            *self.permits, *self.pre_binds, *self.binds, *self.post_binds, *self.placement_generators,
            *self.placement_scores,
        )  # fmt: skip
        return tuple(dict.fromkeys(name for name in named if name))
