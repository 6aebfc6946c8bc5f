"""Questions to plugins about some nodes only, with answers for all: for those that ask another process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hyperkube_host.scheduler.cache.columns import Columns

from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, ScorePlugin

if TYPE_CHECKING:
    from hyperkube_host.scheduler.cache.node_table import Nodes
    from hyperkube_host.scheduler.cache.pod_info import PreparedPod
    from numpy.typing import NDArray

    from hyperkube.hookspecs.scheduling import IntScores, Mask


def single_node_mask(column: int, count: int) -> Mask:
    """Return the mask of one node."""
    mask = np.zeros(count, dtype=bool)
    mask[column] = True
    return mask


def filter_subset(plugin: FilterPlugin, pod: PreparedPod, nodes: Nodes, about: Mask) -> Filtered:
    """Ask a filter about some nodes; it keeps the others."""
    columns = about.nonzero()[0]
    part = plugin.filter(pod, Columns(nodes, columns.tolist()))
    mask = np.ones(len(nodes), dtype=bool)
    mask[columns] = part.mask
    reasons = {text: _spread(hit, columns, len(nodes)) for text, hit in part.reasons.items()}
    unresolvable = None if part.unresolvable is None else _spread(part.unresolvable, columns, len(nodes))
    return Filtered(mask, reasons, unresolvable)


def score_subset(plugin: ScorePlugin, pod: PreparedPod, nodes: Nodes, about: Mask) -> IntScores:
    """Ask for the scores of some nodes; the others get none."""
    columns = about.nonzero()[0]
    scores = np.zeros(len(nodes), dtype=np.int64)
    scores[columns] = plugin.score(pod, Columns(nodes, columns.tolist()))
    return scores


def _spread(part: Mask, columns: NDArray[np.intp], count: int) -> Mask:
    mask = np.zeros(count, dtype=bool)
    mask[columns] = part
    return mask
