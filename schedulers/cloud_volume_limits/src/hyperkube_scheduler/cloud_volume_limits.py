"""EBSLimits, GCEPDLimits, AzureDiskLimits, CinderLimits: a machine of a cloud takes so many disks and no more.

Source: kubernetes ``pkg/scheduler/framework/plugins/nodevolumelimits/non_csi.go``, as it was up to 1.33.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from hyperkube_lib.scheduling.claims import CHANGES, Claims
from hyperkube_lib.scheduling.csi_migration import MIGRATED_PLUGINS

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, NodeTable, PodInfo
from hyperkube.kinds.volumes import claim_names
from hyperkube.machinery.objects import Object, annotations_of, labels_of, namespace_of

REASON = "node(s) exceed max volume count"
LIMIT_VARIABLE = "KUBE_MAX_PD_VOLS"
"""Overrides the usual limit of every kind, as it does upstream."""
MACHINE_TYPES = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")


class _CloudLimits(FilterPlugin):
    """Counts the distinct disks of one kind on each node; a node's own ``attachable-volumes-…`` wins over `usual`.

    Claims without a volume count by their class. Where a CSI driver took the disks over, its own limit holds instead.
    """

    source: ClassVar[str]
    id_field: ClassVar[str]
    resource: ClassVar[str]
    provisioner: ClassVar[str]
    usual: ClassVar[int]
    events_to_register = CHANGES | {"node", "pod gone"}
    skips_by_template = True
    _claims: Claims | None = None

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        text = os.environ.get(LIMIT_VARIABLE, "")
        self._told = int(text) if text.isdecimal() else 0

    def connect(self, wake: Callable[[str], None]) -> None:
        """Look claims up in the shared caches."""
        if self.context.informers is not None:
            self._claims = Claims(self.context.informers, wake)

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod has no volume that may be such a disk."""
        return not claim_names(pod.pod) and not any(self.source in volume for volume in _volumes(pod.pod))

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes with room for the pod's disks that are not there yet."""
        refused = np.zeros(len(nodes), dtype=bool)
        why = self._claims.unusable(pod.pod) if self._claims is not None else ""
        if why:
            return Filtered(refused, {why: ~refused}, ~refused)
        wanted = self._disks(pod.pod)
        for index in range(len(nodes)) if wanted else ():
            if not self._moved(nodes.names[index]):
                disks = wanted.union(*(self._disks(each) for each in nodes.pods(index)))
                refused[index] = len(disks) > self.limit(nodes.node(index))
        return Filtered(~refused, {REASON: refused} if refused.any() else {})

    def limit(self, node: Object) -> int:
        """Return how many disks a node takes: its own word, else the environment's, else what is usual."""
        own = ((node.get("status") or {}).get("allocatable") or {}).get(self.resource)
        return int(own) if own is not None else self._told or self.usual_of(node)

    def usual_of(self, node: Object) -> int:
        """Return how many disks such a machine usually takes."""
        return self.usual

    def _moved(self, node: str) -> bool:
        csi_node = self._claims.csi_node(node) if self._claims is not None else None
        return self.provisioner in annotations_of(csi_node or {}).get(MIGRATED_PLUGINS, "").split(",")

    def _disks(self, pod: Object) -> set[str]:
        found = {self._disk(volume) for volume in _volumes(pod)}
        found |= {self._behind(namespace_of(pod), name) for name, _ in claim_names(pod)}
        return found - {""}

    def _disk(self, volume: Object) -> str:
        return str((volume.get(self.source) or {}).get(self.id_field, ""))

    def _behind(self, namespace: str, name: str) -> str:
        """Return the disk behind a claim; one without a volume that its class would make such a disk for, itself."""
        claim = self._claims.claim(namespace, name) if self._claims is not None else None
        if claim is None or self._claims is None:
            return ""
        volume = self._claims.volume(claim["spec"].get("volumeName") or "")
        if volume is not None:
            return self._disk(volume["spec"])
        found = self._claims.storage_class(claim)
        return f"claim {namespace}/{name}" if found is not None and found["provisioner"] == self.provisioner else ""


def _volumes(pod: Object) -> list[Object]:
    return list(pod.get("spec", {}).get("volumes") or ())


class EBSLimits(_CloudLimits):
    """Amazon's disks: 39 a machine, 25 of those with Nitro."""

    source, id_field, provisioner = "awsElasticBlockStore", "volumeID", "kubernetes.io/aws-ebs"
    resource, usual = "attachable-volumes-aws-ebs", 39
    nitro, usual_with_nitro = re.compile(r"^[cmr]5.*|t3|z1d"), 25

    def usual_of(self, node: Object) -> int:
        """Return how many disks such a machine usually takes."""
        kind = next((labels_of(node)[key] for key in MACHINE_TYPES if key in labels_of(node)), "")
        return self.usual_with_nitro if self.nitro.search(kind) else self.usual


class GCEPDLimits(_CloudLimits):
    """Google's disks: 16 a machine."""

    source, id_field, provisioner = "gcePersistentDisk", "pdName", "kubernetes.io/gce-pd"
    resource, usual = "attachable-volumes-gce-pd", 16


class AzureDiskLimits(_CloudLimits):
    """Azure's disks: 16 a machine."""

    source, id_field, provisioner = "azureDisk", "diskName", "kubernetes.io/azure-disk"
    resource, usual = "attachable-volumes-azure-disk", 16


class CinderLimits(_CloudLimits):
    """OpenStack's disks: 256 a machine."""

    source, id_field, provisioner = "cinder", "volumeID", "kubernetes.io/cinder"
    resource, usual = "attachable-volumes-cinder", 256
