"""How full a folder's file system is, as NodeGetVolumeStats answers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def volume_usage(path: Path) -> list[dict[str, Any]]:
    """Return bytes and inodes of the file system at a folder; nothing for a device."""
    if not path.is_dir():
        return []
    room = os.statvfs(path)
    total, free, usable = (count * room.f_frsize for count in (room.f_blocks, room.f_bfree, room.f_bavail))
    inodes = {"total": room.f_files, "available": room.f_favail, "used": room.f_files - room.f_ffree}
    return [
        {"unit": "BYTES", "total": total, "available": usable, "used": total - free},
        {"unit": "INODES", **inodes},
    ]
