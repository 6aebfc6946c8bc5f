"""Gives each pod with ``hostUsers: false`` ids of the node that no other pod has.

What a pod was given stands in its folder, so that it outlives the kubelet and is free again when the folder is gone.
Source: kubernetes ``pkg/kubelet/userns/userns_manager.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from hyperkube_host.kubelet.directories import KubeletDirectories

from hyperkube.hookspecs.runtime import Config, RuntimeFailed
from hyperkube.machinery.objects import Object, uid_of

LENGTH = 65536
"""The ids of a pod; the first range of the node is its own."""
_FILE = "userns"


class UserNamespaceManager:
    """Hands out ranges of ids; thread-safe."""

    def __init__(self, directories: KubeletDirectories, most_pods: int, supports: Callable[[str], bool | None]) -> None:
        """Hand out `most_pods` ranges.

        Args:
            directories: where pods have their folders.
            most_pods: how many pods the node runs at most.
            supports: tells whether a runtime handler has user namespaces; None where the runtime knows none at all.
        """
        self._directories = directories
        self._most_pods = most_pods
        self._supports = supports
        self._lock = threading.Lock()

    def mappings(self, pod: Object, handler: str) -> Config | None:
        """Return the ``UserNamespace`` of a pod, None for that of the node.

        Raises:
            RuntimeFailed: the runtime handler has none, or all ranges are taken.
        """
        if pod["spec"].get("hostUsers", True) is not False:
            return None
        supported = self._supports(handler)
        if supported is None:
            return None  # such a runtime tells of fields that it does not honour itself
        if not supported:
            raise RuntimeFailed("runtime does not support user namespaces")
        with self._lock:
            first = self._recorded(uid_of(pod)) or self._record(uid_of(pod))
        mapping = {"host_id": first, "length": LENGTH}
        return {"uids": [mapping], "gids": [mapping]}

    def _recorded(self, uid: str) -> int:
        """Return the first id of a pod's range, 0 for none."""
        try:
            found: Mapping[str, Any] = orjson.loads((self._directories.pod(uid) / _FILE).read_bytes())
            return int(found["uidMappings"][0]["hostId"])
        except (OSError, ValueError, LookupError, TypeError):
            return 0

    def _record(self, uid: str) -> int:
        taken = {self._recorded(other) for other in self._directories.pod_uids()}
        ranges = (number * LENGTH for number in range(1, self._most_pods + 1))
        first = next((start for start in ranges if start not in taken), 0)
        if not first:
            raise RuntimeFailed("could not find an empty slot to allocate a user namespace")
        mapping = [{"hostId": first, "containerId": 0, "length": LENGTH}]
        folder = self._directories.pod(uid)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _FILE).write_bytes(orjson.dumps({"uidMappings": mapping, "gidMappings": mapping}))
        return first


def with_id_mappings(mount: Config, namespace: Config | None) -> Config:
    """Return a mount whose files belong, in the pod's user namespace, to whom they belong on the node."""
    if namespace is None or not mount.get("host_path"):
        return mount
    return {**mount, "uidMappings": namespace["uids"], "gidMappings": namespace["gids"]}
