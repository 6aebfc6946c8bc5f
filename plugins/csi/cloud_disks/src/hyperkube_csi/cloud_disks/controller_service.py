"""The controller service: each call of CSI is one, or a few, of the provider's `Disks`.

Source of the rules: github.com/container-storage-interface/spec ``spec.md``; of the waits: kubernetes
``pkg/volume/awsebs/attacher.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hyperkube_csi.cloud_disks.names import Names, node_name_of
from hyperkube_lib.csi import CsiDriver, CsiFailed, refused
from hyperkube_lib.csi.calls import volume_id_of
from hyperkube_lib.csi.capacity_range import CapacityRange
from hyperkube_lib.csi.cloud_refusals import as_csi

from hyperkube.hookspecs.cloud import Disk, DiskRequest, Disks, DiskSnapshot, SnapshotsDisks
from hyperkube.kinds.resources import NODES
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.objects import NodeName, Object

Answer = dict[str, Any]
Request = Mapping[str, Any]
DEVICE: Final = "devicePath"
"""What the node is told of an attached disk: where the cloud says it is."""
DEFAULT_BYTES: Final = 1 << 30
_SNAPSHOTS: Final = "CREATE_DELETE_SNAPSHOT"
_READ_ONLY, _MANY_WRITERS = "MULTI_NODE_READER_ONLY", "MULTI_NODE_MULTI_WRITER"


class ControllerService(CsiDriver):
    """What the cloud does; see `CsiDriver`."""

    names: Names

    def disks(self) -> Disks:
        """Return the cloud's disks."""
        raise NotImplementedError

    def controller_get_capabilities(self, _request: Request) -> Answer:
        """Tell what the controller service can do: what the provider's disks can."""
        with as_csi():
            can = isinstance(self.disks(), SnapshotsDisks)
        names = [*self.controller_capabilities, *([_SNAPSHOTS, "LIST_SNAPSHOTS"] if can else [])]
        return {"capabilities": [{"rpc": {"type": name}} for name in names]}

    # disks

    def create_volume(self, request: Request) -> Answer:
        """Make a disk, or return the one of that name."""
        name, uses = str(request.get("name") or ""), list(request.get("volume_capabilities") or ())
        if not name or not uses:
            raise refused("INVALID_ARGUMENT", "a volume needs a name and capabilities")
        if any("mount" in use and _mode(use) == _MANY_WRITERS for use in uses):
            raise refused("INVALID_ARGUMENT", "a file system on a disk is written by one node")
        room, source = CapacityRange.of(request, DEFAULT_BYTES), request.get("volume_content_source") or {}
        wanted = DiskRequest(
            name=name,
            size=room.least,
            zone=self._zone(request),
            parameters=self.names.parameters(request.get("parameters") or {}),
            snapshot=self._origin(source, room.least),
        )
        with as_csi():
            disk = self.disks().create(wanted)
        room.check(name, disk.size)
        return {"volume": self._volume(disk, source)}

    def _zone(self, request: Request) -> str:
        """Return the zone that is preferred, or the first that is possible; empty for the provider's choice."""
        places = request.get("accessibility_requirements") or {}
        for place in [*(places.get("preferred") or ()), *(places.get("requisite") or ())]:
            if zone := (place.get("segments") or {}).get(self.names.topology):
                return str(zone)
        return ""

    def _origin(self, source: Request, size: int) -> str:
        """Return the snapshot that a volume is made of, empty for none."""
        if not source:
            return ""
        ident = str((source.get("snapshot") or {}).get("snapshot_id") or "")
        if not ident:
            raise refused("INVALID_ARGUMENT", "a disk is made of a snapshot, or empty")
        with as_csi():
            taken = self._snapshots().snapshot(ident)
        if taken.size > size:
            raise refused("OUT_OF_RANGE", f"snapshot {ident} is larger: {taken.size} bytes")
        if not taken.ready:
            raise refused("UNAVAILABLE", f"snapshot {ident} is not ready yet")
        return ident

    def _volume(self, disk: Disk, source: Request) -> Answer:
        found: Answer = {"volume_id": self.names.handle(disk), "capacity_bytes": disk.size}
        if context := self.names.context(disk):
            found["volume_context"] = context
        if source:
            found["content_source"] = dict(source)
        if places := self.names.places(disk.labels):
            found["accessible_topology"] = places
        return found

    def delete_volume(self, request: Request) -> Answer:
        """Delete a disk that no node has."""
        with as_csi("FAILED_PRECONDITION"):
            self.disks().delete(volume_id_of(request))
        return {}

    def controller_publish_volume(self, request: Request) -> Answer:
        """Attach a disk to a node, and tell where the node finds it."""
        disk, node_id = volume_id_of(request), str(request.get("node_id") or "")
        reads = bool(request.get("readonly")) or _mode(request.get("volume_capability") or {}) == _READ_ONLY
        with as_csi():
            device = self.disks().attach(disk, self._node(node_name_of(node_id)), read_only=reads)
        return {"publish_context": {DEVICE: device}}

    def controller_unpublish_volume(self, request: Request) -> Answer:
        """Detach a disk from a node; done once the cloud says so."""
        disk, node = volume_id_of(request), NodeName(node_name_of(str(request.get("node_id") or "")))
        if not node:
            raise refused("INVALID_ARGUMENT", "from which node a volume is to be detached is not said")
        with as_csi():
            self.disks().detach(disk, node)
            if self.disks().attached([disk], node).get(disk):
                raise refused("ABORTED", f"volume {disk} is still being detached from {node}")
        return {}

    def _node(self, name: str) -> Object:
        bare: Object = {"metadata": {"name": name}, "spec": {}}
        if self.context.client is None:
            return bare
        try:
            return self.context.client.get(NODES, name)
        except NotFound:
            return bare

    def validate_volume_capabilities(self, request: Request) -> Answer:
        """Agree to what a disk can be used for."""
        uses = list(request.get("volume_capabilities") or ())
        if any("mount" in use and _mode(use) == _MANY_WRITERS for use in uses):
            return {"message": "a file system on a disk is written by one node"}
        return {"confirmed": {"volume_capabilities": uses}}

    def controller_expand_volume(self, request: Request) -> Answer:
        """Make a disk larger; the node lets its file system follow."""
        with as_csi():
            size = self.disks().resize(volume_id_of(request), CapacityRange.of(request).least)
        is_block = "block" in (request.get("volume_capability") or {})
        return {"capacity_bytes": size, "node_expansion_required": not is_block}

    # snapshots

    def create_snapshot(self, request: Request) -> Answer:
        """Take a snapshot of a disk, or return the one of that name."""
        name, origin = str(request.get("name") or ""), str(request.get("source_volume_id") or "")
        if not name or not origin:
            raise refused("INVALID_ARGUMENT", "a snapshot needs a name and a volume")
        with as_csi():
            taken = self._snapshots().create_snapshot(name, origin)
        if taken.disk and node_name_of(taken.disk) != node_name_of(origin):
            raise refused("ALREADY_EXISTS", f"snapshot {name} is of volume {taken.disk}")
        return {"snapshot": _snapshot(taken, origin)}

    def delete_snapshot(self, request: Request) -> Answer:
        """Delete a snapshot."""
        with as_csi():
            self._snapshots().delete_snapshot(str(request.get("snapshot_id") or ""))
        return {}

    def list_snapshots(self, request: Request) -> Answer:
        """Return the snapshot that is asked for by its id."""
        ident = str(request.get("snapshot_id") or "")
        if not ident:
            raise refused("INVALID_ARGUMENT", "which snapshot is asked for is not said")
        try:
            with as_csi():
                taken = self._snapshots().snapshot(ident)
        except CsiFailed as error:
            if error.code != "NOT_FOUND":
                raise
            return {"entries": []}
        return {"entries": [{"snapshot": _snapshot(taken, taken.disk)}]}

    def _snapshots(self) -> SnapshotsDisks:
        disks = self.disks()
        if not isinstance(disks, SnapshotsDisks):
            raise refused("UNIMPLEMENTED", f"cloud provider {self.names.cloud} takes no snapshots")
        return disks


def _mode(capability: Request) -> str:
    return str((capability.get("access_mode") or {}).get("mode") or "")


def _snapshot(taken: DiskSnapshot, origin: str) -> Answer:
    return {
        "snapshot_id": taken.id,
        "source_volume_id": origin,
        "size_bytes": taken.size,
        "creation_time": {"seconds": int(taken.created)},
        "ready_to_use": taken.ready,
    }
