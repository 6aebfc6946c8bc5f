"""Whole objects: PersistentVolumes there and back, volumes of pods, and classes.

Source: csi-translation-lib ``translate.go`` and the plugins' own files.
"""

from __future__ import annotations

from collections.abc import Iterable

from hyperkube_lib.csi_translation.kinds import (
    UNSPECIFIED,
    InTreeKind,
    TranslationFailed,
    azure_file_marks,
    gce_region,
    kind_of_driver,
    kind_of_provisioner,
    kind_of_volume,
)
from hyperkube_lib.csi_translation.topology import (
    allowed_topologies,
    both_moved,
    both_moved_back,
    moved_back,
    moved_terms,
)

from hyperkube.hookspecs.volume import VolumeSpec
from hyperkube.machinery.objects import Object, annotations_of, name_of

FS_TYPE = "csi.storage.k8s.io/fstype"
_GCE, _AZURE_DISK, _VSPHERE = "gcePersistentDisk", "azureDisk", "vsphereVolume"
_PORTWORX, _AZURE_FILE, _CINDER = "portworxVolume", "azureFile", "cinder"
_WITHOUT_READ_ONLY = frozenset({_VSPHERE, _PORTWORX})
_VSPHERE_PARAMETERS = frozenset(
    {"datastore", "diskformat", "hostfailurestotolerate", "forceprovisioning", "cachereservation", "diskstripes",
     "objectspacereservation", "iopslimit"}
)  # fmt: skip


def taken_over(spec: VolumeSpec, namespace: str) -> VolumeSpec | None:
    """Return a volume as the CSI driver knows it that took its kind over; None for one without such a driver.

    Args:
        spec: the volume.
        namespace: of the pod that has it.

    Raises:
        TranslationFailed: what it says cannot be said so.
    """
    kind = kind_of_volume(spec.volume)
    if kind is None:
        return None
    owner = spec.persistent_volume
    moved = translated_inline(spec.volume, namespace) if owner is None else translated_volume(owner)
    assert moved is not None  # noqa: S101  its kind was found just now
    read_only = spec.read_only or bool(spec.volume[kind.source].get("readOnly"))
    volume = {"name": name_of(moved), **moved["spec"]}
    return VolumeSpec(volume=volume, persistent_volume=moved, read_only=read_only)


def translated_volume(volume: Object) -> Object:
    """Return a PersistentVolume as its CSI driver knows it; one that no driver took over as it is.

    Raises:
        TranslationFailed: what it says cannot be said so.
    """
    kind = kind_of_volume(volume["spec"])
    if kind is None:
        return volume
    spec = {key: value for key, value in volume["spec"].items() if key != kind.source}
    spec["csi"] = _csi(kind, volume["spec"][kind.source], volume)
    if terms := _moved_terms(kind, volume):
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    if kind.source == _GCE and spec.get("accessModes"):
        spec["accessModes"] = _gce_modes(spec["accessModes"])
    return {**volume, "spec": spec}


def translated_inline(volume: Object, namespace: str) -> Object | None:
    """Return a volume of a pod as a PersistentVolume of its CSI driver, None for one that no driver took over.

    Its name is unique for each volume and the same for all pods that have it.

    Raises:
        TranslationFailed: what it says cannot be said so.
    """
    kind = kind_of_volume(volume)
    if kind is None:
        return None
    source = volume[kind.source]
    csi = _csi(kind, source, {"metadata": {"namespace": namespace}})
    unique = csi["volumeHandle"] if kind.unique == "volumeID" else source.get(kind.unique, "")
    mode = kind.modes[bool(source.get("readOnly"))]
    spec = {"csi": csi, "accessModes": [mode], "volumeMode": "Filesystem"}
    return {
        "kind": "PersistentVolume",
        "apiVersion": "v1",
        "metadata": {"name": f"{kind.driver}-{unique}"},
        "spec": spec,
    }


def translated_back(volume: Object) -> Object:
    """Return a PersistentVolume of a CSI driver as the kind in the tree knew it.

    Raises:
        TranslationFailed: the driver took over no kind, or what it says cannot be said so.
    """
    csi = volume["spec"]["csi"]
    kind = kind_of_driver(csi["driver"])
    if kind is None:
        raise TranslationFailed(f"could not find in-tree plugin translation logic for {csi['driver']}")
    source = kind.to_in_tree(csi)
    if csi.get("readOnly") and kind.source != _VSPHERE:
        source["readOnly"] = True
    if kind.fs_type and csi.get("fsType"):
        source.setdefault("fsType", csi["fsType"])
    moved = _moved_back(kind, volume)
    if kind.source == _AZURE_FILE and (marks := azure_file_marks(csi)):
        moved = {**moved, "metadata": {**moved["metadata"], "annotations": {**annotations_of(moved), **marks}}}
    spec = {key: value for key, value in moved["spec"].items() if key != "csi"}
    return {**moved, "spec": {**spec, kind.source: source}}


