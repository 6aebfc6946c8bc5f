"""The controller service: makes, deletes, attaches, grows, copies and lists volumes and snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from hyperkube_csi.host_path.freezing import frozen
from hyperkube_csi.host_path.storage import FOLDER, IMAGE, Record, Storage, copy_folder, copy_image, make_image
from hyperkube_lib.csi import CsiDriver, refused
from hyperkube_lib.csi.capacity_range import CapacityRange

from hyperkube.machinery.intstr import parse_int

Answer = dict[str, Any]
Request = Mapping[str, Any]
TOPOLOGY_KEY = "topology.host-path.csi.hyperkube.dev/node"
DEFAULT_BYTES = 1 << 30
_MANY = frozenset({"MULTI_NODE_READER_ONLY", "MULTI_NODE_SINGLE_WRITER", "MULTI_NODE_MULTI_WRITER"})


class ControllerService(CsiDriver):
    """What the storage does; see `CsiDriver`."""

    def storage(self) -> Storage:
        """Return where volumes are."""
        raise NotImplementedError

    def create_volume(self, request: Request) -> Answer:
        """Make a volume, or return the one of that name."""
        name, source = str(request.get("name", "")), request.get("volume_content_source") or {}
        capabilities = list(request.get("volume_capabilities") or ())
        if not name or not capabilities:
            raise refused("INVALID_ARGUMENT", "a volume needs a name and capabilities")
        wanted = self._wanted(request, capabilities)
        with self.storage().locked():
            found = self.storage().volumes.get(name)
            if found is None:
                self._make(name, wanted, source)
                found = wanted
            elif (found["backing"], found["source"]) != (wanted["backing"], wanted["source"]):
                raise refused("ALREADY_EXISTS", f"volume {name} exists and is another")
            CapacityRange.of(request).check(name, found["size"])
        return {"volume": _volume(name, found)}

    def _wanted(self, request: Request, capabilities: Iterable[Request]) -> Record:
        parameters = dict(request.get("parameters") or {})
        is_block = any("block" in each for each in capabilities)
        backing = parameters.pop("backing", FOLDER)
        if backing not in {FOLDER, IMAGE}:
            raise refused("INVALID_ARGUMENT", f'parameter backing must be "{FOLDER}" or "{IMAGE}", not "{backing}"')
        if parameters:
            raise refused("INVALID_ARGUMENT", f'unknown parameter "{min(parameters)}"')
        places = request.get("accessibility_requirements") or {}
        place: Request = next(iter([*(places.get("preferred") or ()), *(places.get("requisite") or ())]), {})
        return {
            "backing": IMAGE if is_block else backing,
            "size": CapacityRange.of(request, DEFAULT_BYTES).least,
            "source": dict(request.get("volume_content_source") or {}),
            "place": dict(place.get("segments") or {}),
            "nodes": [],
            "mutable": dict(request.get("mutable_parameters") or {}),
        }

    def _make(self, name: str, wanted: Record, source: Request) -> None:
        """Make a volume; it is of the same backing as what it is filled with."""
        if not source:
            self._check_room(wanted)
            if wanted["backing"] == IMAGE:
                self.storage().volumes.make(name, wanted, lambda path: make_image(path, wanted["size"]))
            else:
                self.storage().volumes.make(name, wanted, _make_folder)
            return
        if "snapshot" in source:
            shelf, origin = self.storage().snapshots, str(source["snapshot"]["snapshot_id"])
        else:
            shelf, origin = self.storage().volumes, str(source["volume"]["volume_id"])
        found = shelf.get(origin)
        if found is None:
            raise refused("NOT_FOUND", f"{origin} does not exist")
        if found["size"] > wanted["size"]:
            raise refused("OUT_OF_RANGE", f"{origin} is larger: {found['size']} bytes")
        if found["backing"] != wanted["backing"]:
            raise refused("INVALID_ARGUMENT", f"{origin} is of backing {found['backing']}, not {wanted['backing']}")
        self.storage().volumes.make(name, wanted, lambda path: _copy(shelf.data(origin), path, wanted))

    def _check_room(self, wanted: Record) -> None:
        if wanted["backing"] == IMAGE and wanted["size"] > self.storage().free_bytes():
            raise refused("RESOURCE_EXHAUSTED", f"no room for {wanted['size']} bytes")

    def delete_volume(self, request: Request) -> Answer:
        """Delete a volume that no node has."""
        name = str(request.get("volume_id", ""))
        if not name:
            raise refused("INVALID_ARGUMENT", "which volume is to be deleted is not said")
        with self.storage().locked():
            found = self.storage().volumes.get(name)
            if found is not None and found["nodes"]:
                raise refused("FAILED_PRECONDITION", f"volume {name} is attached to {', '.join(found['nodes'])}")
            self.storage().volumes.delete(name)
        return {}

    def controller_publish_volume(self, request: Request) -> Answer:
        """Note that a node has a volume; only one may, unless the access mode says otherwise."""
        name, node = str(request.get("volume_id", "")), str(request.get("node_id", ""))
        mode = ((request.get("volume_capability") or {}).get("access_mode") or {}).get("mode", "")
        with self.storage().locked():
            found = self._known(name)
            if node not in found["nodes"]:
                if found["nodes"] and mode not in _MANY:
                    raise refused("FAILED_PRECONDITION", f"volume {name} is attached to {found['nodes'][0]}")
                self.storage().volumes.change(name, {**found, "nodes": sorted({*found["nodes"], node})})
        return {}

    def controller_unpublish_volume(self, request: Request) -> Answer:
        """Note that a node, or none any more, has a volume."""
        name, node = str(request.get("volume_id", "")), str(request.get("node_id", ""))
        with self.storage().locked():
            found = self.storage().volumes.get(name)
            if found is not None and found["nodes"]:
                left = [each for each in found["nodes"] if node and each != node]
                self.storage().volumes.change(name, {**found, "nodes": left})
        return {}

    def validate_volume_capabilities(self, request: Request) -> Answer:
        """Agree to all that a volume can be used for: a folder is no block device."""
        found = self._known(str(request.get("volume_id", "")))
        capabilities = list(request.get("volume_capabilities") or ())
        if found["backing"] == FOLDER and any("block" in each for each in capabilities):
            return {"message": "a folder is no block device"}
        return {"confirmed": {"volume_capabilities": capabilities}}

    def list_volumes(self, request: Request) -> Answer:
        """Return a page of the volumes."""
        rows = [{"volume": _volume(name, found), "status": {"published_node_ids": found["nodes"]}}
                for name, found in self.storage().volumes.all().items()]  # fmt: skip
        return _page(rows, request)

    def controller_get_volume(self, request: Request) -> Answer:
        """Return a volume."""
        name = str(request.get("volume_id", ""))
        found = self._known(name)
        return {"volume": _volume(name, found), "status": {"published_node_ids": found["nodes"]}}

    def get_capacity(self, _request: Request) -> Answer:
        """Tell what is free: of this machine, whatever place is asked for."""
        return {"available_capacity": self.storage().free_bytes()}

    def controller_expand_volume(self, request: Request) -> Answer:
        """Make a volume larger; the node lets the file system of an image follow."""
        name = str(request.get("volume_id", ""))
        size = CapacityRange.of(request).least
        with self.storage().locked():
            found = self._known(name)
            if size > found["size"]:
                if found["backing"] == IMAGE:
                    self._check_room({"backing": IMAGE, "size": size - found["size"]})
                    make_image(self.storage().volumes.data(name), size)
                found = {**found, "size": size}
                self.storage().volumes.change(name, found)
        return {"capacity_bytes": found["size"], "node_expansion_required": found["backing"] == IMAGE}

    def controller_modify_volume(self, request: Request) -> Answer:
        """Keep other mutable parameters with a volume; ``note`` is the only one there is."""
        name, wanted = str(request.get("volume_id", "")), dict(request.get("mutable_parameters") or {})
        if unknown := sorted(wanted.keys() - {"note"}):
            raise refused("INVALID_ARGUMENT", f'unknown mutable parameter "{unknown[0]}"')
        with self.storage().locked():
            self.storage().volumes.change(name, {**self._known(name), "mutable": wanted})
        return {}

    # snapshots

    def create_snapshot(self, request: Request) -> Answer:
        """Copy a volume as it is now; its file system stands still meanwhile."""
        name, origin = str(request.get("name", "")), str(request.get("source_volume_id", ""))
        if not name or not origin:
            raise refused("INVALID_ARGUMENT", "a snapshot needs a name and a volume")
        with self.storage().locked():
            found = self.storage().snapshots.get(name)
            if found is None:
                volume = self._known(origin)
                made = int(self.context.clock.now().timestamp())
                found = {"origin": origin, "size": volume["size"], "backing": volume["backing"], "made": made}
                data = self.storage().volumes.data(origin)
                self.storage().snapshots.make(name, found, lambda path: _copy(data, path, volume))
            elif found["origin"] != origin:
                raise refused("ALREADY_EXISTS", f"snapshot {name} is of volume {found['origin']}")
        return {"snapshot": _snapshot(name, found)}

    def delete_snapshot(self, request: Request) -> Answer:
        """Delete a snapshot."""
        with self.storage().locked():
            self.storage().snapshots.delete(str(request.get("snapshot_id", "")))
        return {}

    def list_snapshots(self, request: Request) -> Answer:
        """Return a page of the snapshots, of one volume or of one id if asked so."""
        name, origin = request.get("snapshot_id"), request.get("source_volume_id")
        rows = [
            {"snapshot": _snapshot(found, record)}
            for found, record in self.storage().snapshots.all().items()
            if (not name or found == name) and (not origin or record["origin"] == origin)
        ]
        return _page(rows, request)

    def _known(self, name: str) -> Record:
        found = self.storage().volumes.get(name)
        if found is None:
            raise refused("NOT_FOUND", f"volume {name} does not exist")
        return found


def _make_folder(path: Path) -> None:
    path.mkdir()
    path.chmod(0o777)


def _copy(source: Path, target: Path, record: Record) -> None:
    if record["backing"] == FOLDER:
        copy_folder(source, target)
        return
    with ExitStack() as stack:
        frozen(stack, source)
        copy_image(source, target, record["size"])


def _volume(name: str, record: Record) -> Answer:
    found: Answer = {"volume_id": name, "capacity_bytes": record["size"]}
    if record["source"]:
        found["content_source"] = record["source"]
    if record["place"]:
        found["accessible_topology"] = [{"segments": record["place"]}]
    return found


def _snapshot(name: str, record: Record) -> Answer:
    return {
        "snapshot_id": name,
        "source_volume_id": record["origin"],
        "size_bytes": record["size"],
        "creation_time": {"seconds": record["made"]},
        "ready_to_use": True,
    }


def _page(rows: list[Answer], request: Request) -> Answer:
    token, most = str(request.get("starting_token") or "0"), int(request.get("max_entries") or 0)
    start = parse_int(token)
    if start is None or start < 0:
        raise refused("ABORTED", f"invalid starting token {token!r}")
    page = rows[start : start + most] if most else rows[start:]
    end = start + len(page)
    return {"entries": page, **({"next_token": str(end)} if end < len(rows) else {})}
