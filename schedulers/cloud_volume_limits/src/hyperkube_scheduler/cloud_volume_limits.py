"""EBSLimits, GCEPDLimits, AzureDiskLimits, CinderLimits: a machine of a cloud takes so many disks and no more.

Source: kubernetes 1.20 ``pkg/scheduler/framework/plugins/nodevolumelimits/non_csi.go``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import ClassVar

import numpy as np
from hyperkube_lib.scheduling.claims import CHANGES, Claims

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import Filtered, FilterPlugin, NodeTable, PodInfo
from hyperkube.machinery.objects import Object

REASON = "node(s) exceed max volume count"
LIMIT_VARIABLE = "KUBE_MAX_PD_VOLS"
"""Overrides the usual limit of every kind, as it does upstream."""


class _CloudLimits(FilterPlugin):
    """Counts the distinct disks of one kind on each node; a node's own ``attachable-volumes-…`` wins over `usual`."""

    source: ClassVar[str]
    id_field: ClassVar[str]
    resource: ClassVar[str]
    usual: ClassVar[int]
    wakes_on = CHANGES | {"node", "pod gone"}
    skips_by_template = True
    _claims: Claims | None = None

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        text = os.environ.get(LIMIT_VARIABLE, "")
        self._usual = int(text) if text.isdecimal() and int(text) > 0 else self.usual

    def connect(self, wake: Callable[[str], None]) -> None:
        """Look claims up in the shared caches."""
        if self.context.informers is not None:
            self._claims = Claims(self.context.informers, wake)

    def skips(self, pod: PodInfo) -> bool:
        """Tell that the pod has no volume that may be such a disk."""
        volumes = pod.pod.get("spec", {}).get("volumes") or ()
        return not any(
            kind in volume for volume in volumes for kind in (self.source, "persistentVolumeClaim", "ephemeral")
        )

    def filter(self, pod: PodInfo, nodes: NodeTable) -> Filtered:
        """Keep the nodes with room for the pod's disks that are not there yet."""
        wanted = self._disks([pod.pod])
        refused = np.zeros(len(nodes), dtype=bool)
        for index in range(len(nodes)) if wanted else ():
            there = self._disks(nodes.pods(index))
            refused[index] = bool(wanted - there) and len(there | wanted) > self._limit(nodes.node(index))
        return Filtered(~refused, {REASON: refused} if refused.any() else {})

    def _limit(self, node: Object) -> int:
        own = ((node.get("status") or {}).get("allocatable") or {}).get(self.resource)
        return int(own) if own is not None else self._usual

    def _disks(self, pods: Iterable[Object]) -> set[str]:
        found: set[str] = set()
        for pod in pods:
            for volume in pod.get("spec", {}).get("volumes") or ():
                if volume.get(self.source):
                    found.add(str(volume[self.source][self.id_field]))
            for volume in self._claims.bound_volumes(pod) if self._claims is not None else ():
                if volume["spec"].get(self.source):
                    found.add(str(volume["spec"][self.source][self.id_field]))
        return found


class EBSLimits(_CloudLimits):
    """Amazon's disks: 39 a machine."""

    source, id_field = "awsElasticBlockStore", "volumeID"
    resource, usual = "attachable-volumes-aws-ebs", 39


class GCEPDLimits(_CloudLimits):
    """Google's disks: 16 a machine."""

    source, id_field = "gcePersistentDisk", "pdName"
    resource, usual = "attachable-volumes-gce-pd", 16


class AzureDiskLimits(_CloudLimits):
    """Azure's disks: 16 a machine."""

    source, id_field = "azureDisk", "diskName"
    resource, usual = "attachable-volumes-azure-disk", 16


class CinderLimits(_CloudLimits):
    """OpenStack's disks: 256 a machine."""

    source, id_field = "cinder", "volumeID"
    resource, usual = "attachable-volumes-cinder", 256
