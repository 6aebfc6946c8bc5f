"""Lets a mounted file system stand still while its image is copied. Source: fsfreeze(8), ioctl_fifreeze(2)."""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import ExitStack
from pathlib import Path

from hyperkube_lib.volume_mount import loop_of, mount_table

_FREEZE, _THAW = 0xC0045877, 0xC0045878


def frozen(stack: ExitStack, image: Path) -> None:
    """Freeze the file system in an image until `stack` ends, if it is mounted where this process sees it."""
    device = loop_of(str(image))
    place = next((mount.path for mount in mount_table() if device and mount.source == device), "")
    if not place:
        os.sync()
        return
    folder = os.open(place, os.O_RDONLY)
    stack.callback(os.close, folder)
    try:
        fcntl.ioctl(folder, _FREEZE, 0)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        fcntl.ioctl(folder, _THAW, 0)  # a process that was killed left it frozen: the shelf is locked by us
        fcntl.ioctl(folder, _FREEZE, 0)
    stack.callback(fcntl.ioctl, folder, _THAW, 0)
