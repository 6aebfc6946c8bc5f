"""Which container has which devices, and what it was told to use them; kept in ``kubelet_internal_checkpoint``.

Sources: kubernetes ``pkg/kubelet/cm/devicemanager/pod_devices.go``, ``checkpoint/checkpoint.go``.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hyperkube_host.kubelet.apis import device_plugin
from hyperkube_host.kubelet.checkpointmanager.checkpoint_file import (
    CheckpointCorrupt,
    CheckpointFile,
    canonical_json,
)
from hyperkube_lib.grpc_messages import from_mapping, to_mapping

from hyperkube.machinery.dataclass import dataclass

FILE_NAME = "kubelet_internal_checkpoint"
NO_NODE = -1
_RESPONSE = "ContainerAllocateResponse"
_log = logging.getLogger("hyperkube.kubelet.devicemanager")


@dataclass(frozen=True, slots=True)
class Allocation:
    """Devices of one resource that a container has.

    Attributes:
        by_node: NUMA node (-1 for none) → ids of devices.
        response: the plugin's ``ContainerAllocateResponse``.
    """

    by_node: Mapping[int, tuple[str, ...]]
    response: Mapping[str, Any]

    @property
    def ids(self) -> frozenset[str]:
        """The ids of all devices."""
        return frozenset(one for ids in self.by_node.values() for one in ids)


class PodDevices:
    """The allocations of all containers; not for several threads at a time."""

    def __init__(self, folder: Path) -> None:
        """Read what an earlier kubelet gave; a file that cannot be trusted counts as none, as upstream has it."""
        self._file = CheckpointFile(folder / FILE_NAME, key="Checksum", print_for_hash=canonical_json)
        self._of: dict[tuple[str, str], dict[str, Allocation]] = {}
        self.registered: dict[str, tuple[str, ...]] = {}
        try:
            content = self._file.read()
            if content is not None:
                self._restore(content["Data"])
        except (CheckpointCorrupt, KeyError, TypeError, ValueError, AttributeError) as error:
            _log.warning("device allocations of an earlier kubelet cannot be read: %s", error)

    def _restore(self, data: Mapping[str, Any]) -> None:
        message = device_plugin().message(_RESPONSE)
        for entry in data["PodDeviceEntries"] or ():
            response = to_mapping(message.FromString(base64.b64decode(entry["AllocResp"])))
            by_node = {int(node): tuple(ids) for node, ids in entry["DeviceIDs"].items()}
            self.insert(entry["PodUID"], entry["ContainerName"], entry["ResourceName"], Allocation(by_node, response))
        self.registered = {name: tuple(ids) for name, ids in (data["RegisteredDevices"] or {}).items()}

    def store(self, registered: Mapping[str, Iterable[str]]) -> None:
        """Write all down, with the devices that are there."""
        message = device_plugin().message(_RESPONSE)
        entries = [
            {
                "PodUID": uid,
                "ContainerName": name,
                "ResourceName": resource,
                "DeviceIDs": {str(node): list(ids) for node, ids in allocation.by_node.items()},
                "AllocResp": base64.b64encode(from_mapping(message, allocation.response).SerializeToString()).decode(),
            }
            for (uid, name), resources in self._of.items()
            for resource, allocation in resources.items()
        ]
        devices = {name: sorted(ids) for name, ids in registered.items()}
        self._file.write({"Data": {"PodDeviceEntries": entries, "RegisteredDevices": devices}})

    def insert(self, uid: str, container: str, resource: str, allocation: Allocation) -> None:
        """Note what a container has."""
        self._of.setdefault((uid, container), {})[resource] = allocation

    def of_container(self, uid: str, container: str) -> Mapping[str, Allocation]:
        """Return resource → what a container has of it."""
        return self._of.get((uid, container), {})

    def in_use(self, resource: str) -> frozenset[str]:
        """Return the devices of a resource that a container has."""
        found = (resources.get(resource) for resources in self._of.values())
        return frozenset(one for allocation in found if allocation is not None for one in allocation.ids)

    def pods(self) -> set[str]:
        """Return the uids of the pods that have devices."""
        return {uid for uid, _ in self._of}

    def remove(self, uids: set[str]) -> None:
        """Take back what those pods had."""
        self._of = {key: resources for key, resources in self._of.items() if key[0] not in uids}

    def __iter__(self) -> Iterator[tuple[str, str, str, Allocation]]:
        """Yield pod uid, container, resource and what is given of it."""
        for (uid, name), resources in self._of.items():
            for resource, allocation in resources.items():
                yield uid, name, resource, allocation
