"""File systems on devices: made once, on a device that is empty, checked before each mount, grown while mounted.

Source of programs, arguments and texts: kubernetes mount-utils ``mount_linux.go`` (formatAndMountSensitive,
GetDiskFormat, checkAndRepairFilesystem), ``resizefs_linux.go``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_lib.volume_mount.mounter import Mounter
from hyperkube_lib.volume_mount.programs import Programs

from hyperkube.hookspecs.volume import VolumeFailed

DEFAULT_TYPE = "ext4"
_BLKID_NOTHING = 2
_FSCK_CORRECTED, _FSCK_UNCORRECTED = 1, 4
_EXT = frozenset({"ext2", "ext3", "ext4"})


def disk_format(programs: Programs, device: str) -> str:
    """Return the type of the file system on a device, empty for an empty device.

    Raises:
        VolumeFailed: it cannot be read: nothing may be made on it.
    """
    done = programs.run(["blkid", "-p", "-s", "TYPE", "-s", "PTTYPE", "-o", "export", device])
    if done.code == _BLKID_NOTHING:
        return ""
    if done.code:
        raise VolumeFailed(f"Could not determine if disk {device!r} is formatted ({done.problem}): {done.output}")
    found = dict(line.split("=", 1) for line in done.output.splitlines() if "=" in line)
    if found.get("PTTYPE"):
        return "unknown data, probably partitions"
    return found.get("TYPE", "")


def format_and_mount(
    mounter: Mounter, device: str, target: str, fs_type: str, options: Sequence[str] = (), more: Sequence[str] = ()
) -> None:
    """Mount a device, with a new file system if it has none; `more` are arguments of ``mkfs``.

    Raises:
        VolumeFailed: it holds something else, is broken, or cannot be mounted.
    """
    fs_type, programs = fs_type or DEFAULT_TYPE, mounter.programs
    read_only = "ro" in options
    present = disk_format(programs, device)
    if not present:
        if read_only:
            raise VolumeFailed(f"cannot mount unformatted disk {device} as we are manipulating it in read-only mode")
        _make(programs, device, target, fs_type, options, more)
    elif not read_only:
        _check(programs, device)
    try:
        mounter.mount(device, target, fs_type, [*options, "defaults"])
    except VolumeFailed as error:
        if present and present != fs_type:
            text = f'failed to mount the volume as "{fs_type}", it already contains {present}. Mount error: {error}'
            raise VolumeFailed(text) from error
        raise


def _make(
    programs: Programs, device: str, target: str, fs_type: str, options: Sequence[str], more: Sequence[str]
) -> None:
    own = ["-F", "-m0"] if fs_type in {"ext3", "ext4"} else ["-f"] if fs_type in {"xfs", "btrfs"} else []
    done = programs.run([f"mkfs.{fs_type}", *more, *own, device])
    if done.code:
        shown = ",".join([*options, "defaults"])
        raise VolumeFailed(
            f'format of disk "{device}" failed: type:("{fs_type}") target:("{target}") options:("{shown}") '
            f"errcode:({done.problem}) output:({done.output}) "
        )


def _check(programs: Programs, device: str) -> None:
    try:
        done = programs.run(["fsck", "-a", device])
    except VolumeFailed:
        return  # not installed: upstream mounts without it, too
    if done.code == _FSCK_UNCORRECTED:
        raise VolumeFailed(f"'fsck' found errors on device {device} but could not correct them: {done.output}")


def grow_file_system(programs: Programs, device: str, target: str) -> bool:
    """Let the file system of a mounted device take all of it; tell whether there is one.

    Raises:
        VolumeFailed: it cannot be grown, or is of a type that cannot.
    """
    present = disk_format(programs, device)
    if not present:
        return False
    if present in _EXT:
        line = ["resize2fs", device]
    elif present == "xfs":
        line = ["xfs_growfs", "-d", target]
    elif present == "btrfs":
        line = ["btrfs", "filesystem", "resize", "max", target]
    else:
        text = f"resize of format {present} is not supported for device {device} mounted at {target}"
        raise VolumeFailed(f"ResizeFS.Resize - {text}")
    done = programs.run(line)
    if done.code:
        shown = {"resize2fs": "resize2fs", "xfs_growfs": "xfs_growfs"}.get(line[0], "btrfs")
        raise VolumeFailed(f"resize of device {device} failed: {done.problem}. {shown} output: {done.output}")
    return True
