"""The driver: its name, what it can do, and where it keeps its volumes."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from hyperkube_csi.host_path.controller_service import TOPOLOGY_KEY, ControllerService
from hyperkube_csi.host_path.node_service import NodeService
from hyperkube_csi.host_path.storage import Storage

from hyperkube.machinery.record import Record

NAME = "host-path.csi.hyperkube.dev"


class HostPathSettings(Record):
    """Settings of the driver.

    Attributes:
        dir: where volumes are kept; empty to go without the driver.
        node_id: what it calls this node; empty for the node's name.
        place: what its topology tells of this node; empty for what the node is called, as each has volumes of its own.
        hostname_override: the kubelet's, see there.
    """

    dir: str = ""
    node_id: str = ""
    place: str = ""
    hostname_override: str = ""


class HostPath(ControllerService, NodeService):
    """Both services."""

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

    @cached_property
    def _settings(self) -> HostPathSettings:
        return self.settings(HostPathSettings)

    @cached_property
    def _storage(self) -> Storage:
        return Storage(Path(self._settings.dir).absolute())

    def is_configured(self) -> bool:
        """Tell whether there is a folder."""
        return bool(self._settings.dir)

    def storage(self) -> Storage:
        """Return where volumes are."""
        return self._storage

    def node_get_info(self, _request: Mapping[str, Any]) -> dict[str, Any]:
        """Tell the node's name, which is its place as well unless it shares one."""
        settings = self._settings
        name = settings.node_id or settings.hostname_override or socket.gethostname().lower()
        return {"node_id": name, "accessible_topology": {"segments": {TOPOLOGY_KEY: settings.place or name}}}
