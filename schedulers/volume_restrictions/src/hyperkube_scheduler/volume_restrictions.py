"""VolumeRestrictions: some disks can be used by one pod of a node only, some claims by one pod at all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hyperkube_lib.scheduling.claims import CHANGES, Claims, not_found

from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, NodeTable, PodInfo, PreFiltered
from hyperkube.kinds.volumes import claim_names
from hyperkube.machinery.objects import Object, namespace_of

DISK_REASON = "node(s) had no available disk"
ONCE_REASON = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
SHARED_READING = ("gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd")


class VolumeRestrictions(FilterPlugin):
    """Compares the pod's disks with those of the pods on each node.

    Source: kubernetes ``pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go``.
    """

    events_to_register = CHANGES | {"node", "pod gone"}
    skips_by_template = True
    _claims: Claims | None = None

    def connect(self, wake: Callable[[str], None]) -> None:
        """Look claims up in the shared caches."""
        if self.context.informers is not None:
            self._claims = Claims(self.context.informers, wake)

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod has neither such a disk nor names a claim; those of ephemeral volumes are its own."""
        return not _disks(pod.pod) and not _named(pod.pod)

    def pre_filter(self, pod: PodInfo) -> PreFiltered | None:
        """Tell that a claim is missing: how it may be used cannot be known."""
        known = self._claims
        if known is None:
            return None
        for name in _named(pod.pod):
            if known.claim(namespace_of(pod.pod), name) is None:
                return PreFiltered(not_found("persistentvolumeclaim", name))
        return None

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes where no pod holds what this one needs for itself."""
        disks, once = _disks(pod.pod), self._once(pod.pod)
        taken, in_use = np.zeros(len(nodes), dtype=bool), np.zeros(len(nodes), dtype=bool)
        if disks:
            for index in range(len(nodes)):
                taken[index] = any(
                    conflict(one, two) for other in nodes.pods(index) for one in disks for two in _disks(other)
                )
        if once and self._used(pod.pod, once, nodes):
            in_use = ~taken
        reasons = {text: mask for text, mask in ((DISK_REASON, taken), (ONCE_REASON, in_use)) if mask.any()}
        return Filtered(~(taken | in_use), reasons)

    def _used(self, pod: Object, once: set[str], nodes: NodeTable) -> bool:
        """Tell whether a pod on any node uses one of these claims; if it goes, they are free everywhere."""
        return any(
            namespace_of(other) == namespace_of(pod) and any(name in once for name in _named(other))
            for index in range(len(nodes))
            for other in nodes.pods(index)
        )

    def _once(self, pod: Object) -> set[str]:
        """Return the pod's claims that one pod alone may use."""
        known = self._claims
        found = [known.claim(namespace_of(pod), name) for name in _named(pod)] if known is not None else []
        return {
            claim["metadata"]["name"]
            for claim in found
            if claim is not None and "ReadWriteOncePod" in claim["spec"].get("accessModes", ())
        }


def _named(pod: Object) -> list[str]:
    return [name for name, ephemeral in claim_names(pod) if not ephemeral]


def _disks(pod: Object) -> list[Object]:
    return [
        volume for volume in pod.get("spec", {}).get("volumes") or () if any(kind in volume for kind in SHARED_READING)
    ]


def conflict(one: Object, other: Object) -> bool:
    """Tell whether two volumes are the same disk and cannot be used together; reading alike is fine but for EBS."""
    for kind in SHARED_READING:
        mine, theirs = one.get(kind), other.get(kind)
        if not mine or not theirs:
            continue
        reading = bool(mine.get("readOnly")) and bool(theirs.get("readOnly"))
        if kind == "awsElasticBlockStore":
            return bool(mine["volumeID"] == theirs["volumeID"])
        if kind == "gcePersistentDisk":
            same = mine["pdName"] == theirs["pdName"]
        elif kind == "iscsi":
            same = mine["iqn"] == theirs["iqn"]
        else:
            monitors = set(mine.get("monitors", ())) & set(theirs.get("monitors", ()))
            places = [(disk.get("pool", "rbd"), disk["image"]) for disk in (mine, theirs)]
            same = bool(monitors) and places[0] == places[1]
        return same and not reading
    return False
