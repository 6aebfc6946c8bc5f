"""The controller service of the driver in memory: what the storage has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperkube_lib.csi.calls import refused

Answer = dict[str, Any]
SMALLEST = 1 << 20
ROOM = 1 << 40


class MemoryStorage:
    """Volumes and snapshots.

    Attributes:
        volumes: volume id → size.
        sources: volume id → what it was made from, as CSI says it.
        parameters: volume id → its mutable parameters.
        snapshots: snapshot id → the snapshot, as CSI says it.
        attached: (volume id, node id).
        are_ready: whether snapshots are ready at once.
    """

    def __init__(self) -> None:
        self.volumes: dict[str, int] = {}
        self.sources: dict[str, Answer] = {}
        self.parameters: dict[str, dict[str, str]] = {}
        self.snapshots: dict[str, Answer] = {}
        self.attached: set[tuple[str, str]] = set()
        self.are_ready = True

    def create_volume(self, request: Mapping[str, Any]) -> Answer:
        """Make a volume, or return that of the name."""
        if not request.get("name") or not request.get("volume_capabilities"):
            raise refused("INVALID_ARGUMENT", "a volume needs a name and capabilities")
        size = int((request.get("capacity_range") or {}).get("required_bytes") or SMALLEST)
        name, source = f"vol-{request['name']}", request.get("volume_content_source")
        if self.volumes.setdefault(name, size) < size:
            raise refused("ALREADY_EXISTS", "it exists with another size")
        volume: Answer = {"volume_id": name, "capacity_bytes": self.volumes[name]}
        if source:
            self.sources[name] = volume["content_source"] = dict(source)
        if preferred := (request.get("accessibility_requirements") or {}).get("preferred"):
            volume["accessible_topology"] = preferred[:1]
        return {"volume": volume}

    def delete_volume(self, request: Mapping[str, Any]) -> Answer:
        """Delete a volume that is not attached."""
        if not request.get("volume_id"):
            raise refused("INVALID_ARGUMENT", "which volume?")
        if any(volume == request["volume_id"] for volume, _ in self.attached):
            raise refused("FAILED_PRECONDITION", "the volume is attached")
        self.volumes.pop(request["volume_id"], None)
        return {}

    def controller_publish_volume(self, request: Mapping[str, Any]) -> Answer:
        """Attach."""
        self.known(request)
        self.attached.add((request["volume_id"], request["node_id"]))
        return {"publish_context": {"device": "d1"}}

    def controller_unpublish_volume(self, request: Mapping[str, Any]) -> Answer:
        """Detach."""
        self.attached.discard((request["volume_id"], request.get("node_id", "")))
        return {}

    def controller_expand_volume(self, request: Mapping[str, Any]) -> Answer:
        """Grow."""
        self.known(request)
        size = max(self.volumes[request["volume_id"]], int(request["capacity_range"]["required_bytes"]))
        self.volumes[request["volume_id"]] = size
        return {"capacity_bytes": size, "node_expansion_required": True}

    def controller_modify_volume(self, request: Mapping[str, Any]) -> Answer:
        """Give a volume other parameters."""
        self.known(request)
        self.parameters[request["volume_id"]] = dict(request.get("mutable_parameters") or {})
        return {}

    def list_volumes(self, _request: Mapping[str, Any]) -> Answer:
        """Tell where volumes are attached."""
        rows = [
            {
                "volume": {"volume_id": volume, "capacity_bytes": size},
                "status": {"published_node_ids": sorted(node for found, node in self.attached if found == volume)},
            }
            for volume, size in self.volumes.items()
        ]
        return {"entries": rows}

    def get_capacity(self, _request: Mapping[str, Any]) -> Answer:
        """Tell what is left."""
        return {"available_capacity": ROOM - sum(self.volumes.values())}

    def create_snapshot(self, request: Mapping[str, Any]) -> Answer:
        """Make a snapshot, or return that of the name."""
        source = request["source_volume_id"]
        self.known({"volume_id": source})
        name = f"snap-{request['name']}"
        made = {"snapshot_id": name, "source_volume_id": source, "size_bytes": self.volumes[source]}
        found = self.snapshots.setdefault(name, {**made, "creation_time": {"seconds": 1}})
        if found["source_volume_id"] != source:
            raise refused("ALREADY_EXISTS", "it exists of another volume")
        return {"snapshot": {**found, "ready_to_use": self.are_ready}}

    def delete_snapshot(self, request: Mapping[str, Any]) -> Answer:
        """Delete a snapshot."""
        self.snapshots.pop(request["snapshot_id"], None)
        return {}

    def list_snapshots(self, request: Mapping[str, Any]) -> Answer:
        """Return the snapshot of an id."""
        found = self.snapshots.get(request.get("snapshot_id", ""))
        return {"entries": [{"snapshot": {**found, "ready_to_use": self.are_ready}}] if found else []}

    def known(self, request: Mapping[str, Any]) -> None:
        """Check that a volume exists.

        Raises:
            CsiFailed: it does not.
        """
        if request["volume_id"] not in self.volumes:
            raise refused("NOT_FOUND", f"volume {request['volume_id']} does not exist")
