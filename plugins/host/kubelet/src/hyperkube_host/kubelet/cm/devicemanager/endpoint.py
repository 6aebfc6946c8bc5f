"""The connection to one device plugin.

Source: kubernetes ``pkg/kubelet/cm/devicemanager/endpoint.go``, ``plugin/v1beta1/client.go``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hyperkube_host.kubelet.apis import device_plugin
from hyperkube_lib.grpc_messages import RpcFailed, Stub, unix_channel

from hyperkube.machinery.dataclass import dataclass

CONNECT_SECONDS = 10.0
ALLOCATE_SECONDS = 60.0
PRE_START_SECONDS = 30.0
MOST_DEVICES = 100_000
_log = logging.getLogger("hyperkube.kubelet.devicemanager")


@dataclass(frozen=True, slots=True)
class Device:
    """A device; `numa_nodes` None when it has no place."""

    id: str
    healthy: bool
    numa_nodes: frozenset[int] | None


class Endpoint:
    """Follows the devices of one plugin, and asks it for them."""

    def __init__(self, resource: str, socket: str) -> None:
        """Connect at the first call."""
        self.resource = resource
        self._channel = unix_channel(socket)
        self._stub = Stub(self._channel, device_plugin().service("DevicePlugin"))
        self._closed = threading.Event()
        self.options: Mapping[str, bool] = {}

    def start(
        self,
        options: Mapping[str, bool] | None,
        devices: Callable[[Endpoint, Sequence[Device]], None],
        gone: Callable[[Endpoint], None],
    ) -> None:
        """Ask for the plugin's options unless it told them, then follow its devices.

        Raises:
            RpcFailed: the plugin does not answer.
        """
        self.options = self._stub.call("GetDevicePluginOptions", {}, CONNECT_SECONDS) if options is None else options
        name = f"device-plugin-{self.resource}"
        threading.Thread(target=self._follow, args=(devices, gone), name=name, daemon=True).start()

    def _follow(self, devices: Callable[[Endpoint, Sequence[Device]], None], gone: Callable[[Endpoint], None]) -> None:
        try:
            with self._stub.stream("ListAndWatch", {}) as answers:
                for answer in answers:
                    if self._closed.is_set():
                        return
                    devices(self, read_devices(answer))
        except (RpcFailed, ValueError) as error:  # ValueError: the channel was closed
            if not self._closed.is_set():
                _log.warning("device plugin of %s: %s", self.resource, error)
        finally:
            gone(self)

    def allocate(self, ids: Sequence[str]) -> dict[str, Any]:
        """Have devices made ready for a container; return the ``ContainerAllocateResponse``.

        Raises:
            RpcFailed: the plugin refused, or took too long.
        """
        request = {"container_requests": [{"devices_ids": list(ids)}]}
        responses = self._stub.call("Allocate", request, ALLOCATE_SECONDS).get("container_responses", [])
        if len(responses) != 1:
            why = f"device plugin returned {len(responses)} container responses, expected 1"
            raise RpcFailed("INTERNAL", why)
        return dict(responses[0])

    def preferred(self, available: Sequence[str], must_include: Sequence[str], size: int) -> list[str]:
        """Return the devices that the plugin would choose itself; empty when it has no preference.

        Raises:
            RpcFailed: the plugin refused, or took too long.
        """
        if not self.options.get("get_preferred_allocation_available"):
            return []
        one = {
            "available_deviceIDs": list(available),
            "must_include_deviceIDs": list(must_include),
            "allocation_size": size,
        }
        answer = self._stub.call("GetPreferredAllocation", {"container_requests": [one]}, CONNECT_SECONDS)
        responses = answer.get("container_responses", [])
        return list(responses[0].get("deviceIDs", [])) if responses else []

    def pre_start_container(self, ids: Sequence[str]) -> None:
        """Have devices reset before a container starts, where the plugin wants that.

        Raises:
            RpcFailed: the plugin refused, or took too long.
        """
        if self.options.get("pre_start_required"):
            self._stub.call("PreStartContainer", {"devices_ids": list(ids)}, PRE_START_SECONDS)

    def close(self) -> None:
        """End the connection."""
        self._closed.set()
        self._channel.close()


def read_devices(answer: Mapping[str, Any]) -> list[Device]:
    """Return the devices of a ``ListAndWatchResponse``, no more than the kubelet is ready to remember."""
    devices = answer.get("devices", [])
    if len(devices) > MOST_DEVICES:
        _log.warning("a device plugin tells of %d devices: only %d are used", len(devices), MOST_DEVICES)
    return [_device(device) for device in devices[:MOST_DEVICES]]


def _device(message: Mapping[str, Any]) -> Device:
    topology = message.get("topology")
    nodes = None if topology is None else frozenset(int(node.get("ID", 0)) for node in topology.get("nodes", []))
    return Device(message.get("ID", ""), message.get("health") == "Healthy", nodes or None)
