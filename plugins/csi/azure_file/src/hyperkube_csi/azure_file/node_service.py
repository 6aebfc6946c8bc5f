"""The node service: a share is mounted once for the node, and shown to its pods.

The key of its account comes with the call, out of the volume's Secret, and goes to ``mount.cifs`` in a file of its own:
neither the list of processes nor a message shows it.
Source: kubernetes ``pkg/volume/azure_file/azure_file.go`` (SetUpAt), ``azure_util.go`` (appendDefaultMountOptions).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hyperkube_lib.csi import refused
from hyperkube_lib.csi.staged_volumes import StagedVolumes
from hyperkube_lib.volume_mount import Mounter, secret_file

Answer = dict[str, Any]
Request = Mapping[str, Any]
DEFAULTS: Final = {"file_mode": "0777", "dir_mode": "0777", "vers": "3.0", "actimeo": "30"}
"""Options of the mount that a volume does not choose itself."""
SUFFIX: Final = "core.windows.net"
_ACCOUNT: Final = re.compile(r"[a-z0-9]{3,24}")
_SHARE: Final = re.compile(r"[a-z0-9][-a-z0-9]{2,62}")
_HOST: Final = re.compile(r"[a-z0-9][-a-z0-9.]*")
_KEY: Final = re.compile(r"[A-Za-z0-9+/=]+")


def mount_options(flags: Sequence[str], group: str, *, read_only: bool) -> list[str]:
    """Return the options of a share's mount.

    Args:
        flags: those of its volume.
        group: the id of the group that has its files, empty for none.
        read_only: whether nothing is written.
    """
    chosen = {flag.partition("=")[0] for flag in flags}
    wanted = {**DEFAULTS, **({"gid": group} if group else {})}
    found = [*flags, *(f"{key}={value}" for key, value in wanted.items() if key not in chosen)]
    return [*found, *(["mfsymlinks"] if "mfsymlinks" not in chosen else []), *(["ro"] if read_only else [])]


class NodeService(StagedVolumes):
    """What a node does; see `CsiDriver`."""

    mounter = Mounter()

    def node_name(self) -> str:
        """Return the name of the node that this is."""
        raise NotImplementedError

    def node_get_info(self, _request: Request) -> Answer:
        """Tell the node's id."""
        return {"node_id": self.node_name()}

    def node_stage_volume(self, request: Request) -> Answer:
        """Mount a share."""
        staging, use = str(request["staging_target_path"]), request.get("volume_capability") or {}
        if "block" in use:
            raise refused("INVALID_ARGUMENT", "a share of files is no block device")
        if self.mounter.is_mount_point(staging):
            return {}
        source, credentials = _server(request)
        mount = use.get("mount") or {}
        reads = (use.get("access_mode") or {}).get("mode") == "MULTI_NODE_READER_ONLY"
        group = str(mount.get("volume_mount_group") or "")
        options = mount_options(list(mount.get("mount_flags") or ()), group, read_only=reads)
        Path(staging).mkdir(parents=True, exist_ok=True)
        with secret_file(credentials) as file:
            self.mounter.mount(source, staging, "cifs", options, [f"credentials={file}"])
        return {}

    def node_publish_volume(self, request: Request) -> Answer:
        """Show a staged share at a place of one pod."""
        staging = str(request.get("staging_target_path") or "")
        if not (staging and self.mounter.is_mount_point(staging)):
            raise refused("NOT_FOUND", f"volume {request['volume_id']} is not staged on this node")
        if not self.mounter.is_mount_point(str(request["target_path"])):
            self.bind(staging, request)
        return {}


def _server(request: Request) -> tuple[str, str]:
    """Return what is mounted, and the text of a file with credentials for ``mount.cifs``.

    Raises:
        CsiFailed: the Secret, or the volume, does not tell. What the Secret holds is in no message.
    """
    told, handle = request.get("secrets") or {}, str(request.get("volume_id") or "")
    account, key = told.get("azurestorageaccountname", ""), told.get("azurestorageaccountkey", "")
    host = told.get("azurestorageendpointsuffix") or SUFFIX
    if not (_ACCOUNT.fullmatch(account) and _KEY.fullmatch(key) and _HOST.fullmatch(host)):
        what = "azurestorageaccountname or azurestorageaccountkey"
        raise refused("INVALID_ARGUMENT", f"the Secret of volume {handle} has no {what} that can be used")
    attributes = {name.lower(): value for name, value in (request.get("volume_context") or {}).items()}
    share = attributes.get("sharename") or [*handle.split("#"), "", ""][2]
    if not _SHARE.fullmatch(share):
        raise refused("INVALID_ARGUMENT", f"volume {handle} names no share")
    return f"//{account}.file.{host}/{share}", f"username={account}\npassword={key}\n"
