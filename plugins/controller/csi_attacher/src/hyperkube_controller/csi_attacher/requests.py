"""From a VolumeAttachment to the calls of its driver, and what its status says afterwards.

Source: external-attacher ``pkg/controller/csi_handler.go`` (csiAttach, csiDetach), ``util.go``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from hyperkube_lib.csi import access_mode, volume_capability

from hyperkube.hookspecs.volume import BLOCK, VolumeFailed
from hyperkube.machinery.objects import Object, annotations_of, metadata
from hyperkube.machinery.times import format_time

NODE_ID = "csi.alpha.kubernetes.io/node-id"
"""Kept on the attachment: a node that is gone does not tell its id any more, and is detached from all the same."""
_NODE_IDS = "csi.volume.kubernetes.io/nodeid"


def finalizer_of(driver: str) -> str:
    """Return the finalizer of a driver's attachments and attached volumes."""
    return f"external-attacher/{driver.replace('.', '-')}"


def node_id_of(
    attachment: Object, driver: str, csi_node: Object | None, node: Object | None, *, is_detached: bool = False
) -> str:
    """Return what a driver calls a node.

    Args:
        attachment: names the node.
        driver: the driver.
        csi_node: the node's CSINode, if it is there.
        node: the node, if it is there.
        is_detached: whether the id that the attachment has kept will do.

    Raises:
        VolumeFailed: the driver is not on the node.
    """
    for row in ((csi_node or {}).get("spec") or {}).get("drivers") or ():
        if row["name"] == driver:
            return str(row["nodeID"])
    ids = json.loads(annotations_of(node or {}).get(_NODE_IDS) or "{}")
    if driver in ids:
        return str(ids[driver])
    if is_detached and (kept := annotations_of(attachment).get(NODE_ID)):
        return kept
    name = attachment["spec"]["nodeName"]
    if csi_node is None:
        raise VolumeFailed(f'csinode.storage.k8s.io "{name}" not found')
    raise VolumeFailed(f"CSINode {name} does not contain driver {driver}")


def publish_request(spec: Object, node_id: str, secrets: Mapping[str, str], can: frozenset[str]) -> dict[str, Any]:
    """Return ControllerPublishVolume for the spec of a PersistentVolume."""
    source = spec["csi"]
    mode = access_mode(spec.get("accessModes") or (), can)
    capability = volume_capability(
        mode,
        is_block=spec.get("volumeMode") == BLOCK,
        fs_type=source.get("fsType") or "",
        mount_flags=spec.get("mountOptions") or (),
    )
    request: dict[str, Any] = {
        "volume_id": source["volumeHandle"],
        "node_id": node_id,
        "volume_capability": capability,
        "volume_context": dict(source.get("volumeAttributes") or {}),
        "secrets": dict(secrets),
    }
    if source.get("readOnly") and "PUBLISH_READONLY" in can:
        request["readonly"] = True
    return request


def attached(attachment: Object, context: Mapping[str, str]) -> Object:
    """Return the attachment with the status of one that is attached; `context` is for the node."""
    status: Object = {"attached": True}
    if context:
        status["attachmentMetadata"] = dict(context)
    return {**attachment, "status": status}


def with_error(attachment: Object, field: str, error: Exception, now: datetime) -> Object:
    """Return the attachment with ``attachError`` or ``detachError``."""
    told: Object = {"message": str(error), "time": format_time(now)}
    if isinstance(code := getattr(error, "code", None), str):
        told["errorCode"] = CODES.get(code, 2)
    status = {"attached": False, **(attachment.get("status") or {})}
    return {**attachment, "status": {**status, field: told}}


def with_node_id(attachment: Object, node_id: str) -> Object:
    """Return the attachment with the id of its node."""
    kept = {**annotations_of(attachment), NODE_ID: node_id}
    return {**attachment, "metadata": {**metadata(attachment), "annotations": kept}}


CODES = {
    name: number
    for number, name in enumerate(
        (
            "OK",
            "CANCELLED",
            "UNKNOWN",
            "INVALID_ARGUMENT",
            "DEADLINE_EXCEEDED",
            "NOT_FOUND",
            "ALREADY_EXISTS",
            "PERMISSION_DENIED",
            "RESOURCE_EXHAUSTED",
            "FAILED_PRECONDITION",
            "ABORTED",
            "OUT_OF_RANGE",
            "UNIMPLEMENTED",
            "INTERNAL",
            "UNAVAILABLE",
            "DATA_LOSS",
            "UNAUTHENTICATED",
        )
    )
}
"""gRPC's status codes by name."""
