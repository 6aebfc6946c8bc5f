"""flexVolume: volumes that programs on the node attach, mount and grow, in whatever language.

Source: kubernetes ``pkg/volume/flexvolume``.
"""

from __future__ import annotations

from pathlib import Path

from hyperkube_volume.flex_volume.volumes import FlexVolumes

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import Volumes
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

__all__ = ["FlexVolume", "FlexVolumes"]


class Settings(Record):
    """Where the drivers are."""

    volume_plugin_dir: str = "/usr/libexec/kubernetes/kubelet-plugins/volume/exec/"


class FlexVolume(Plugin):
    """The flexVolume volumes."""

    @hookimpl
    def volume_kinds(self) -> Volumes:
        """Return the kind; drivers are looked for when a volume wants one, so that they may come later."""
        return FlexVolumes(Path(self.settings(Settings).volume_plugin_dir))
