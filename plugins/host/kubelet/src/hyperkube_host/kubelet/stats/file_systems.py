"""How full file systems are, and how much of them a folder takes.

Source: kubernetes ``pkg/volume/util/fs/fs.go`` (Info, DiskUsage).
"""

from __future__ import annotations

import os
from pathlib import Path

from hyperkube.machinery.objects import Object

_BLOCK = 512
"""What ``st_blocks`` counts in, whatever the file system's own size of blocks is."""


def fs_info(path: Path) -> Object:
    """Return capacity, what is left and inodes of the file system that a path is on; nothing when there is no path."""
    try:
        found = os.statvfs(path)
    except OSError:
        return {}
    stats = {
        "availableBytes": found.f_bavail * found.f_frsize,
        "capacityBytes": found.f_blocks * found.f_frsize,
        "usedBytes": (found.f_blocks - found.f_bfree) * found.f_frsize,
    }
    if found.f_files:  # some file systems do not count inodes
        stats |= {"inodesFree": found.f_ffree, "inodes": found.f_files, "inodesUsed": found.f_files - found.f_ffree}
    return stats


def disk_usage(path: Path) -> tuple[int, int]:
    """Return the bytes and inodes below a path, on its own file system only; a file with several names counts once.

    What goes away meanwhile, or may not be read, does not count.
    """
    total, seen = 0, set[tuple[int, int]]()
    try:
        first = os.lstat(path)
    except OSError:
        return 0, 0
    todo = [(os.fspath(path), first)]
    while todo:
        name, found = todo.pop()
        key = (found.st_dev, found.st_ino)
        if found.st_dev != first.st_dev or key in seen:
            continue
        seen.add(key)
        total += found.st_blocks * _BLOCK
        if found.st_mode & 0o170000 == 0o040000:
            todo += _members(name)
    return total, len(seen)


def _members(folder: str) -> list[tuple[str, os.stat_result]]:
    members = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    members.append((entry.path, entry.stat(follow_symlinks=False)))
                except OSError:
                    continue  # it is gone
    except OSError:
        return members
    return members
