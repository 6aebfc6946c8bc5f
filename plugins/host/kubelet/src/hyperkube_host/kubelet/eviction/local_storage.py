"""Whether a pod's files take more of the node's disk than they may.

Source: kubernetes ``pkg/kubelet/eviction/eviction_manager.go`` (localStorageEviction).
"""

from __future__ import annotations

from hyperkube_host.kubelet.eviction.messages import (
    container_storage_message,
    empty_dir_message,
    pod_storage_message,
)
from hyperkube_host.kubelet.types.pod_spec import containers_of

from hyperkube.kinds.pods import pod_limits
from hyperkube.machinery import quantity
from hyperkube.machinery.objects import Object

_STORAGE = "ephemeral-storage"


def storage_violation(pod: Object, stats: Object, *, has_image_fs: bool) -> str:
    """Return what is said of a pod that has to go for its files; empty when it may stay.

    Args:
        pod: the pod.
        stats: its part of the summary.
        has_image_fs: whether containers' layers are on another disk than the node's.
    """
    return _empty_dirs(pod, stats) or _pod(pod, stats) or _containers(pod, stats, has_image_fs=has_image_fs)


def _empty_dirs(pod: Object, stats: Object) -> str:
    used = {row["name"]: row.get("usedBytes", 0) for row in stats.get("volume") or ()}
    for volume in pod["spec"].get("volumes") or ():
        limit = (volume.get("emptyDir") or {}).get("sizeLimit")
        if limit is None or volume["name"] not in used:
            continue
        most = quantity.parse(limit).value()
        if 0 < most < used[volume["name"]]:
            return empty_dir_message(volume["name"], str(limit))
    return ""


def _pod(pod: Object, stats: Object) -> str:
    limit = pod_limits(pod).get(_STORAGE)
    used = (stats.get(_STORAGE) or {}).get("usedBytes", 0)
    return pod_storage_message(str(limit)) if limit is not None and used > limit.value() else ""


def _containers(pod: Object, stats: Object, *, has_image_fs: bool) -> str:
    kinds = ("logs",) if has_image_fs else ("logs", "rootfs")
    rows = {row.get("name"): row for row in stats.get("containers") or ()}
    for container in containers_of(pod):
        limit = ((container.get("resources") or {}).get("limits") or {}).get(_STORAGE)
        row = rows.get(container["name"])
        if limit is None or row is None:
            continue
        most = quantity.parse(limit).value()
        used = sum((row.get(kind) or {}).get("usedBytes", 0) for kind in kinds)
        if 0 < most < used:
            return container_storage_message(container["name"], str(limit))
    return ""
