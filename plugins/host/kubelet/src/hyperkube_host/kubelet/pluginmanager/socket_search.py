"""Looks for drivers of volumes now and then, on nodes whose container manager has no plugin manager running.

Without a socket in the registry folder it costs a look into a folder: nothing of gRPC is imported.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperkube.hookspecs.volume import TakesDrivers
from hyperkube.machinery.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hyperkube_host.kubelet.pluginmanager.plugin_manager import PluginManager


class SocketSearch:
    """Finds drivers; `run` is one look."""

    def __init__(self, folder: Path, kinds: Sequence[TakesDrivers], node_name: str, clock: Clock) -> None:
        self._folder = folder
        self._kinds = kinds
        self._node_name = node_name
        self._clock = clock
        self._manager: PluginManager | None = None

    def run(self) -> None:
        """Register drivers that are new, and forget those that are gone."""
        if self._manager is None:
            if not self._kinds or not self._folder.is_dir() or not any(self._folder.iterdir()):
                return
            self._manager = self._make()
        self._manager.reconcile()

    def _make(self) -> PluginManager:
        from hyperkube_host.kubelet.pluginmanager.driver_handler import DriverHandler
        from hyperkube_host.kubelet.pluginmanager.plugin_manager import PluginManager

        handlers = {kind.driver_type: DriverHandler(kind, self._node_name) for kind in self._kinds}
        return PluginManager(self._folder, handlers, self._clock)

    def close(self) -> None:
        """Look no more."""
        if self._manager is not None:
            self._manager.close()
