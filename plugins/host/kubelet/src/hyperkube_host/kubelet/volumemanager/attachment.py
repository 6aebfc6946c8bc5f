"""Volumes are attached to the node by the attach-detach controller, which the node's status tells, or by the kubelet.

Source: kubernetes ``operation_generator.go`` (GenerateVerifyControllerAttachedVolumeFunc, GenerateAttachVolumeFunc).
"""

from __future__ import annotations

from hyperkube_host.kubelet.volumemanager.pod_volumes import PodVolume

from hyperkube.client.client import Client
from hyperkube.hookspecs.volume import Attachable, VolumeFailed
from hyperkube.kinds.resources import NODES
from hyperkube.machinery.objects import Object, name_of


class Attachments:
    """Has volumes attached."""

    def __init__(self, client: Client | None, *, by_controller: bool) -> None:
        """A kubelet without an API server attaches volumes itself, whatever `by_controller` says."""
        self._client = client if by_controller else None

    @property
    def by_controller(self) -> bool:
        """Whether the controller does it."""
        return self._client is not None

    def attach(self, volume: PodVolume, plugin: Attachable, node: Object) -> str:
        """Return the device of a volume, attached now or before.

        Raises:
            VolumeFailed: it is not attached.
            ApiError: the node cannot be read.
        """
        if self._client is None:
            return plugin.attach(volume.spec, node)
        fresh = self._client.get(NODES, name_of(node))
        for attached in (fresh.get("status") or {}).get("volumesAttached") or ():
            if attached["name"] == volume.unique_name:
                return str(attached.get("devicePath") or "")
        raise VolumeFailed("Volume not attached according to node status")

    def detach(self, volume: PodVolume, plugin: Attachable, node: Object) -> None:
        """Detach a volume, unless the controller does: it sees that the volume is not in use any more.

        Raises:
            VolumeFailed: it cannot be detached.
        """
        if self._client is None:
            plugin.detach(plugin.volume_name(volume.spec), name_of(node))
