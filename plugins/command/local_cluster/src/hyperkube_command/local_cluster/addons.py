"""The addons of a local cluster as a part of it that can be loaded anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperkube_command.local_cluster.addon_settings import addon_settings
from hyperkube_command.local_cluster.restartable_part import RestartablePart
from hyperkube_lib.addon_manager import AddonManager

if TYPE_CHECKING:
    from hyperkube_command.local_cluster.arguments import ClusterOptions

    from hyperkube.client.client import Client
    from hyperkube.command.lifecycle import Lifecycle
    from hyperkube.machinery.clock import Clock


class Addons(RestartablePart):
    """The addons that the options name, managed with a client that may do anything."""

    def __init__(self, cluster: ClusterOptions, client: Client, clock: Clock) -> None:
        super().__init__(self._start_manager)
        self._names = cluster.addons
        self._settings = addon_settings(cluster)
        self._client = client
        self._clock = clock
        self._notices: list[str] = []

    def notices(self) -> list[str]:
        """Return what the addons want to be told to the user, a line each."""
        return self._notices

    def _start_manager(self, life: Lifecycle) -> None:
        manager = AddonManager(self._names, self._client, self._clock, self._settings)
        life.start("the addons", manager)
        self._notices = manager.notices()
