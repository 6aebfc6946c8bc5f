"""VolumeZone: a volume of one zone can be used in that zone only."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hyperkube_lib.scheduling.claims import CHANGES, Claims, claim_names

from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, NodeTable, PodInfo
from hyperkube.machinery.objects import labels_of

REASON = "node(s) had no available volume zone"
TOPOLOGY_LABELS = (
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
)
SEPARATOR = "__"
"""Between the zones of a volume that is in several."""


class VolumeZone(FilterPlugin):
    """Compares zone labels of bound volumes and nodes; nodes without any zone label fit everything.

    Source: kubernetes ``pkg/scheduler/framework/plugins/volumezone/volume_zone.go``.
    """

    wakes_on = CHANGES | {"node"}
    skips_by_template = True
    _claims: Claims | None = None

    def connect(self, wake: Callable[[str], None]) -> None:
        """Look claims up in the shared caches."""
        if self.context.informers is not None:
            self._claims = Claims(self.context.informers, wake)

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod has no claim."""
        return not claim_names(pod.pod)

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes in the zones of every bound volume."""
        mask = np.ones(len(nodes), dtype=bool)
        zoned = np.zeros(len(nodes), dtype=bool)
        for key in TOPOLOGY_LABELS:
            zoned |= nodes.label_exists(key)
        for volume in self._claims.bound_volumes(pod.pod) if self._claims is not None else ():
            for key in TOPOLOGY_LABELS:
                value = labels_of(volume).get(key)
                if value is None:
                    continue
                here = np.zeros(len(nodes), dtype=bool)
                for each in (key, _counterpart(key)):
                    for zone in value.split(SEPARATOR):
                        here |= nodes.label_equals(each, zone)
                mask &= here | ~zoned
        return Filtered(mask, {REASON: ~mask} if not mask.all() else {}, ~mask)


def _counterpart(key: str) -> str:
    """Return the old name of a topology label, or the new one of an old one."""
    new, old = "topology.kubernetes.io/", "failure-domain.beta.kubernetes.io/"
    return key.replace(new, old) if key.startswith(new) else key.replace(old, new)
