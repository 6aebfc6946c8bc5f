"""The CSINode of a node: its drivers, and which kinds that were in the tree drivers serve there.

Source: kubernetes ``pkg/volume/csi/nodeinfomanager/nodeinfomanager.go``, ``pkg/volume/csi/csi_plugin.go`` (Init).
"""

from __future__ import annotations

from collections.abc import Callable

from hyperkube_lib.csi_translation import IN_TREE

from hyperkube.client.client import Client
from hyperkube.kinds.resources import CSI_NODES, NODES
from hyperkube.machinery.errors import AlreadyExists, Conflict, NotFound
from hyperkube.machinery.objects import Object, annotations_of, name_of, uid_of

MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
"""The annotation that lists the kinds; the scheduler and those who attach read it."""
_ATTEMPTS = 5


def with_migrated_plugins(csi_node: Object) -> Object:
    """Return a CSINode that lists the kinds: the same one if it does so already, in whichever order."""
    migrated = {kind.plugin for kind in IN_TREE}
    annotations = annotations_of(csi_node)
    if set(annotations.get(MIGRATED_PLUGINS, "").split(",")) == migrated:
        return csi_node
    annotations = {**annotations, MIGRATED_PLUGINS: ",".join(sorted(migrated))}
    return {**csi_node, "metadata": {**csi_node["metadata"], "annotations": annotations}}


def with_driver(csi_node: Object, row: Object) -> Object:
    """Return a CSINode that has the row of a driver in place of what it said of it before; the same if it has it."""
    known = csi_node["spec"].get("drivers") or []
    if row in known:
        return csi_node
    others = [one for one in known if one["name"] != row["name"]]
    return {**csi_node, "spec": {**csi_node["spec"], "drivers": [*others, row]}}


class CsiNodes:
    """Writes the CSINode of a node."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def initialize(self, node_name: str) -> None:
        """Make it, or list the kinds in it: before any driver has come.

        Raises:
            ApiError: it cannot be written, or there is no such node.
        """
        self._write(node_name, with_migrated_plugins)

    def install(self, node_name: str, row: Object) -> None:
        """Put the row of a driver into it.

        Raises:
            ApiError: it cannot be written.
        """
        self._write(node_name, lambda found: with_driver(with_migrated_plugins(found), row))

    def _write(self, node_name: str, change: Callable[[Object], Object]) -> None:
        for attempt in range(_ATTEMPTS):
            try:
                self._write_once(node_name, change)
            except (Conflict, AlreadyExists):
                if attempt == _ATTEMPTS - 1:
                    raise
            else:
                return

    def _write_once(self, node_name: str, change: Callable[[Object], Object]) -> None:
        try:
            found = self._client.get(CSI_NODES, node_name)
        except NotFound:
            self._client.create(CSI_NODES, change(_new(self._client.get(NODES, node_name))))
            return
        changed = change(found)
        if changed is not found:
            self._client.update(CSI_NODES, changed)


def _new(node: Object) -> Object:
    owner = {"apiVersion": "v1", "kind": "Node", "name": name_of(node), "uid": uid_of(node)}
    meta = {"name": name_of(node), "ownerReferences": [owner]}
    return {"kind": "CSINode", "apiVersion": "storage.k8s.io/v1", "metadata": meta, "spec": {"drivers": []}}
