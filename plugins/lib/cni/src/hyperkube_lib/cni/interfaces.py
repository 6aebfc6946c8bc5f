"""The interfaces of the node, as the kernel tells of them under ``/sys/class/net``."""

from __future__ import annotations

from pathlib import Path

_UP, _LOOPBACK, _POINT_TO_POINT = 0x1, 0x8, 0x10
_LEAST, _DEFAULT = 576, 1460
_FOLDER = Path("/sys/class/net")


def least_mtu(folder: Path = _FOLDER) -> int:
    """Return the least MTU of the interfaces that lead to other machines, 1460 where there is none.

    Source: kubernetes ``pkg/kubelet/dockershim/network/kubenet/kubenet_linux.go`` (findMinMTU).
    """
    found = []
    for interface in sorted(folder.iterdir()) if folder.is_dir() else ():
        try:
            flags, mtu = int((interface / "flags").read_text(), 16), int((interface / "mtu").read_text())
        except (OSError, ValueError):
            continue  # it went away meanwhile
        if flags & _UP and not flags & (_LOOPBACK | _POINT_TO_POINT):
            found.append(mtu)
    least = min(found, default=0)
    return least if least >= _LEAST else _DEFAULT
