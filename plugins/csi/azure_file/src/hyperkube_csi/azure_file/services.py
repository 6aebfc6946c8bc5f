"""Both services of the driver, and the provider behind them."""

from __future__ import annotations

import socket

from hyperkube_csi.azure_file.controller_service import ControllerService
from hyperkube_csi.azure_file.node_service import NodeService
from hyperkube_lib.cloud_provider.late import LateCloud

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.cloud import FileShares
from hyperkube.machinery.errors import UsageError


class AzureFileServices(ControllerService, NodeService):
    """Both services; see `CsiDriver`."""

    expansion = "ONLINE"
    controller_capabilities = ("CREATE_DELETE_VOLUME", "EXPAND_VOLUME")
    node_capabilities = ("STAGE_UNSTAGE_VOLUME", "GET_VOLUME_STATS", "VOLUME_MOUNT_GROUP")

    def __init__(self, context: PluginContext, driver_name: str, cloud: str, node_name: str | None) -> None:
        """Talk to no cloud yet; `node_name` is a kubelet's, empty for the machine's, and None without one."""
        super().__init__(context)
        self.driver_name = driver_name
        self._name, self._node_name = cloud, node_name
        self._cloud = LateCloud(context, cloud, "--cloud-provider")

    def has_shares(self) -> bool:
        """Tell whether the provider has shares.

        Raises:
            PluginNotFound: it is not installed.
        """
        return self._cloud.built().file_shares is not None

    def shares(self) -> FileShares:
        """Return the cloud's shares.

        Raises:
            UsageError: it has none.
        """
        found = self._cloud.built().file_shares
        if found is None:
            raise UsageError(f"cloud provider {self._name!r} has no shares of files")
        return found

    def node_name(self) -> str:
        """Return the name of the node that this is."""
        return self._node_name or socket.gethostname().lower()

    def close(self) -> None:
        """Close the cloud provider."""
        self._cloud.close()
