"""A driver in memory: the twin of a driver behind a socket, which notes its calls and fails when it is told to.

What it keeps is what must not leak: volumes, where they are attached, staged and published. Its rules of idempotency
are those of the specification, so that a test sees what is done twice and what is left behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from hyperkube_lib.csi.calls import CsiFailed, read_capabilities

_NODE = ("STAGE_UNSTAGE_VOLUME", "GET_VOLUME_STATS", "EXPAND_VOLUME")
_CONTROLLER = ("CREATE_DELETE_VOLUME", "PUBLISH_UNPUBLISH_VOLUME", "EXPAND_VOLUME")
Answer = dict[str, Any]


class MemoryDriver:
    """A driver; see `CsiCalls`.

    Attributes:
        calls: method names, in order.
        requests: the last request of each method.
        volumes: volume id → size.
        attached, staged, published: (volume id, node or path).
        formatted: how often each volume got a file system.
        fail_before, fail_after: methods that fail, before they do anything or once they have done it.
    """

    def __init__(
        self, name: str = "memory.csi.example.com", node: Iterable[str] = _NODE, controller: Iterable[str] = _CONTROLLER
    ) -> None:
        self.name = name
        self._can = {"Node": tuple(node), "Controller": tuple(controller)}
        self.calls: list[str] = []
        self.requests: dict[str, Mapping[str, Any]] = {}
        self.volumes: dict[str, int] = {}
        self.attached: set[tuple[str, str]] = set()
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
            raise _failed(self.fail_before[method], f"{method} fails before it begins")
        does = {"NodeGetCapabilities": self._capabilities, "ControllerGetCapabilities": self._capabilities}
        own: Callable[[Mapping[str, Any]], Answer] | None = getattr(self, f"_{_snake(method)}", None)
        if method in does:
            answer = does[method](service)
        elif own is None:
            raise _failed("UNIMPLEMENTED", f"unknown method {method}")
        else:
            answer = own(request)
        if method in self.fail_after:
            raise _failed(self.fail_after[method], f"{method} is done, but its answer is lost")
        return answer

    def capabilities(self, service: str) -> frozenset[str]:
        """Return what a service can do."""
        return read_capabilities(self._capabilities(service))

    def close(self) -> None:
        """Stay as it is."""

    def _capabilities(self, service: str) -> Answer:
        return {"capabilities": [{"rpc": {"type": name}} for name in self._can[service]]}

    def _get_plugin_info(self, _request: Mapping[str, Any]) -> Answer:
        return {"name": self.name, "vendor_version": "1"}

    def _probe(self, _request: Mapping[str, Any]) -> Answer:
        return {}

    def _get_plugin_capabilities(self, _request: Mapping[str, Any]) -> Answer:
        return {"capabilities": [{"service": {"type": "CONTROLLER_SERVICE"}}]}

    def _node_get_info(self, _request: Mapping[str, Any]) -> Answer:
        topology = {"segments": {"topology.example.com/node": "n1"}}
        return {"node_id": "n1", "max_volumes_per_node": 8, "accessible_topology": topology}

    # the controller's

    def _create_volume(self, request: Mapping[str, Any]) -> Answer:
        size = int((request.get("capacity_range") or {}).get("required_bytes") or 1 << 20)
        name = f"vol-{request['name']}"
        if self.volumes.setdefault(name, size) < size:
            raise _failed("ALREADY_EXISTS", "it exists with another size")
        return {"volume": {"volume_id": name, "capacity_bytes": self.volumes[name]}}

    def _delete_volume(self, request: Mapping[str, Any]) -> Answer:
        self.volumes.pop(request["volume_id"], None)
        return {}

    def _controller_publish_volume(self, request: Mapping[str, Any]) -> Answer:
        self._known(request)
        self.attached.add((request["volume_id"], request["node_id"]))
        return {"publish_context": {"device": "d1"}}

    def _controller_unpublish_volume(self, request: Mapping[str, Any]) -> Answer:
        self.attached.discard((request["volume_id"], request.get("node_id", "")))
        return {}

    def _controller_expand_volume(self, request: Mapping[str, Any]) -> Answer:
        self._known(request)
        size = max(self.volumes[request["volume_id"]], int(request["capacity_range"]["required_bytes"]))
        self.volumes[request["volume_id"]] = size
        return {"capacity_bytes": size, "node_expansion_required": True}

    # the node's

    def _node_stage_volume(self, request: Mapping[str, Any]) -> Answer:
        self._known(request)
        volume = request["volume_id"]
        if not self.formatted.get(volume):
            self.formatted[volume] = 1
        self.staged.add((volume, request["staging_target_path"]))
        return {}

    def _node_unstage_volume(self, request: Mapping[str, Any]) -> Answer:
        self.staged.discard((request["volume_id"], request["staging_target_path"]))
        return {}

    def _node_publish_volume(self, request: Mapping[str, Any]) -> Answer:
        target = Path(request["target_path"])
        if "block" in request["volume_capability"]:
            target.touch()
        else:
            target.mkdir(exist_ok=True)
        self.published.add((request["volume_id"], str(target)))
        return {}

    def _node_unpublish_volume(self, request: Mapping[str, Any]) -> Answer:
        target = Path(request["target_path"])
        if target.is_dir():
            target.rmdir()
        else:
            target.unlink(missing_ok=True)
        self.published.discard((request["volume_id"], str(target)))
        return {}

    def _node_get_volume_stats(self, _request: Mapping[str, Any]) -> Answer:
        return {"usage": [{"total": 100, "used": 40, "available": 60, "unit": "BYTES"}, {"used": 3, "unit": "INODES"}]}

    def _node_expand_volume(self, request: Mapping[str, Any]) -> Answer:
        return {"capacity_bytes": int(request["capacity_range"]["required_bytes"])}

    def _known(self, request: Mapping[str, Any]) -> None:
        if request["volume_id"] not in self.volumes:
            raise _failed("NOT_FOUND", f"volume {request['volume_id']} does not exist")


def _failed(code: str, details: str) -> CsiFailed:
    return CsiFailed(code, f"rpc error: code = {code.title().replace('_', '')} desc = {details}")


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")
