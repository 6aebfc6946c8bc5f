"""A driver in memory: the twin of a driver behind a socket, which notes its calls and fails when it is told to.

What it keeps is what must not leak: volumes, snapshots, where volumes are attached, staged and published. Its rules of
idempotency are those of the specification, so that a test sees what is done twice and what is left behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hyperkube_lib.csi.calls import answer, read_capabilities, refused
from hyperkube_lib.csi.memory_storage import MemoryStorage

_NODE = ("STAGE_UNSTAGE_VOLUME", "GET_VOLUME_STATS", "EXPAND_VOLUME")
_CONTROLLER = ("CREATE_DELETE_VOLUME", "PUBLISH_UNPUBLISH_VOLUME", "EXPAND_VOLUME")
Answer = dict[str, Any]


class MemoryDriver(MemoryStorage):
    """A driver; see `CsiCalls`.

    Attributes:
        calls: method names, in order.
        requests: the last request of each method.
        staged, published: (volume id, path).
        formatted: how often each volume got a file system.
        fail_before, fail_after: methods that fail, before they do anything or once they have done it.
    """

    def __init__(
        self,
        name: str = "memory.csi.example.com",
        node: Iterable[str] = _NODE,
        controller: Iterable[str] = _CONTROLLER,
        services: Iterable[str] = ("CONTROLLER_SERVICE",),
    ) -> None:
        super().__init__()
        self.name = name
        self._services = tuple(services)
        self._can = {"Node": tuple(node), "Controller": tuple(controller)}
        self.calls: list[str] = []
        self.requests: dict[str, Mapping[str, Any]] = {}
        self.staged: set[tuple[str, str]] = set()
        self.published: set[tuple[str, str]] = set()
        self.formatted: dict[str, int] = {}
        self.fail_before: dict[str, str] = {}
        self.fail_after: dict[str, str] = {}

    def call(self, service: str, method: str, request: Mapping[str, Any]) -> Answer:
        """Note a call and answer it."""
        self.calls.append(method)
        self.requests[method] = request
        if method in self.fail_before:
            raise refused(self.fail_before[method], f"{method} fails before it begins")
        found = self._capabilities(service) if method == f"{service}GetCapabilities" else answer(self, method, request)
        if method in self.fail_after:
            raise refused(self.fail_after[method], f"{method} is done, but its answer is lost")
        return found

    def capabilities(self, service: str) -> frozenset[str]:
        """Return what a service can do."""
        return read_capabilities(self._capabilities(service))

    def close(self) -> None:
        """Stay as it is."""

    def _capabilities(self, service: str) -> Answer:
        return {"capabilities": [{"rpc": {"type": name}} for name in self._can[service]]}

    def get_plugin_info(self, _request: Mapping[str, Any]) -> Answer:
        """Tell the name."""
        return {"name": self.name, "vendor_version": "1"}

    def probe(self, _request: Mapping[str, Any]) -> Answer:
        """Be ready."""
        return {}

    def get_plugin_capabilities(self, _request: Mapping[str, Any]) -> Answer:
        """Tell the services."""
        return {"capabilities": [{"service": {"type": name}} for name in self._services]}

    def node_get_info(self, _request: Mapping[str, Any]) -> Answer:
        """Tell of the one node."""
        topology = {"segments": {"topology.example.com/node": "n1"}}
        return {"node_id": "n1", "max_volumes_per_node": 8, "accessible_topology": topology}

    def node_stage_volume(self, request: Mapping[str, Any]) -> Answer:
        """Format a volume that is new."""
        self.known(request)
        volume = request["volume_id"]
        if not self.formatted.get(volume):
            self.formatted[volume] = 1
        self.staged.add((volume, request["staging_target_path"]))
        return {}

    def node_unstage_volume(self, request: Mapping[str, Any]) -> Answer:
        """Note it."""
        self.staged.discard((request["volume_id"], request["staging_target_path"]))
        return {}

    def node_publish_volume(self, request: Mapping[str, Any]) -> Answer:
        """Make the folder or the file that stands for the volume."""
        target = Path(request["target_path"])
        if "block" in request["volume_capability"]:
            target.touch()
        else:
            target.mkdir(exist_ok=True)
        self.published.add((request["volume_id"], str(target)))
        return {}

    def node_unpublish_volume(self, request: Mapping[str, Any]) -> Answer:
        """Remove it."""
        target = Path(request["target_path"])
        if target.is_dir():
            target.rmdir()
        else:
            target.unlink(missing_ok=True)
        self.published.discard((request["volume_id"], str(target)))
        return {}

    def node_get_volume_stats(self, _request: Mapping[str, Any]) -> Answer:
        """Tell figures."""
        return {"usage": [{"total": 100, "used": 40, "available": 60, "unit": "BYTES"}, {"used": 3, "unit": "INODES"}]}

    def node_expand_volume(self, request: Mapping[str, Any]) -> Answer:
        """Agree."""
        return {"capacity_bytes": int(request["capacity_range"]["required_bytes"])}
