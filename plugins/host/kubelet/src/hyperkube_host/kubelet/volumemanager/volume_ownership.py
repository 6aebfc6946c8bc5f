"""Volumes belong to the group of their pod (``fsGroup``), whose members may read and, unless it is read-only, write.

Source: kubernetes ``pkg/volume/volume_linux.go`` (SetVolumeOwnership).
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from hyperkube_host.kubelet.volumemanager.pod_volumes import PodVolume

from hyperkube.hookspecs.volume import OwnsFiles
from hyperkube.machinery.objects import Object

WRITES, READS, ENTERS = 0o660, 0o440, 0o110
_FOLLOWS_API = ("configMap", "secret", "projected", "downwardAPI")
_OWNED = ("emptyDir", "gitRepo", "local", *_FOLLOWS_API)
"""Folders that are given to the group; a hostPath stays as it is on the node."""


def follows_api(volume: Object) -> bool:
    """Tell whether a volume's content is made of objects of the API: it is written anew when these change."""
    return any(kind in volume for kind in _FOLLOWS_API)


def group_of_volume(pod: Object, volume: PodVolume) -> int | None:
    """Return the group that the kubelet gives a volume to, None for none."""
    group = (pod["spec"].get("securityContext") or {}).get("fsGroup")
    if group is None or os.geteuid() != 0 or volume.spec.read_only or volume.spec.is_block:
        return None
    if isinstance(volume.plugin, OwnsFiles):
        return int(group) if volume.plugin.gives_to_group(volume.spec) else None
    owned = volume.device_mountable is not None or any(kind in volume.spec.volume for kind in _OWNED)
    return int(group) if owned else None


def set_volume_ownership(path: str, group: int, *, read_only: bool, on_root_mismatch: bool = False) -> None:
    """Give all that is in a volume to a group; links themselves, never what they lead to.

    Args:
        path: the volume.
        group: the pod's ``fsGroup``.
        read_only: whether its members may read only.
        on_root_mismatch: do nothing when the volume's own folder is right already (``fsGroupChangePolicy``).
    """
    mask = READS if read_only else WRITES
    if on_root_mismatch and _is_right(path, group, mask):
        return
    # The root comes last: an interrupted walk is then seen by the next one as not done.
    for folder, _, names in os.walk(path, topdown=False):
        for name in names:
            _give(f"{folder}/{name}", group, mask)
        for entry in os.scandir(folder):
            if entry.is_symlink() and entry.name not in names:
                _give(entry.path, group, mask)
        _give(folder, group, mask)


def _is_right(path: str, group: int, mask: int) -> bool:
    found = os.lstat(path)
    wanted = mask | ENTERS | stat.S_ISGID
    return found.st_gid == group and found.st_mode & wanted == wanted


def _give(path: str, group: int, mask: int) -> None:
    # Opened without following links: a container of the pod may be writing to the volume, and swap what is there.
    try:
        found = os.lstat(path)
        os.lchown(path, -1, group)
        if stat.S_ISLNK(found.st_mode):
            return
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return  # removed meanwhile
    try:
        mode = os.fstat(descriptor).st_mode
        extra = mask | ((ENTERS | stat.S_ISGID) if stat.S_ISDIR(mode) else 0)
        if not stat.S_ISLNK(mode):
            Path(f"/proc/self/fd/{descriptor}").chmod(stat.S_IMODE(mode) | extra)
    finally:
        os.close(descriptor)
