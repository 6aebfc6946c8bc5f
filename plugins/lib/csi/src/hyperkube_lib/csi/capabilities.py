"""How a volume is to be used, as CSI says it.

Source: kubernetes ``pkg/volume/csi/csi_client.go`` (asCSIAccessModeV1).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

SINGLE_NODE_MULTI_WRITER = "SINGLE_NODE_MULTI_WRITER"
_MODES = {
    "ReadWriteOnce": "SINGLE_NODE_WRITER",
    "ReadOnlyMany": "MULTI_NODE_READER_ONLY",
    "ReadWriteMany": "MULTI_NODE_MULTI_WRITER",
}
_EXACT_MODES = _MODES | {"ReadWriteOnce": SINGLE_NODE_MULTI_WRITER, "ReadWriteOncePod": "SINGLE_NODE_SINGLE_WRITER"}
_ORDER = ("ReadWriteMany", "ReadOnlyMany", "ReadWriteOncePod", "ReadWriteOnce")


def access_mode(modes: Iterable[str], driver: Iterable[str] = ()) -> str:
    """Return CSI's mode for the access modes of a volume: the widest; `driver` is what the service can do."""
    known = (
        _EXACT_MODES
        if SINGLE_NODE_MULTI_WRITER in set(driver)
        else {**_MODES, "ReadWriteOncePod": _MODES["ReadWriteOnce"]}
    )
    found = next((mode for mode in _ORDER if mode in set(modes)), "ReadWriteOnce")
    return known[found]


def volume_capability(
    mode: str, *, is_block: bool, fs_type: str = "", mount_flags: Iterable[str] = (), mount_group: str = ""
) -> dict[str, Any]:
    """Return a ``VolumeCapability``; `mode` is CSI's access mode."""
    capability: dict[str, Any] = {"access_mode": {"mode": mode}}
    if is_block:
        return capability | {"block": {}}
    mount: dict[str, Any] = {"fs_type": fs_type} if fs_type else {}
    if flags := list(mount_flags):
        mount["mount_flags"] = flags
    if mount_group:
        mount["volume_mount_group"] = mount_group
    return capability | {"mount": mount}
