"""The node service: an attached disk gets a file system if it has none, and is mounted; or a pod gets the device.

Nothing here asks the cloud: what a node is, its Node says once the cloud has described it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hyperkube_csi.cloud_disks.controller_service import DEVICE
from hyperkube_csi.cloud_disks.devices import candidates, present
from hyperkube_csi.cloud_disks.names import Names
from hyperkube_lib.cloud_provider.nodes import ZONE, provider_id_of
from hyperkube_lib.csi import refused
from hyperkube_lib.csi.staged_volumes import StagedVolumes
from hyperkube_lib.volume_mount import Mounter, disk_format, format_and_mount, grow_file_system, mount_table

from hyperkube.kinds.resources import NODES
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import labels_of

Answer = dict[str, Any]
Request = Mapping[str, Any]
DEVICE_SECONDS: Final = 10.0
"""How long a call waits for a device; the caller calls again after that."""
LOOK_SECONDS: Final = 0.5


class NodeService(StagedVolumes):
    """What a node does; see `CsiDriver`."""

    names: Names
    mounter = Mounter()

    def node_name(self) -> str:
        """Return the name of the node that this is."""
        raise NotImplementedError

    def node_get_info(self, _request: Request) -> Answer:
        """Tell the node's id and zone, once its cloud has described it."""
        name = self.node_name()
        try:
            node = self.client.get(NODES, name)
        except (ApiError, ConnectionError) as error:
            raise refused("UNAVAILABLE", f"node {name} cannot be read: {error}") from error
        if not provider_id_of(node):
            raise refused("UNAVAILABLE", f"node {name} has no provider id yet")
        info: Answer = {
            "node_id": self.names.node_id(name, provider_id_of(node)),
            "accessible_topology": {"segments": {self.names.topology: labels_of(node).get(ZONE, "")}},
        }
        return {**info, "max_volumes_per_node": self.names.most} if self.names.most else info

    def node_stage_volume(self, request: Request) -> Answer:
        """Mount a disk once for the node, an empty one with a new file system; a device is left as it is."""
        staging, use = str(request["staging_target_path"]), request.get("volume_capability") or {}
        device = self._device(request)
        if "block" in use or self.mounter.is_mount_point(staging):
            return {}
        Path(staging).mkdir(parents=True, exist_ok=True)
        self._mount(device, staging, use)
        return {}

    def _mount(self, device: str, staging: str, use: Request) -> None:
        """Mount a disk; one that was made larger than the snapshot in it has its file system follow.

        A copy of an xfs has the id of its origin, which the same node may have mounted (``nouuid``).
        Source: aws-ebs-csi-driver ``pkg/driver/node.go`` (NodeStageVolume).
        """
        mount = use.get("mount") or {}
        fs_type, options = str(mount.get("fs_type") or ""), list(mount.get("mount_flags") or ())
        present = disk_format(self.mounter.programs, device)
        reads = (use.get("access_mode") or {}).get("mode") == "MULTI_NODE_READER_ONLY"
        if reads:
            options.append("ro")
        if (present or fs_type) == "xfs":
            options.append("nouuid")
        format_and_mount(self.mounter, device, staging, fs_type, options)
        if present and not reads:
            grow_file_system(self.mounter.programs, device, staging)

    def node_publish_volume(self, request: Request) -> Answer:
        """Show a staged disk, or its device, at a place of one pod."""
        staging = str(request.get("staging_target_path") or "")
        is_block = "block" in (request.get("volume_capability") or {})
        if not is_block and not (staging and self.mounter.is_mount_point(staging)):
            raise refused("NOT_FOUND", f"volume {request['volume_id']} is not staged on this node")
        if not self.mounter.is_mount_point(str(request["target_path"])):
            self.bind(self._device(request) if is_block else staging, request, is_block=is_block)
        return {}

    def node_expand_volume(self, request: Request) -> Answer:
        """Let the file system take all of a disk that has grown."""
        place = str(request.get("staging_target_path") or request.get("volume_path") or "")
        if "block" not in (request.get("volume_capability") or {}):
            device = next((row.source for row in reversed(mount_table()) if row.path == place), "")
            if not device:
                raise refused("NOT_FOUND", f"nothing is mounted at {place}")
            grow_file_system(self.mounter.programs, device, place)
        return {}

    def _device(self, request: Request) -> str:
        """Return the device of a disk; waits a while for it.

        Raises:
            CsiFailed: it did not come.
        """
        told = str((request.get("publish_context") or {}).get(DEVICE) or "")
        paths = candidates(self.names.cloud, str(request["volume_id"]), told)
        partition = str((request.get("volume_context") or {}).get("partition") or "")
        clock = self.context.clock
        end = clock.monotonic() + DEVICE_SECONDS
        while not (found := present(paths, partition)):
            if clock.monotonic() >= end:
                raise refused("NOT_FOUND", f"no device at {', '.join(paths) or 'any path: the disk is not attached'}")
            clock.sleep(LOOK_SECONDS)
        return found
