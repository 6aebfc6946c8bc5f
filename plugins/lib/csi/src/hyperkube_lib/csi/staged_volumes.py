"""The half of a node service that is the same for whatever is staged in one folder and shown from there to pods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from hyperkube_lib.csi.calls import refused
from hyperkube_lib.csi.driver import CsiDriver

Answer = dict[str, Any]
Request = Mapping[str, Any]


class Mounts(Protocol):
    """What mounts and unmounts; `hyperkube_lib.volume_mount.Mounter` is one."""

    def mount(self, source: str, target: str, *, options: Sequence[str]) -> None:
        """Mount; ``bind`` among the options makes a bind mount."""

    def unmount(self, target: str) -> None:
        """Unmount once; no error if it is not mounted."""

    def is_mount_point(self, path: str) -> bool:
        """Tell whether something is mounted at a path."""

    def clean_up(self, path: str) -> None:
        """Unmount a path as often as it is mounted, and remove it; no error if it is gone."""


class StagedVolumes(CsiDriver):
    """Unmounts, shows, takes away, and tells how full a volume is. Steps that are done already are not done again."""

    mounter: Mounts

    def node_unstage_volume(self, request: Request) -> Answer:
        """Unmount; the folder is the kubelet's."""
        staging = str(request["staging_target_path"])
        while self.mounter.is_mount_point(staging):
            self.mounter.unmount(staging)
        return {}

    def bind(self, source: str, request: Request, *, is_block: bool = False) -> None:
        """Show a folder, or a device, at the place of one pod that a NodePublishVolume names."""
        target = Path(request["target_path"])
        target.parent.mkdir(parents=True, exist_ok=True)
        if is_block:
            target.touch()
        else:
            target.mkdir(exist_ok=True)
        self.mounter.mount(source, str(target), options=["bind", *(["ro"] if request.get("readonly") else [])])

    def node_unpublish_volume(self, request: Request) -> Answer:
        """Take it away again."""
        self.mounter.clean_up(str(request["target_path"]))
        return {}

    def node_get_volume_stats(self, request: Request) -> Answer:
        """Tell how full a volume is."""
        from hyperkube_lib.csi.usage import volume_usage

        path = Path(str(request.get("volume_path") or ""))
        if not path.exists():
            raise refused("NOT_FOUND", f"volume path {path} does not exist")
        return {"usage": volume_usage(path)}
