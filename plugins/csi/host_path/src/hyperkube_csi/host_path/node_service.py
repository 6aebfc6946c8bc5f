"""The node service: brings a volume to a folder, or to a device file, of this machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperkube_csi.host_path.copies import copy_options, grows_when_mounted, prepare_copy
from hyperkube_csi.host_path.storage import FOLDER, Record, Storage
from hyperkube_lib.csi import refused
from hyperkube_lib.csi.staged_volumes import StagedVolumes
from hyperkube_lib.volume_mount import (
    Mounter,
    attach_loop,
    detach_loop,
    disk_format,
    format_and_mount,
    grow_file_system,
    loop_of,
)

Answer = dict[str, Any]
Request = Mapping[str, Any]
_SINGLE_WRITER = "SINGLE_NODE_SINGLE_WRITER"


class NodeService(StagedVolumes):
    """What a node does; see `CsiDriver`."""

    mounter = Mounter()

    def storage(self) -> Storage:
        """Return where volumes are."""
        raise NotImplementedError

    def node_stage_volume(self, request: Request) -> Answer:
        """Mount a folder or an image once for the node, an empty image with a new file system."""
        name, staging = str(request["volume_id"]), str(request["staging_target_path"])
        found = self._known(name)
        data, capability = str(self.storage().volumes.data(name)), request.get("volume_capability") or {}
        if "block" in capability:
            attach_loop(self.mounter.programs, data)
            return {}
        if self.mounter.is_mount_point(staging):
            return {}
        Path(staging).mkdir(parents=True, exist_ok=True)
        mount = capability.get("mount") or {}
        options = list(mount.get("mount_flags") or ())
        if found["backing"] == FOLDER:
            self.mounter.mount(data, staging, options=["bind", *options])
            return {}
        device = attach_loop(self.mounter.programs, data)
        if found["source"]:
            self._mount_copy(name, device, staging, options)
        else:
            format_and_mount(self.mounter, device, staging, mount.get("fs_type") or "", options)
        return {}

    def _mount_copy(self, name: str, device: str, staging: str, options: list[str]) -> None:
        """Mount a copy as what it is; the first time it is prepared for that."""
        programs = self.mounter.programs
        is_new = not self._known(name).get("prepared")
        if is_new:
            prepare_copy(programs, device)
        fs_type = disk_format(programs, device)
        format_and_mount(self.mounter, device, staging, fs_type, [*options, *copy_options(fs_type)])
        if is_new and grows_when_mounted(fs_type):
            grow_file_system(programs, device, staging)
        with self.storage().locked():
            self.storage().volumes.change(name, {**self._known(name), "prepared": True})

    def node_unstage_volume(self, request: Request) -> Answer:
        """Unmount, and give the loop device back; the folder is the kubelet's."""
        super().node_unstage_volume(request)
        data = self.storage().volumes.data(str(request["volume_id"]))
        if device := loop_of(str(data)):
            detach_loop(self.mounter.programs, device)
        return {}

    def node_publish_volume(self, request: Request) -> Answer:
        """Show a staged volume at a place of one pod."""
        name, target = str(request["volume_id"]), Path(request["target_path"])
        self._known(name)
        capability = request.get("volume_capability") or {}
        is_block = "block" in capability
        source = self._device(name) if is_block else str(request.get("staging_target_path", ""))
        if not source or (not is_block and not self.mounter.is_mount_point(source)):
            raise refused("FAILED_PRECONDITION", f"volume {name} is not staged")
        if self.mounter.is_mount_point(str(target)):
            return {}
        if (capability.get("access_mode") or {}).get("mode") == _SINGLE_WRITER and not is_block:
            self._keep_alone(name, str(target))
        self.bind(source, request, is_block=is_block)
        return {}

    def _keep_alone(self, name: str, target: str) -> None:
        """Note which pod has a volume that only one may have; the one that had it before is gone with its mount.

        Raises:
            CsiFailed: another pod has it.
        """
        with self.storage().locked():
            found = self._known(name)
            before = str(found.get("target", ""))
            if before not in {"", target} and self.mounter.is_mount_point(before):
                raise refused("FAILED_PRECONDITION", f"volume {name} is in use by another pod, at {before}")
            self.storage().volumes.change(name, {**found, "target": target})

    def node_expand_volume(self, request: Request) -> Answer:
        """Let loop device and file system take all of an image that has grown."""
        name = str(request["volume_id"])
        found = self._known(name)
        device = self._device(name) if found["backing"] != FOLDER else ""
        if device:
            done = self.mounter.programs.run(["losetup", "-c", device])
            if done.code:
                raise refused("INTERNAL", f"losetup -c {device} failed: {done.output}")
            if "block" not in (request.get("volume_capability") or {}):
                place = str(request.get("staging_target_path") or request.get("volume_path") or "")
                grow_file_system(self.mounter.programs, device, place)
        return {"capacity_bytes": found["size"]}

    def node_get_volume_stats(self, request: Request) -> Answer:
        """Tell how full a volume is."""
        found = self._known(str(request.get("volume_id", "")))
        told = super().node_get_volume_stats(request)
        return told if told["usage"] else {"usage": [{"unit": "BYTES", "total": found["size"]}]}

    def _device(self, name: str) -> str:
        return loop_of(str(self.storage().volumes.data(name)))

    def _known(self, name: str) -> Record:
        found = self.storage().volumes.get(name)
        if found is None:
            raise refused("NOT_FOUND", f"volume {name} does not exist on this node")
        return found
