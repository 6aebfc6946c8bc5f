"""The drivers of a node: they introduce themselves at a socket, and the node's CSINode tells of them.

Source: kubernetes ``pkg/volume/csi/csi_plugin.go`` (RegistrationHandler), ``nodeinfomanager/nodeinfomanager.go``.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hyperkube_lib.csi import NODE, CsiCalls, CsiFailed
from hyperkube_volume.csi.csi_node import CsiNodes

from hyperkube.client.client import Client
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.kinds.resources import NODES
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, annotations_of, labels_of

NODE_ID = "csi.volume.kubernetes.io/nodeid"


class Drivers:
    """Registered drivers by name; thread-safe."""

    def __init__(self, connect: Callable[[str], CsiCalls], client: Client | None) -> None:
        """Reach drivers with `connect`; without a `client` the API does not learn of them."""
        self._connect = connect
        self._client = client
        self._lock = threading.Lock()
        self._drivers: dict[str, tuple[str, CsiCalls]] = {}
        self._limits: dict[str, int] = {}

    def get(self, name: str, problem: str = "") -> CsiCalls:
        """Return a driver; `problem` is what it means for a pod that there is none.

        Raises:
            VolumeFailed: it is not registered, or not any more.
        """
        with self._lock:
            found = self._drivers.get(name)
        if found is None:
            where = f"kubernetes.io/csi: {problem}: " if problem else ""
            raise VolumeFailed(f"{where}driver name {name} not found in the list of registered CSI drivers")
        return found[1]

    def limits(self) -> Mapping[str, int]:
        """Return how many volumes of each driver the node can have."""
        with self._lock:
            return dict(self._limits)

    def initialize_node(self, node_name: str) -> None:
        """Tell the API of the node before any driver has come; nothing without an API.

        Raises:
            VolumeFailed: it cannot be told now.
        """
        if self._client is None:
            return
        try:
            CsiNodes(self._client).initialize(node_name)
        except (ApiError, ConnectionError) as error:
            raise VolumeFailed(f"error updating CSINode annotation: {error}") from error

    def validate(self, name: str, versions: Sequence[str]) -> None:
        """Check a driver.

        Raises:
            VolumeFailed: it speaks no version that is understood.
        """
        if not any(version.lstrip("v").split(".")[0] == "1" for version in versions):
            text = "none of the CSI versions reported by this driver are supported"
            raise VolumeFailed(f"rpc error: RegisterPlugin error -- validation of CSI driver {name} failed: {text}")

    def register(self, name: str, endpoint: str, node_name: str) -> None:
        """Ask a driver about the node, and tell the API.

        Raises:
            VolumeFailed: it does not answer, or the API cannot be told.
        """
        self.register_calls(name, endpoint, self._connect(endpoint), node_name)

    def register_calls(self, name: str, endpoint: str, calls: CsiCalls, node_name: str) -> None:
        """Do so with a driver that is connected already, or is within this process."""
        try:
            info = calls.call(NODE, "NodeGetInfo", {})
            self._tell(name, node_name, info)
        except (CsiFailed, ApiError, ConnectionError) as error:
            calls.close()
            raise VolumeFailed(f"error updating Node object with CSI driver node info: {error}") from error
        with self._lock:
            before = self._drivers.get(name)
            self._drivers[name] = (endpoint, calls)
            if limit := int(info.get("max_volumes_per_node") or 0):
                self._limits[name] = limit
        if before is not None:
            before[1].close()

    def deregister(self, name: str, endpoint: str) -> None:
        """Forget a driver, unless it has come back at another socket; CSINode goes on to tell of it."""
        with self._lock:
            found = self._drivers.get(name)
            if found is None or found[0] != endpoint:
                return
            del self._drivers[name]
        found[1].close()

    def close(self) -> None:
        """Make no more calls."""
        with self._lock:
            drivers, self._drivers = list(self._drivers.values()), {}
        for _, calls in drivers:
            calls.close()

    def _tell(self, name: str, node_name: str, info: Mapping[str, Any]) -> None:
        if self._client is None:
            return
        topology = (info.get("accessible_topology") or {}).get("segments") or {}
        node = self._client.get(NODES, node_name)
        ids = json.loads(annotations_of(node).get(NODE_ID) or "{}") | {name: info["node_id"]}
        labels = {key: value for key, value in topology.items() if labels_of(node).get(key) != value}
        meta: Object = {"annotations": {NODE_ID: json.dumps(ids, sort_keys=True, separators=(",", ":"))}}
        self._client.patch(NODES, node_name, {"metadata": {**meta, **({"labels": labels} if labels else {})}})
        row: Object = {"name": name, "nodeID": info["node_id"], "topologyKeys": sorted(topology) or None}
        if count := int(info.get("max_volumes_per_node") or 0):
            row["allocatable"] = {"count": count}
        CsiNodes(self._client).install(node_name, row)
