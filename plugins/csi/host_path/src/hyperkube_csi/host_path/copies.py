"""What a copied file system needs when it is first mounted: all of its image, and an identity of its own."""

from __future__ import annotations

from hyperkube_lib.csi import refused
from hyperkube_lib.volume_mount import Programs, disk_format

_EXT = frozenset({"ext2", "ext3", "ext4"})
_FSCK_FAILED = 4


def prepare_copy(programs: Programs, device: str) -> None:
    """Prepare the copy on a device; nothing for one without a file system.

    Raises:
        CsiFailed: a program failed; it is done again.
        VolumeFailed: a program is not installed.
    """
    present = disk_format(programs, device)
    if present in _EXT:
        # Before it is mounted: the kernel lets a mounted one grow only for those with CAP_SYS_RESOURCE.
        _run(programs, ["e2fsck", "-f", "-y", device], most=_FSCK_FAILED - 1)
        _run(programs, ["resize2fs", device])
    elif present == "btrfs":
        _run(programs, ["btrfstune", "-f", "-u", device])


def grows_when_mounted(fs_type: str) -> bool:
    """Tell whether a copy takes all of its image only once it is mounted."""
    return bool(fs_type) and fs_type not in _EXT


def copy_options(fs_type: str) -> list[str]:
    """Return the options of mount that a copy needs beside its original: two of xfs must not have one identity."""
    return ["nouuid"] if fs_type == "xfs" else []


def _run(programs: Programs, line: list[str], most: int = 0) -> None:
    done = programs.run(line)
    if not 0 <= done.code <= most:
        raise refused("INTERNAL", f"{' '.join(line)} failed: {done.problem}: {done.output}")
