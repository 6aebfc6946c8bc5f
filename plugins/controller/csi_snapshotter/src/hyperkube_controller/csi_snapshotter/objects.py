"""The kinds of ``snapshot.storage.k8s.io``, the names on them, and the objects that are made.

Source: external-snapshotter ``pkg/utils/util.go``, ``client/apis/volumesnapshot/v1/types.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from hyperkube_lib.csi_controllers import SecretKind, secret_reference

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import (
    Object,
    annotations_of,
    metadata,
    name_of,
    namespace_of,
    uid_of,
)
from hyperkube.machinery.quantity import Quantity
from hyperkube.machinery.times import format_time

GROUP = "snapshot.storage.k8s.io"
SNAPSHOTS = GroupVersionResource(GROUP, "v1", "volumesnapshots")
CONTENTS = GroupVersionResource(GROUP, "v1", "volumesnapshotcontents")
CLASSES = GroupVersionResource(GROUP, "v1", "volumesnapshotclasses")
_PREFIX = "snapshot.storage.kubernetes.io/"
AS_SOURCE = f"{_PREFIX}volumesnapshot-as-source-protection"
BOUND = f"{_PREFIX}volumesnapshot-bound-protection"
CONTENT_BOUND = f"{_PREFIX}volumesnapshotcontent-bound-protection"
CLAIM_AS_SOURCE = f"{_PREFIX}pvc-as-source-protection"
BEING_CREATED = f"{_PREFIX}volumesnapshot-being-created"
BEING_DELETED = f"{_PREFIX}volumesnapshot-being-deleted"
DEFAULT_CLASS = f"{_PREFIX}is-default-class"
DELETION_SECRET = (f"{_PREFIX}deletion-secret-name", f"{_PREFIX}deletion-secret-namespace")


def annotated(obj: Object, marks: Mapping[str, str | None]) -> Object:
    """Return an object with annotations set, or taken away where they are None."""
    found = {key: value for key, value in {**annotations_of(obj), **marks}.items() if value is not None}
    return {**obj, "metadata": {**metadata(obj), "annotations": found}}


def default_class(classes: Iterable[Object], driver: str) -> Object:
    """Return the class for snapshots that name none.

    Raises:
        VolumeFailed: there is none for the driver, or more than one.
    """
    found = [each for each in classes if annotations_of(each).get(DEFAULT_CLASS) == "true" and each["driver"] == driver]
    if not found:
        raise VolumeFailed("cannot find default snapshot class")
    if len(found) > 1:
        raise VolumeFailed(f"{len(found)} default snapshot classes were found")
    return found[0]


def content_of(snapshot: Object, volume: Object, snapshot_class: Object) -> Object:
    """Return the content of a snapshot of a volume.

    Raises:
        VolumeFailed: the class names its secret wrongly.
    """
    name = f"snapcontent-{uid_of(snapshot)}"
    marks = {}
    secret = _secret(snapshot_class, name, snapshot)
    if secret:
        marks = dict(zip(DELETION_SECRET, (secret["name"], secret["namespace"]), strict=True))
    reference = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "VolumeSnapshot",
        "namespace": namespace_of(snapshot),
        "name": name_of(snapshot),
        "uid": uid_of(snapshot),
        "resourceVersion": metadata(snapshot).get("resourceVersion", ""),
    }
    spec = {
        "volumeSnapshotRef": reference,
        "source": {"volumeHandle": volume["spec"]["csi"]["volumeHandle"]},
        "volumeSnapshotClassName": name_of(snapshot_class),
        "deletionPolicy": snapshot_class["deletionPolicy"],
        "driver": snapshot_class["driver"],
        "sourceVolumeMode": volume["spec"].get("volumeMode") or "Filesystem",
    }
    meta = {"name": name, "annotations": marks, "finalizers": [CONTENT_BOUND]}
    return {"apiVersion": f"{GROUP}/v1", "kind": "VolumeSnapshotContent", "metadata": meta, "spec": spec}


def _secret(snapshot_class: Object, content_name: str, snapshot: Object) -> Object:
    namespaces = {
        "volumesnapshotcontent.name": content_name,
        "volumesnapshot.namespace": namespace_of(snapshot),
    }
    names = {**namespaces, "volumesnapshot.name": name_of(snapshot)}
    names |= {f"volumesnapshot.annotations['{key}']": value for key, value in annotations_of(snapshot).items()}
    return secret_reference(SecretKind.SNAPSHOTTER, snapshot_class.get("parameters") or {}, names, namespaces)


def content_status(answer: Mapping[str, Any]) -> Object:
    """Return the status of a content whose driver answered with ``Snapshot``."""
    made = answer.get("creation_time") or {}
    nanoseconds = int(made.get("seconds") or 0) * 10**9 + int(made.get("nanos") or 0)
    return {
        "snapshotHandle": answer["snapshot_id"],
        "creationTime": nanoseconds,
        "restoreSize": int(answer.get("size_bytes") or 0),
        "readyToUse": bool(answer.get("ready_to_use")),
    }


def snapshot_status(content: Object) -> Object:
    """Return the status of a snapshot that is bound to a content."""
    told = content.get("status") or {}
    found: Object = {"boundVolumeSnapshotContentName": name_of(content), "readyToUse": bool(told.get("readyToUse"))}
    if told.get("creationTime"):
        found["creationTime"] = format_time(datetime.fromtimestamp(told["creationTime"] // 10**9, UTC))
    if told.get("restoreSize") is not None:
        found["restoreSize"] = str(Quantity(int(told["restoreSize"]), form="BinarySI"))
    if told.get("error"):
        found["error"] = told["error"]
    return found


def error_status(obj: Object, text: str, now: datetime) -> Object:
    """Return the status of an object that failed; the time is that of the first failure of this text."""
    status = {"readyToUse": False, **(obj.get("status") or {})}
    if (status.get("error") or {}).get("message") == text:
        return status
    return {**status, "readyToUse": False, "error": {"message": text, "time": format_time(now)}}
