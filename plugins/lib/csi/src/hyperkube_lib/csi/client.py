"""Calls a driver behind a unix socket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperkube_lib.csi.calls import CONTROLLER, IDENTITY, NODE, CsiFailed, read_capabilities
from hyperkube_lib.csi.schema import csi_schema
from hyperkube_lib.grpc_messages import RpcFailed, Stub, unix_channel, unix_socket_of

CALL_SECONDS = 120.0
"""Kubernetes: ``csiTimeout`` of ``pkg/volume/csi``."""


class CsiClient:
    """A driver; see `CsiCalls`. May be used from several threads."""

    def __init__(self, endpoint: str, seconds: float = CALL_SECONDS) -> None:
        """Connect at the first call; each call may take `seconds`."""
        self._channel = unix_channel(unix_socket_of(endpoint))
        self._seconds = seconds
        schema = csi_schema()
        self._stubs = {name: Stub(self._channel, schema.service(name)) for name in (IDENTITY, CONTROLLER, NODE)}

    def call(self, service: str, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Call a method."""
        try:
            return self._stubs[service].call(method, request, self._seconds)
        except RpcFailed as error:
            raise CsiFailed(error.code, str(error)) from error

    def capabilities(self, service: str) -> frozenset[str]:
        """Return what a service can do."""
        return read_capabilities(self.call(service, f"{service}GetCapabilities", {}))

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()
