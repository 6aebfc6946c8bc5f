"""Drivers of volumes: what introduces itself at a socket is handed to the kind of volume that it serves.

Source: kubernetes ``pkg/volume/csi/csi_plugin.go`` (RegistrationHandler).
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_host.kubelet.pluginmanager.plugin_manager import PluginRefused

from hyperkube.hookspecs.volume import TakesDrivers, VolumeFailed


class DriverHandler:
    """Uses drivers; see `PluginHandler`."""

    def __init__(self, kind: TakesDrivers, node_name: str) -> None:
        self._kind = kind
        self._node_name = node_name

    def validate(self, name: str, endpoint: str, versions: Sequence[str]) -> None:
        """Check what a driver says of itself."""
        try:
            self._kind.validate_driver(name, endpoint, versions)
        except VolumeFailed as error:
            raise PluginRefused(str(error)) from error

    def register(self, name: str, endpoint: str, versions: Sequence[str]) -> None:
        """Begin to use a driver."""
        try:
            self._kind.register_driver(name, endpoint, versions, self._node_name)
        except VolumeFailed as error:
            raise PluginRefused(str(error)) from error

    def deregister(self, name: str, endpoint: str) -> None:
        """Use a driver no more."""
        self._kind.deregister_driver(name, endpoint)
