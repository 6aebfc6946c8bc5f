"""A driver as the contract asks it: one call a method, with what a caller always sends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperkube_lib.csi import CONTROLLER, IDENTITY, NODE, CsiCalls, CsiFailed, volume_capability

from hyperkube.testing.harness import SkipTest, raises

CALLS: Mapping[str, tuple[str, ...]] = {
    "CREATE_DELETE_VOLUME": ("CreateVolume", "DeleteVolume"),
    "PUBLISH_UNPUBLISH_VOLUME": ("ControllerPublishVolume", "ControllerUnpublishVolume"),
    "LIST_VOLUMES": ("ListVolumes",),
    "LIST_VOLUMES_PUBLISHED_NODES": ("ListVolumes",),
    "GET_CAPACITY": ("GetCapacity",),
    "CREATE_DELETE_SNAPSHOT": ("CreateSnapshot", "DeleteSnapshot"),
    "LIST_SNAPSHOTS": ("ListSnapshots",),
    "CLONE_VOLUME": ("CreateVolume",),
    "PUBLISH_READONLY": ("ControllerPublishVolume",),
    "EXPAND_VOLUME": ("ControllerExpandVolume",),
    "VOLUME_CONDITION": (),
    "GET_VOLUME": ("ControllerGetVolume",),
    "SINGLE_NODE_MULTI_WRITER": (),
    "MODIFY_VOLUME": ("ControllerModifyVolume",),
}
"""What a controller service can do → the calls that this takes."""
NODE_CALLS: Mapping[str, tuple[str, ...]] = {
    "STAGE_UNSTAGE_VOLUME": ("NodeStageVolume", "NodeUnstageVolume"),
    "GET_VOLUME_STATS": ("NodeGetVolumeStats",),
    "EXPAND_VOLUME": ("NodeExpandVolume",),
    "VOLUME_CONDITION": (),
    "SINGLE_NODE_MULTI_WRITER": (),
    "VOLUME_MOUNT_GROUP": (),
}
"""What a node service can do → the calls that this takes."""
USE = volume_capability("SINGLE_NODE_WRITER", is_block=False)
"""How the contract's volumes are used: one node writes to a file system."""
Answer = dict[str, Any]


class Asked:
    """A driver that is asked; `can` and `node_can` are what its services can do."""

    def __init__(self, driver: CsiCalls, parameters: Mapping[str, str], size: int) -> None:
        self.driver = driver
        self._parameters = dict(parameters)
        self._size = size
        info = driver.call(IDENTITY, "GetPluginCapabilities", {})
        self.services = {row["service"]["type"] for row in info.get("capabilities") or () if "service" in row}
        self.has_controller = "CONTROLLER_SERVICE" in self.services
        self.can = driver.capabilities(CONTROLLER) if self.has_controller else frozenset()
        self.node_can = driver.capabilities(NODE)

    def needs(self, ability: str) -> None:
        """Skip the test of what the controller service cannot do."""
        if ability not in self.can:
            raise SkipTest(f"the controller service is not of {ability}")

    def create(self, name: str, size: int | None = None, **more: object) -> Answer:
        """Make a volume; return it."""
        request: Answer = {
            "name": name,
            "capacity_range": {"required_bytes": size or self._size},
            "volume_capabilities": [USE],
            "parameters": self._parameters,
        }
        volume: Answer = self.control("CreateVolume", **{**request, **more})["volume"]
        return volume

    def delete(self, volume_id: str) -> None:
        """Delete a volume."""
        self.control("DeleteVolume", volume_id=volume_id)

    def control(self, method: str, **request: object) -> Answer:
        """Call the controller service."""
        return self.driver.call(CONTROLLER, method, request)

    def node(self, method: str, **request: object) -> Answer:
        """Call the node service."""
        return self.driver.call(NODE, method, request)

    def ids(self) -> set[str]:
        """Return the ids of the volumes that the driver lists."""
        return {row["volume"]["volume_id"] for row in self.control("ListVolumes").get("entries") or ()}

    def refuses(self, code: str, service: str, method: str, **request: object) -> None:
        """Check that a call is refused with a code."""
        with raises(CsiFailed) as caught:
            self.driver.call(service, method, request)
        found = caught.exception.code
        assert found == code, f"{method} is refused with {found}, not with {code}: {caught.exception}"
