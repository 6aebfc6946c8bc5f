"""Several paths to one disk: the device mapper has a device that stands for all of them.

Source: kubernetes ``pkg/volume/util/device_util_linux.go``.
"""

from __future__ import annotations

from pathlib import Path


def multipath_of(device: str, root: Path = Path("/")) -> str:
    """Return the device that stands for all paths to a disk, empty if there is one path; `root` has sys and dev."""
    name = Path(device).resolve().name
    slaves = sorted(root.glob(f"sys/block/dm-*/slaves/{name}"))
    return str(root / "dev" / slaves[0].parent.parent.name) if slaves else ""


def paths_of(device: str, root: Path = Path("/")) -> list[str]:
    """Return the names in ``sys/block`` of the disks behind a device: of all its paths, or its own."""
    name = Path(device).resolve().name
    slaves = sorted(path.name for path in root.glob(f"sys/block/{name}/slaves/*")) if name.startswith("dm-") else []
    return slaves or [name]
