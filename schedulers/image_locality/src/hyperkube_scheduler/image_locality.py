"""ImageLocality: prefer the nodes that hold the pod's images already, the more and the larger the better."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import MAX_SCORE, NodeTable, PodInfo, ScorePlugin
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores

MEBIBYTE = 1024 * 1024
LEAST_BYTES = 23 * MEBIBYTE
MOST_BYTES_PER_IMAGE = 1000 * MEBIBYTE


class ImageLocality(ScorePlugin):
    """Sums the sizes of the images a node holds, each scaled by the share of nodes that hold it.

    The scaling keeps one node from heating up because it alone has an image.
    Source: kubernetes ``pkg/scheduler/framework/plugins/imagelocality/image_locality.go``.
    """

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._table: object = None
        self._generation = -1
        self._held: list[dict[str, int]] = []
        self._nodes_with: dict[str, dict[int, int]] = {}

    def skips_score(self, pod: PodInfo, nodes: NodeTable) -> bool:
        """Tell that no node holds an image of the pod."""
        self._catch_up(nodes)
        return not any(image in self._nodes_with for image in _images(pod.pod))

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node, from 0 (23 MiB or less) to `MAX_SCORE` (1000 MiB per image)."""
        self._catch_up(nodes)
        sums = np.zeros(len(nodes), dtype=np.int64)
        images = _images(pod.pod)
        for image in images:
            holders = self._nodes_with.get(image) or {}
            share = len(holders) / max(1, len(nodes))
            for column, size in holders.items():
                sums[column] += int(size * share)
        most = MOST_BYTES_PER_IMAGE * max(1, len(images))
        scores: IntScores = MAX_SCORE * (sums.clip(LEAST_BYTES, most) - LEAST_BYTES) // (most - LEAST_BYTES)
        return scores

    def _catch_up(self, nodes: NodeTable) -> None:
        """Look at the nodes that changed since the last question."""
        if self._table is nodes and self._generation == nodes.node_generation:
            return
        changed = nodes.nodes_changed_since(self._generation) if self._table is nodes else None
        if changed is None or len(self._held) != len(nodes):
            self._held = [{} for _ in range(len(nodes))]
            self._nodes_with = {}
            changed = range(len(nodes))
        for column in changed:
            for image in self._held[column]:
                holders = self._nodes_with[image]
                holders.pop(column, None)
                if not holders:
                    del self._nodes_with[image]
            self._held[column] = held = _sizes(nodes.node(column))
            for image, size in held.items():
                self._nodes_with.setdefault(image, {})[column] = size
        self._table, self._generation = nodes, nodes.node_generation


def _sizes(node: Object) -> dict[str, int]:
    rows = node.get("status", {}).get("images") or ()
    return {name: int(row.get("sizeBytes") or 0) for row in rows for name in row.get("names") or ()}


def _images(pod: Object) -> list[str]:
    """Return the images of all containers that the pod is made with, and those mounted as volumes."""
    spec = pod.get("spec", {})
    rows = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    mounted = [row["image"] for row in spec.get("volumes") or () if row.get("image") is not None]
    named = [row.get("image") or "" for row in rows] + [row.get("reference") or "" for row in mounted]
    return [normalized(image) for image in named]


def normalized(image: str) -> str:
    """Return an image's name as runtimes report it: with ``:latest`` where it has no tag."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"
