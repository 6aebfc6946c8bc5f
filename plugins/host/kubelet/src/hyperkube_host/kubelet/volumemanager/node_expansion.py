"""The node's part of growing a volume: its file system, while it is mounted; the claim says so afterwards.

Source: kubernetes ``pkg/volume/util/operationexecutor/node_expander.go``.
"""

from __future__ import annotations

from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.objects.object_cache import ObjectCache
from hyperkube_host.kubelet.volumemanager.actual_state import MountedForPod
from hyperkube_host.kubelet.volumemanager.mount_volume import VolumeMounter
from hyperkube_host.kubelet.volumemanager.pod_volumes import PodVolume

from hyperkube.client.client import Client
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.hookspecs.volume_storage import NodeExpandable
from hyperkube.kinds.conditions import without_condition
from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, name_of, namespace_of
from hyperkube.machinery.quantity import parse

_CONDITIONS = ("Resizing", "FileSystemResizePending")


class NodeExpansion:
    """Grows volumes on the node."""

    def __init__(
        self,
        client: Client | None,
        objects: ObjectCache,
        mounter: VolumeMounter,
        recorder: KubeletEventRecorder | None,
        node_name: str,
    ) -> None:
        self._client = client
        self._objects = objects
        self._mounter = mounter
        self._recorder = recorder
        self._node_name = node_name

    def wanted(self, mounted: MountedForPod) -> str:
        """Return the size that a volume has and its claim does not tell yet; empty if they agree."""
        volume = mounted.volume
        claim = volume.claim
        if self._client is None or claim is None or volume.spec.read_only:
            return ""
        if not isinstance(volume.plugin, NodeExpandable):
            return ""
        try:
            fresh = self._objects.get(PERSISTENT_VOLUME_CLAIMS, namespace_of(claim), name_of(claim))
            behind = self._objects.get(PERSISTENT_VOLUMES, "", volume.spec.name)
        except (ApiError, ConnectionError):
            return ""  # looked at again at the next sync
        has = ((fresh.get("status") or {}).get("capacity") or {}).get("storage")
        size = ((behind.get("spec") or {}).get("capacity") or {}).get("storage")
        return str(size) if has and size and parse(str(size)).value() > parse(str(has)).value() else ""

    def expand(self, pod: Object, mounted: MountedForPod, size: str) -> None:
        """Grow a volume, and write its new size into the claim.

        Raises:
            VolumeFailed: it did not grow.
            ApiError: the claim cannot be written.
        """
        volume, plugin = mounted.volume, mounted.volume.plugin
        if self._client is None or not isinstance(plugin, NodeExpandable):
            return
        request = self._mounter.device_request(pod, volume, mounted.path)
        try:
            done = plugin.node_expand(request, parse(size).value())
        except (VolumeFailed, OSError) as error:
            text = f'MountVolume.NodeExpandVolume failed for volume "{volume.spec.name}" : {error}'
            self._tell(pod, "Warning", "VolumeResizeFailed", text)
            raise
        if not done:
            return
        self._write(self._client, volume, size)
        text = f'MountVolume.NodeExpandVolume succeeded for volume "{volume.spec.name}" {self._node_name}'
        self._tell(pod, "Normal", "FileSystemResizeSuccessful", text)

    def _write(self, client: Client, volume: PodVolume, size: str) -> None:
        claim = volume.claim or {}
        fresh = client.get(PERSISTENT_VOLUME_CLAIMS, name_of(claim), namespace_of(claim))
        conditions = (fresh.get("status") or {}).get("conditions") or []
        for kind in _CONDITIONS:
            conditions = without_condition(conditions, kind)
        status: Object = {"capacity": {"storage": size}, "conditions": conditions or None}
        if "storage" in ((fresh.get("status") or {}).get("allocatedResourceStatuses") or {}):
            status["allocatedResourceStatuses"] = {"storage": None}  # who grows volumes told that the node is to go on
        client.patch(
            PERSISTENT_VOLUME_CLAIMS, name_of(claim), {"status": status}, namespace_of(claim), subresource="status"
        )

    def _tell(self, pod: Object, kind: str, reason: str, text: str) -> None:
        if self._recorder is not None:
            self._recorder.pod_event(pod, kind, reason, text)
