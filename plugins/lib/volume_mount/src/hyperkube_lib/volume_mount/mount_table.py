"""The mounts that the kernel knows. Source of the format: ``proc_pid_mountinfo(5)``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from hyperkube.machinery.dataclass import dataclass

MOUNT_INFO = Path("/proc/self/mountinfo")
_ESCAPE = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Mount:
    """One line of the table.

    Attributes:
        path: the mount point.
        root: what of the file system is mounted there: a folder of it for bind mounts.
        device: major and minor number of the file system, ``8:1``.
        type: the file system's.
        source: what was mounted: a device, an export.
        options: of the mount and of the file system.
    """

    path: str
    root: str
    device: str
    type: str
    source: str
    options: tuple[str, ...]


def mount_table(path: Path = MOUNT_INFO) -> list[Mount]:
    """Return all mounts, in the order in which they were made."""
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return []
    return [found for line in text.splitlines() if (found := _mount(line)) is not None]


def _mount(line: str) -> Mount | None:
    fields, separator, rest = line.partition(" - ")
    words, tail = fields.split(" "), rest.split(" ")
    if not separator or len(words) < 6 or len(tail) < 3:
        return None
    options = dict.fromkeys([*words[5].split(","), *tail[2].split(",")])
    return Mount(_plain(words[4]), _plain(words[3]), words[2], tail[0], _plain(tail[1]), tuple(options))


def _plain(word: str) -> str:
    return _ESCAPE.sub(lambda found: chr(int(found[1], 8)), word)


def mounts_below(folder: str, table: Iterable[Mount]) -> list[Mount]:
    """Return the mounts at and below a folder, the innermost first, as they have to be undone."""
    inside = [mount for mount in table if mount.path == folder or mount.path.startswith(folder.rstrip("/") + "/")]
    return sorted(inside, key=lambda mount: mount.path.count("/"), reverse=True)
