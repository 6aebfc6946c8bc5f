"""ImageLocality: prefer the nodes that hold the pod's images already, the more and the larger the better."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperkube_lib.scheduling.held_images import HeldImages, normalized

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import MAX_SCORE, NodeTable, PodInfo, ScorePlugin
from hyperkube.machinery.objects import Object
from hyperkube.machinery.recent import Recent

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import IntScores

MEBIBYTE = 1024 * 1024
LEAST_BYTES = 23 * MEBIBYTE
MOST_BYTES_PER_IMAGE = 1000 * MEBIBYTE
TEMPLATES = 1024
"""Templates of pods whose images are remembered."""


class ImageLocality(ScorePlugin):
    """Sums the sizes of the images a node holds, each scaled by the share of nodes that hold it.

    The scaling keeps one node from heating up because it alone has an image.
    Source: kubernetes ``pkg/scheduler/framework/plugins/imagelocality/image_locality.go``.
    """

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._held = HeldImages()
        self._named: Recent[str, tuple[str, ...]] = Recent(TEMPLATES)

    def skips_score(self, pod: PodInfo, nodes: NodeTable) -> bool:
        """Tell that no node holds an image of the pod."""
        return not self._held.any_of(self._images(pod), nodes)

    def score(self, pod: PodInfo, nodes: NodeTable) -> IntScores:
        """Return one integer per node, from 0 (23 MiB or less) to `MAX_SCORE` (1000 MiB per image)."""
        images = self._images(pod)
        sums = self._held.sizes(images, nodes)
        most = MOST_BYTES_PER_IMAGE * max(1, len(images))
        scores: IntScores = MAX_SCORE * (sums.clip(LEAST_BYTES, most) - LEAST_BYTES) // (most - LEAST_BYTES)
        return scores

    def _images(self, pod: PodInfo) -> tuple[str, ...]:
        known = self._named.get(pod.template_key)
        return self._named.keep(pod.template_key, tuple(_images(pod.pod))) if known is None else known


def _images(pod: Object) -> list[str]:
    """Return the images of all containers that the pod is made with, and those mounted as volumes."""
    spec = pod.get("spec", {})
    rows = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    mounted = [row["image"] for row in spec.get("volumes") or () if row.get("image") is not None]
    named = [row.get("image") or "" for row in rows] + [row.get("reference") or "" for row in mounted]
    return [normalized(image) for image in named]
