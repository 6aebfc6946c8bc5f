"""What a volume is filled with: a clone of another claim's volume, or a snapshot.

Source: external-provisioner ``pkg/controller/controller.go`` (getPVCSource, getSnapshotSource, dataSource).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperkube_controller.csi_provisioner.requests import requested_bytes

from hyperkube.client.client import Client
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from hyperkube.kinds.volumes import class_name
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, annotations_of, is_being_deleted, name_of, namespace_of, uid_of
from hyperkube.machinery.quantity import parse

SNAPSHOT_GROUP = "snapshot.storage.k8s.io"
SNAPSHOTS = GroupVersionResource(SNAPSHOT_GROUP, "v1", "volumesnapshots")
SNAPSHOT_CONTENTS = GroupVersionResource(SNAPSHOT_GROUP, "v1", "volumesnapshotcontents")
CLONING = "provisioner.storage.kubernetes.io/cloning-protection"
ALLOW_MODE_CHANGE = "snapshot.storage.kubernetes.io/allow-volume-mode-change"
_CLAIM, _SNAPSHOT = "PersistentVolumeClaim", "VolumeSnapshot"
_NOT_BOUND = "claim in dataSource not bound or invalid"


class NotOurs(VolumeFailed):
    """A populator fills the volume."""


def source_of(claim: Object) -> Object | None:
    """Return what a claim's volume is filled with: ``dataSourceRef``, else ``dataSource``."""
    spec = claim.get("spec") or {}
    found: Object | None = spec.get("dataSourceRef") or spec.get("dataSource")
    return found


def kind_of(source: Object) -> str:
    """Return ``clone`` or ``snapshot``.

    Raises:
        NotOurs: it is of another kind.
    """
    kind, group = source.get("kind", ""), source.get("apiGroup") or ""
    if kind == _CLAIM and not group:
        return "clone"
    if kind == _SNAPSHOT and group == SNAPSHOT_GROUP:
        return "snapshot"
    raise NotOurs("Assuming an external populator will provision the volume")


def content_source(client: Client, claim: Object, storage_class: Object, source: Object) -> dict[str, Any]:
    """Return the ``VolumeContentSource``.

    Raises:
        VolumeFailed: the source is not ready, or does not fit.
    """
    try:
        if kind_of(source) == "clone":
            return {"volume": {"volume_id": _clone(client, claim, storage_class, source)}}
        return {"snapshot": {"snapshot_id": _snapshot(client, claim, storage_class, source)}}
    except VolumeFailed as error:
        where = f"error getting handle for DataSource Type {source['kind']} by Name {source['name']}"
        raise VolumeFailed(f"{where}: {error}") from error


def _clone(client: Client, claim: Object, storage_class: Object, source: Object) -> str:
    name, namespace = source["name"], namespace_of(claim)
    try:
        original = client.get(PERSISTENT_VOLUME_CLAIMS, name, namespace)
    except ApiError as error:
        raise VolumeFailed(f'error getting PVC {name} (namespace "{namespace}") from api server: {error}') from error
    if (phase := (original.get("status") or {}).get("phase")) != "Bound":
        raise VolumeFailed(f"the PVC DataSource {name} must have a status of Bound.  Got {phase}")
    if is_being_deleted(original):
        raise VolumeFailed(f"the PVC DataSource {name} is currently being deleted")
    if not class_name(original):
        raise VolumeFailed(f"the source PVC ({name}) storageclass cannot be empty")
    asked, has = requested_bytes(claim), requested_bytes(original)
    if asked < has:
        raise VolumeFailed(
            "error, new PVC request must be greater than or equal in size to the specified PVC data source, "
            f"requested {asked} but source is {has}"
        )
    return _handle_of(client, claim, storage_class, original)


def _handle_of(client: Client, claim: Object, storage_class: Object, original: Object) -> str:
    try:
        volume = client.get(PERSISTENT_VOLUMES, original["spec"].get("volumeName", ""))
    except ApiError as error:
        raise VolumeFailed(_NOT_BOUND) from error
    spec, csi = volume["spec"], volume["spec"].get("csi") or {}
    reference = spec.get("claimRef") or {}
    is_bound = (volume.get("status") or {}).get("phase") == "Bound" and reference.get("uid") == uid_of(original)
    if csi.get("driver") != storage_class["provisioner"] or not is_bound:
        raise VolumeFailed(_NOT_BOUND)
    has, wants = (each.get("volumeMode") or "Filesystem" for each in (spec, claim["spec"]))
    if has != wants:
        raise VolumeFailed(
            "the source PVC and destination PVCs must have the same volume mode for cloning.  "
            f"Source is {has}, but new PVC requested {wants}"
        )
    return str(csi["volumeHandle"])


def _snapshot(client: Client, claim: Object, storage_class: Object, source: Object) -> str:
    name, namespace = source["name"], namespace_of(claim)
    try:
        snapshot = client.get(SNAPSHOTS, name, namespace)
    except ApiError as error:
        raise VolumeFailed(f"error getting snapshot {name} from api server: {error}") from error
    if is_being_deleted(snapshot):
        raise VolumeFailed(f"snapshot {name} is currently being deleted")
    status, not_bound = snapshot.get("status") or {}, f"snapshot {name} not bound"
    if not status.get("boundVolumeSnapshotContentName"):
        raise VolumeFailed(not_bound)
    try:
        content = client.get(SNAPSHOT_CONTENTS, status["boundVolumeSnapshotContentName"])
    except ApiError as error:
        raise VolumeFailed(not_bound) from error
    reference = content["spec"].get("volumeSnapshotRef") or {}
    is_its = (reference.get("uid"), reference.get("namespace"), reference.get("name")) == (
        uid_of(snapshot), namespace_of(snapshot), name_of(snapshot),
    )  # fmt: skip
    if not is_its or content["spec"]["driver"] != storage_class["provisioner"]:
        raise VolumeFailed(not_bound)
    if not status.get("readyToUse"):
        raise VolumeFailed(f"snapshot {name} is not Ready")
    handle = (content.get("status") or {}).get("snapshotHandle")
    if not handle:
        raise VolumeFailed(f"snapshot handle {name} is not available")
    _check_snapshot(claim, snapshot, content)
    return str(handle)


def _check_snapshot(claim: Object, snapshot: Object, content: Object) -> None:
    size = (snapshot.get("status") or {}).get("restoreSize")
    least, asked = parse(str(size)).value() if size is not None else 0, requested_bytes(claim)
    if asked < least:
        text = f"requested volume size {asked} is less than the size {least} for the source snapshot"
        raise VolumeFailed(f"{text} {name_of(snapshot)}")
    has, wants = content["spec"].get("sourceVolumeMode"), claim["spec"].get("volumeMode")
    if not has or not wants or has == wants:
        return
    allowed: Mapping[str, str] = annotations_of(content)
    if allowed.get(ALLOW_MODE_CHANGE) == "true":
        return
    where = f"requested volume {namespace_of(claim)}/{name_of(claim)} modifies the mode of the source volume"
    why = (
        f"{ALLOW_MODE_CHANGE} is set to false on snapshotcontent {name_of(content)}"
        if ALLOW_MODE_CHANGE in allowed
        else f"{ALLOW_MODE_CHANGE} annotation is not present on snapshotcontent {name_of(content)}"
    )
    raise VolumeFailed(f"{where} but does not have permission to do so. {why}")
