"""Serves a driver at a socket, as a container of its own would, and introduces it to the kubelet."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from hyperkube_lib.csi.calls import CONTROLLER, IDENTITY, NODE, CsiCalls, CsiFailed
from hyperkube_lib.csi.schema import csi_schema
from hyperkube_lib.grpc_messages import GrpcServer, Handler, RpcFailed, unix_socket_of
from hyperkube_lib.plugin_registration import PluginInfo, serve_registration

from hyperkube.hookspecs.volume import VolumeFailed

KIND, VERSIONS = "CSIPlugin", ("1.0.0",)
_log = logging.getLogger("hyperkube.csi")


class CsiServer:
    """A driver behind a socket, and its registration socket if it has one; sockets left by a crash are replaced."""

    def __init__(self, driver: CsiCalls, endpoint: str, registration_dir: str = "") -> None:
        """Prepare.

        Args:
            driver: what is served.
            endpoint: ``unix:///PATH``.
            registration_dir: the kubelet's ``plugins_registry``; empty to be known to no kubelet.

        Raises:
            CsiFailed: the driver does not tell its name.
        """
        self._name = str(driver.call(IDENTITY, "GetPluginInfo", {})["name"])
        self._socket = Path(unix_socket_of(endpoint))
        self._registration = Path(registration_dir) / f"{self._name}-reg.sock" if registration_dir else None
        self._servers = [_driver_server(driver, _free(self._socket))]
        if self._registration is not None:
            server = GrpcServer(threads=2)
            serve_registration(server, PluginInfo(KIND, self._name, str(self._socket), VERSIONS), self._told)
            server.listen(str(_free(self._registration)))
            self._servers.append(server)

    def start(self) -> None:
        """Serve from now on; the driver before its registration."""
        for server in self._servers:
            server.start()

    def close(self) -> None:
        """End, and remove the sockets: the kubelet sees that the driver is gone."""
        for server in reversed(self._servers):
            server.stop(1.0)
        for socket in (self._registration, self._socket):
            if socket is not None:
                socket.unlink(missing_ok=True)

    def _told(self, used: bool, why: str) -> None:
        if used:
            _log.info("driver %s is registered", self._name)
        else:
            _log.warning("driver %s is not registered: %s", self._name, why)


def _free(socket: Path) -> Path:
    socket.parent.mkdir(parents=True, exist_ok=True)
    socket.unlink(missing_ok=True)
    return socket


def _driver_server(driver: CsiCalls, socket: Path) -> GrpcServer:
    server, schema = GrpcServer(), csi_schema()
    for name in (IDENTITY, CONTROLLER, NODE):
        service = schema.service(name)
        server.add_service(service, {method: _handler(driver, name, method) for method in service.methods})
    before = os.umask(0o077)  # a client of a driver may do anything to its volumes
    try:
        server.listen(str(socket))
    finally:
        os.umask(before)
    return server


def _handler(driver: CsiCalls, service: str, method: str) -> Handler:

    def does(request: dict[str, Any]) -> dict[str, Any]:
        try:
            return driver.call(service, method, request)
        except CsiFailed as error:
            raise RpcFailed(error.code, error.details) from error
        except VolumeFailed as error:
            raise RpcFailed("INTERNAL", str(error)) from error

    return does
