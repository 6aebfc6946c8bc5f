"""How device plugins register: at the kubelet's own socket, or by a socket that the plugin manager finds.

Source: kubernetes ``pkg/kubelet/cm/devicemanager/plugin/v1beta1/{server,handler,api}.go``.
"""

from __future__ import annotations

import logging
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hyperkube_host.kubelet.apis import device_plugin
from hyperkube_host.kubelet.cm.devicemanager.device_manager import DeviceManager
from hyperkube_host.kubelet.cm.socket_service import SocketService
from hyperkube_host.kubelet.pluginmanager.plugin_manager import PluginRefused
from hyperkube_lib.grpc_messages import RpcFailed

from hyperkube.kinds.resource_lists import is_extended

FOLDER, SOCKET = "device-plugins", "kubelet.sock"
VERSION = "v1beta1"
_log = logging.getLogger("hyperkube.kubelet.devicemanager")


class DeviceRegistration:
    """The registration service, and the handler of plugins of type ``DevicePlugin``."""

    def __init__(self, folder: Path, devices: DeviceManager) -> None:
        """Serve in a folder."""
        self._folder = folder
        self._devices = devices
        self._service = SocketService(folder / SOCKET)

    def start(self) -> None:
        """Serve; sockets of an earlier run are removed: by that plugins see that they must register anew."""
        for entry in self._folder.iterdir() if self._folder.is_dir() else ():
            if stat.S_ISSOCK(entry.lstat().st_mode):
                entry.unlink(missing_ok=True)
        self._service.start(device_plugin().service("Registration"), {"Register": self._register})

    def close(self) -> None:
        """Serve no more."""
        self._service.close()

    def _register(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        name, endpoint = request.get("resource_name", ""), request.get("endpoint", "")
        try:
            self.validate(name, endpoint, [request.get("version", "")])
            self._connect(name, str(self._folder / _checked(endpoint)), request.get("options", {}))
        except PluginRefused as error:
            _log.warning("device plugin is refused: %s", error)
            raise RpcFailed("UNKNOWN", str(error)) from error
        return {}

    def validate(self, name: str, endpoint: str, versions: Sequence[str]) -> None:
        """See `PluginHandler`."""
        del endpoint
        if VERSION not in versions:
            found = ", ".join(versions)
            raise PluginRefused(
                f'requested API version "{found}" is not supported by kubelet. Supported version is "{VERSION}"'
            )
        if not is_extended(name):
            raise PluginRefused(f'the ResourceName "{name}" is invalid')

    def register(self, name: str, endpoint: str, versions: Sequence[str]) -> None:
        """See `PluginHandler`."""
        del versions
        self._connect(name, endpoint, None)

    def _connect(self, name: str, endpoint: str, options: Mapping[str, bool] | None) -> None:
        try:
            self._devices.connect(name, endpoint, options)
        except RpcFailed as error:
            raise PluginRefused(f"device plugin of {name} at {endpoint} does not answer: {error}") from error

    def deregister(self, name: str, endpoint: str) -> None:
        """See `PluginHandler`."""
        del endpoint
        self._devices.disconnect(name)


def _checked(endpoint: str) -> str:
    """Return the name of a socket in the folder of device plugins, and nowhere else.

    Raises:
        PluginRefused: it is none.
    """
    if not endpoint or "/" in endpoint or endpoint in {".", "..", SOCKET}:
        raise PluginRefused(f"endpoint {endpoint!r} is no name of a socket in the folder of device plugins")
    return endpoint
