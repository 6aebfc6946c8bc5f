"""Which nodes hold which images, looked at again only where nodes changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from hyperkube.hookspecs.scheduling import NodeTable
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores


class HeldImages:
    """The images of the nodes of one table, by name, with their sizes in bytes."""

    def __init__(self) -> None:
        self._table: object = None
        self._generation = -1
        self._held: list[dict[str, int]] = []
        self._nodes_with: dict[str, dict[int, int]] = {}

    def any_of(self, images: Iterable[str], nodes: NodeTable) -> bool:
        """Tell whether any node holds any of the images."""
        self._catch_up(nodes)
        return any(image in self._nodes_with for image in images)

    def sizes(self, images: Iterable[str], nodes: NodeTable) -> IntScores:
        """Return [node]: the bytes of the images that it holds, each scaled by the share of nodes that hold it.

        The scaling keeps one node from heating up because it alone has an image.
        Source: kubernetes ``pkg/scheduler/framework/plugins/imagelocality/image_locality.go``.
        """
        self._catch_up(nodes)
        sums = np.zeros(len(nodes), dtype=np.int64)
        for image in images:
            holders = self._nodes_with.get(image) or {}
            share = len(holders) / max(1, len(nodes))
            for column, size in holders.items():
                sums[column] += int(size * share)
        return sums

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


def normalized(image: str) -> str:
    """Return an image's name as runtimes report it: with ``:latest`` where it has no tag."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"
