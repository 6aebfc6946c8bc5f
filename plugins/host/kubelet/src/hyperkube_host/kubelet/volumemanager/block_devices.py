"""Devices in pods: a link per pod, in the pod's own folder and in that of the volume.

Source: kubernetes ``pkg/volume/util/volumepathhandler/volume_path_handler.go``.
"""

from __future__ import annotations

from pathlib import Path


def link_device(device: str, *links: Path) -> None:
    """Make links to a device.

    Raises:
        OSError: one cannot be made.
    """
    for link in links:
        link.parent.mkdir(parents=True, exist_ok=True)
        if link.is_symlink() and str(link.readlink()) == device:
            continue
        # A device may have another name after a restart of the machine: the link is replaced.
        link.unlink(missing_ok=True)
        link.symlink_to(device)


def unlink_device(*links: Path) -> None:
    """Remove the links of a pod; no error if they are gone."""
    for link in links:
        link.unlink(missing_ok=True)