def translated_class(storage_class: Object) -> Object:
    """Return a StorageClass of a provisioner in the tree as its CSI driver reads it; any other as it is.

    Raises:
        TranslationFailed: it names zones twice.
    """
    kind = kind_of_provisioner(str(storage_class.get("provisioner", "")))
    if kind is None:
        return storage_class
    given = storage_class.get("parameters") or {}
    parameters, zones = _parameters(kind, given)
    allowed = storage_class.get("allowedTopologies") or []
    if zones and allowed:
        raise TranslationFailed("cannot simultaneously set allowed topologies and zone/zones parameters")
    topology = kind.topology or kind.class_topology
    if topology:
        allowed = allowed_topologies(allowed, topology)
    if zones:
        allowed = [{"matchLabelExpressions": [{"key": topology, "values": zones}]}]
    found = {**storage_class, "provisioner": kind.driver, "parameters": parameters}
    return {**found, "allowedTopologies": allowed} if allowed else found


def repaired_handle(handle: str, node_id: str) -> str:
    """Return the handle of a disk of Google with what its volume did not say, which the node's id does.

    Raises:
        TranslationFailed: the node's id does not tell.
    """
    parts = handle.split("/")
    if parts[:2] != ["projects", UNSPECIFIED] or len(parts) < 6:
        return handle
    node = node_id.split("/")
    if len(node) < 6:
        raise TranslationFailed(f"node handle has wrong number of elements; got {len(node)}, wanted 6 or more")
    if parts[3] == UNSPECIFIED:
        parts[3] = node[3] if parts[2] == "zones" else gce_region(node[3])
    return "/".join(["projects", node[1], *parts[2:6]])


def _moved_terms(kind: InTreeKind, volume: Object) -> list[Object]:
    if kind.region_topology:
        return both_moved(volume, kind.topology, kind.region_topology)
    return moved_terms(volume, kind.topology) if kind.topology else []


def _moved_back(kind: InTreeKind, volume: Object) -> Object:
    if kind.region_topology:
        return both_moved_back(volume, kind.topology, kind.region_topology)
    return moved_back(volume, kind.topology, kind.region_of) if kind.topology else volume


def _csi(kind: InTreeKind, source: Object, owner: Object) -> Object:
    csi = {"driver": kind.driver, **kind.to_csi(source, owner)}
    if source.get("readOnly") and kind.source not in _WITHOUT_READ_ONLY:
        csi["readOnly"] = True
    if kind.fs_type and source.get("fsType"):
        csi["fsType"] = source["fsType"]
    return csi


def _parameters(kind: InTreeKind, given: Object) -> tuple[Object, list[str]]:
    """Return a class' parameters for the driver, and the zones that they name."""
    if kind.source in {_AZURE_FILE, _PORTWORX}:
        return dict(given), []
    found: Object = {}
    zones: list[str] = []
    for key, value in given.items():
        word = key.lower()
        if word == "fstype" and kind.source != _AZURE_DISK:
            found[FS_TYPE] = value
        elif kind.source == _VSPHERE:
            found |= _vsphere_parameter(word, value)
        elif word in {"zone", "zones"} and kind.source != _CINDER:
            zones = value.split(",") if word == "zones" else [value]
        else:
            found[key] = value
    if kind.source == _AZURE_DISK:
        found["csi-migration"] = "true"
    if kind.source == _VSPHERE:
        found["csimigration"] = "true"
    return found, zones


def _vsphere_parameter(word: str, value: str) -> Object:
    if word == "storagepolicyname":
        return {word: value}
    return {f"{word}-migrationparam": value} if word in _VSPHERE_PARAMETERS else {}


def _gce_modes(modes: Iterable[str]) -> list[str]:
    """Return access modes that the driver takes: the kind in the tree checked none, and wrote from one node."""
    return ["ReadOnlyMany"] if set(modes) == {"ReadOnlyMany"} else ["ReadWriteOnce"]
