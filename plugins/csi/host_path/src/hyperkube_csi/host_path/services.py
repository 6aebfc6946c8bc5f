"""Both services of the driver: what they can do, and where volumes are kept."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperkube_csi.host_path.controller_service import TOPOLOGY_KEY, ControllerService
from hyperkube_csi.host_path.node_service import NodeService
from hyperkube_csi.host_path.settings import NAME, HostPathSettings
from hyperkube_csi.host_path.storage import Storage

from hyperkube.hookspecs.base import PluginContext


class HostPathServices(ControllerService, NodeService):
    """Both services; see `CsiDriver`."""

    driver_name = NAME
    services = ("CONTROLLER_SERVICE", "VOLUME_ACCESSIBILITY_CONSTRAINTS")
    expansion = "ONLINE"
    controller_capabilities = (
        "CREATE_DELETE_VOLUME",
        "PUBLISH_UNPUBLISH_VOLUME",
        "LIST_VOLUMES",
        "LIST_VOLUMES_PUBLISHED_NODES",
        "GET_CAPACITY",
        "CREATE_DELETE_SNAPSHOT",
        "LIST_SNAPSHOTS",
        "CLONE_VOLUME",
        "EXPAND_VOLUME",
        "GET_VOLUME",
        "SINGLE_NODE_MULTI_WRITER",
        "MODIFY_VOLUME",
    )
    node_capabilities = ("STAGE_UNSTAGE_VOLUME", "GET_VOLUME_STATS", "EXPAND_VOLUME", "SINGLE_NODE_MULTI_WRITER")

    def __init__(self, context: PluginContext, settings: HostPathSettings) -> None:
        super().__init__(context)
        self._settings = settings
        self._storage = Storage(Path(settings.dir).absolute())

    def storage(self) -> Storage:
        """Return where volumes are."""
        return self._storage

    def node_get_info(self, _request: Mapping[str, Any]) -> dict[str, Any]:
        """Tell the node's name, which is its place as well unless it shares one."""
        settings = self._settings
        name = settings.node_id or settings.hostname_override or socket.gethostname().lower()
        return {"node_id": name, "accessible_topology": {"segments": {TOPOLOGY_KEY: settings.place or name}}}
