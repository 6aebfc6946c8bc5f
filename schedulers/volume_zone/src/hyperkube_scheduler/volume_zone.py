"""VolumeZone: a volume of one zone can be used in that zone only."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hyperkube_lib.scheduling.claims import CHANGES, Claims, not_found

from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, NodeTable, PodInfo, PreFiltered
from hyperkube.kinds.volumes import claim_names, class_name
from hyperkube.machinery.objects import Object, labels_of, namespace_of

REASON = "node(s) had no available volume zone"
NO_CLAIM_NAME = "PersistentVolumeClaim had no name"
NO_VOLUME_NAME = "PersistentVolume had no name"
NO_CLASS = "PersistentVolumeClaim had no pv name and storageClass name"
LATE = "WaitForFirstConsumer"
NEW, OLD = "topology.kubernetes.io/", "failure-domain.beta.kubernetes.io/"
TOPOLOGY_LABELS = (f"{OLD}zone", f"{OLD}region", f"{NEW}zone", f"{NEW}region")
SEPARATOR = "__"
"""Between the zones of a volume that is in several."""


class VolumeZone(FilterPlugin):
    """Compares zone labels of bound volumes and nodes; nodes without any zone label fit everything.

    A volume with a label's old name fits a node that has only the new one, not the other way round.
    Source: kubernetes ``pkg/scheduler/framework/plugins/volumezone/volume_zone.go``.
    """

    events_to_register = CHANGES | {"node"}
    skips_by_template = True
    _claims: Claims | None = None

    def connect(self, wake: Callable[[str], None]) -> None:
        """Look claims up in the shared caches."""
        if self.context.informers is not None:
            self._claims = Claims(self.context.informers, wake)

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod names no claim; claims of ephemeral volumes do not count."""
        return not _named(pod.pod)

    def pre_filter(self, pod: PodInfo) -> PreFiltered | None:
        """Tell that a claim or its volume is missing, or that the claim should be bound by now."""
        if self._claims is None or self.skips(pod):
            return None
        why, _ = _bound(pod.pod, self._claims)
        return PreFiltered(why) if why else None

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes in the zones of every bound volume."""
        mask = np.ones(len(nodes), dtype=bool)
        why, volumes = _bound(pod.pod, self._claims) if self._claims is not None else ("", [])
        if why:
            return Filtered(~mask, {why: mask}, mask)
        zoned = np.zeros(len(nodes), dtype=bool)
        for key in TOPOLOGY_LABELS:
            zoned |= nodes.label_exists(key)
        for volume in volumes:
            for key in TOPOLOGY_LABELS:
                zones = [zone.strip() for zone in labels_of(volume).get(key, "").split(SEPARATOR)]
                if not all(zones):
                    continue  # no such label, or one that cannot be read
                here, instead = np.zeros(len(nodes), dtype=bool), ~nodes.label_exists(key)
                for zone in zones:
                    here |= nodes.label_equals(key, zone) | instead & nodes.label_equals(key.replace(OLD, NEW), zone)
                mask &= here | ~zoned
        return Filtered(mask, {REASON: ~mask} if not mask.all() else {}, ~mask)


def _named(pod: Object) -> list[str]:
    return [name for name, ephemeral in claim_names(pod) if not ephemeral]


def _bound(pod: Object, known: Claims) -> tuple[str, list[Object]]:
    """Return why the pod can run nowhere, and the volumes of its bound claims; those that wait for it do not count."""
    volumes = []
    for name in _named(pod):
        if not name:
            return NO_CLAIM_NAME, []
        claim = known.claim(namespace_of(pod), name)
        if claim is None:
            return not_found("persistentvolumeclaim", name), []
        bound_to = claim["spec"].get("volumeName")
        volume = known.volume(bound_to) if bound_to else None
        if bound_to and volume is None:
            return not_found("persistentvolume", bound_to), []
        if volume is not None:
            volumes.append(volume)
            continue
        why = _unbound(claim, known)
        if why:
            return why, []
    return "", volumes


def _unbound(claim: Object, known: Claims) -> str:
    wanted = class_name(claim)
    if not wanted:
        return NO_CLASS
    found = known.storage_class(claim)
    if found is None:
        return not_found("storageclass.storage.k8s.io", wanted)
    mode = found.get("volumeBindingMode")
    if mode is None:
        return f'VolumeBindingMode not set for StorageClass "{wanted}"'
    return "" if mode == LATE else NO_VOLUME_NAME
