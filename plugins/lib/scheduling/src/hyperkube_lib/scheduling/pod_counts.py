"""How many placed pods match: per node, and per domain of a topology key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from hyperkube.hookspecs.scheduling import NodeTable, PodCounts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hyperkube.hookspecs.scheduling import IntScores, Mask


def per_node(groups: Iterable[PodCounts], count: int) -> IntScores:
    """Return how many pods of the groups are on each of `count` nodes."""
    total = np.zeros(count, dtype=np.int64)
    for group in groups:
        counts = group.counts
        if counts:
            total[list(counts)] += list(counts.values())
    return total


def per_domain(
    nodes: NodeTable, key: str, counts: IntScores, eligible: Mask | None = None
) -> tuple[IntScores, Mask, NDArray[np.int32]]:
    """Sum counts over the domains of a topology key.

    Args:
        nodes: the nodes.
        key: the label whose values are the domains.
        counts: [node], what to sum.
        eligible: the nodes to count; None means all.

    Returns:
        The sum per domain and which domains have an eligible node, both with one more entry, 0 and False, for nodes
        without the label; and each node's domain, -1 for none, which indexes that entry.
    """
    codes, values = nodes.label_codes(key)
    chosen = codes >= 0 if eligible is None else eligible & (codes >= 0)
    size = len(values) + 1
    picked = codes[chosen]
    sums = np.bincount(picked, weights=counts[chosen], minlength=size).astype(np.int64)
    return sums, np.bincount(picked, minlength=size) > 0, codes
