"""All services of the driver: of which cloud it is, and the provider behind it."""

from __future__ import annotations

import socket
import threading

from hyperkube_csi.cloud_disks.controller_service import ControllerService
from hyperkube_csi.cloud_disks.names import is_known, names_of
from hyperkube_csi.cloud_disks.node_service import NodeService
from hyperkube_lib.cloud_provider import CloudProvider

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.cloud import Cloud, Disks
from hyperkube.machinery.errors import UsageError


class CloudServices(ControllerService, NodeService):
    """Both services; see `CsiDriver`."""

    services = ("CONTROLLER_SERVICE", "VOLUME_ACCESSIBILITY_CONSTRAINTS")
    expansion = "ONLINE"
    controller_capabilities = (
        "CREATE_DELETE_VOLUME", "PUBLISH_UNPUBLISH_VOLUME", "EXPAND_VOLUME", "PUBLISH_READONLY",
    )  # fmt: skip
    node_capabilities = ("STAGE_UNSTAGE_VOLUME", "GET_VOLUME_STATS", "EXPAND_VOLUME")

    def __init__(self, context: PluginContext, cloud: str, node_name: str | None) -> None:
        """Talk to no cloud yet; `node_name` is a kubelet's, empty for the machine's, and None without one."""
        super().__init__(context)
        self._node_name = node_name
        self.names = names_of(cloud)
        self.driver_name = self.names.driver
        self._provider = CloudProvider(context)
        self._lock = threading.Lock()
        self._cloud: Cloud | None = None

    def is_configured(self) -> bool:
        """Tell whether there is a cloud with disks.

        Raises:
            PluginNotFound: there is no such provider.
        """
        if self._node_name is not None and is_known(self.names.cloud):
            return True  # a node needs no credentials of the cloud
        return self._built().disks is not None

    def disks(self) -> Disks:
        """Return the cloud's disks.

        Raises:
            UsageError: it has none.
        """
        found = self._built().disks
        if found is None:
            raise UsageError(f"cloud provider {self.names.cloud!r} has no disks")
        return found

    def node_name(self) -> str:
        """Return the name of the node that this is."""
        return self._node_name or socket.gethostname().lower()

    def _built(self) -> Cloud:
        with self._lock:
            if self._cloud is None:
                self._cloud = self._provider.build(self.names.cloud)
            if self._cloud is None:
                raise UsageError(f"--external-cloud-volume-plugin: {self.names.cloud!r} is no cloud provider")
            return self._cloud

    def close(self) -> None:
        """Close the cloud provider."""
        self._provider.close()
