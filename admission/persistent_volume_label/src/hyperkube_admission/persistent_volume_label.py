"""PersistentVolumeLabel: a volume says in which zone its disk is, so that pods are put where it can be attached.

The cloud provider that a volume's source belongs to is asked (a plugin of the family ``cloud``: ``aws``, ``gce``,
``azure``, ``openstack``, ``vsphere``), once it is needed, with ``--cloud-config``. Its labels replace those given, and
the volume's node affinity gets the same requirements unless it has such of its own.
Source: kubernetes ``plugin/pkg/admission/storage/persistentvolume/label/admission.go`` (up to 1.30).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import partial

from hyperkube.hookspecs import cloud as cloud_specs
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.admission import AdmissionRequest
from hyperkube.hookspecs.cloud import Cloud, CloudHooks, Volumes
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import Forbidden, HyperkubeError, UsageError
from hyperkube.machinery.objects import Object, annotations_of, labels_of
from hyperkube.plugin import Plugin, PluginContext, PluginHost, load

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
OLD_ZONE, OLD_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
_PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
_BEING_PROVISIONED = "placeholder-for-provisioning"
_BETWEEN_ZONES = "__"


@dataclass(frozen=True, slots=True)
class Disk:
    """A volume source, its provider, and Kubernetes' words for both."""

    source: str
    member: str
    provider: str
    shown: str
    unbuilt: str
    unable: str


DISKS = (
    Disk("awsElasticBlockStore", "volumeID", "aws", "AWS EBS volume",
         "AWS cloud provider for EBS", "AWS cloud provider"),
    Disk("gcePersistentDisk", "pdName", "gce", "GCE PD volume", "GCE cloud provider for PD", "GCE cloud provider"),
    Disk(
        "azureDisk", "diskName", "azure", "AzureDisk volume",
        "Azure cloud provider for AzureDisk", "Azure cloud provider",
    ),
    Disk(
        "cinder", "volumeID", "openstack", "Cinder volume",
        "OpenStack cloud provider for Cinder disk", "OpenStack cloud provider",
    ),
    Disk("vsphereVolume", "volumePath", "vsphere", "vSphere Volume",
         "vSphere cloud provider", "vSphere Cloud Provider"),
)  # fmt: skip


def trusted(volume: Object) -> dict[str, str]:
    """Return the labels that a provisioner gave the volume it made, or none if they are not complete."""
    if _PROVISIONED_BY not in annotations_of(volume):
        return {}
    labels = labels_of(volume)
    for zone, region in ((ZONE, REGION), (OLD_ZONE, OLD_REGION)):
        if zone in labels and region in labels:
            return {zone: labels[zone], region: labels[region]}
    return {}


def apply(volume: Object, labels: Mapping[str, str]) -> None:
    """Give a volume, in place, labels and the node affinity that follows from them.

    Raises:
        Forbidden: the zones cannot be read.
    """
    volume.setdefault("metadata", {}).setdefault("labels", {}).update(labels)
    wanted = [{"key": key, "operator": "In", "values": _values(key, value)} for key, value in sorted(labels.items())]
    affinity = volume.setdefault("spec", {}).get("nodeAffinity") or {}
    required = affinity.get("required") or {}
    terms = required.get("nodeSelectorTerms") or [{}]
    volume["spec"]["nodeAffinity"] = {**affinity, "required": {**required, "nodeSelectorTerms": terms}}
    there = {row.get("key") for term in terms for row in term.get("matchExpressions") or ()}
    if there & set(labels):
        return
    for term in terms:
        term["matchExpressions"] = [*(term.get("matchExpressions") or ()), *wanted]


def _values(key: str, value: str) -> list[str]:
    if key not in {ZONE, OLD_ZONE}:
        return [value]
    zones = sorted({zone.strip() for zone in value.split(_BETWEEN_ZONES)})
    if not all(zones):
        raise Forbidden(f"failed to convert label string for Zone: {value} to a Set")
    return zones


class PersistentVolumeLabel(Plugin):
    """Labels new persistent volumes on cloud disks."""

    handles = frozenset({"persistentvolumes"})

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._lock = threading.Lock()
        self._clouds: dict[str, tuple[PluginHost[CloudHooks], Cloud]] = {}
        context.logger.warning(
            "PersistentVolumeLabel admission controller is deprecated. "
            "Please remove this controller from your configuration files and scripts."
        )

    @hookimpl
    def admission_mutate(self, request: AdmissionRequest) -> None:
        """Ask the disk's provider, unless a provisioner has said it all."""
        if not request.creates("persistentvolumes"):
            return
        volume = request.written()
        labels = trusted(volume) or self._asked(volume)
        if labels:
            apply(volume, labels)

    def _asked(self, volume: Object) -> dict[str, str]:
        spec = volume.get("spec") or {}
        disk = next((disk for disk in DISKS if spec.get(disk.source) is not None), None)
        if disk is None:
            return {}
        name = str(spec[disk.source].get(disk.member) or "")
        if name == _BEING_PROVISIONED and disk.provider != "vsphere":
            return {}
        try:
            return self._volumes(disk).labels(volume)
        except HyperkubeError as error:
            raise Forbidden(f"error querying {disk.shown} {name}: {error}") from error

    def _volumes(self, disk: Disk) -> Volumes:
        with self._lock:
            if disk.provider not in self._clouds:
                try:
                    host = load("cloud", [disk.provider], cloud_specs, partial(self.context.of_plugin, "cloud"))
                except UsageError as error:
                    raise UsageError(f"unable to build {disk.unbuilt}: {error}") from error
                self._clouds[disk.provider] = host, host.hook.cloud_provider()
            _, cloud = self._clouds[disk.provider]
        if cloud.volumes is None:
            raise UsageError(f"{disk.unable} does not implement PV labeling")
        return cloud.volumes

    def close(self) -> None:
        """Close the cloud providers."""
        for host, _ in self._clouds.values():
            host.close()
