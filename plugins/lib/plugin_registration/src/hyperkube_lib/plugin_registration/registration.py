"""Both ends of a registration: the plugin that serves it, and who asks the plugin what it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hyperkube.machinery.dataclass import dataclass

if TYPE_CHECKING:
    from hyperkube_lib.grpc_messages import GrpcServer, Schema

CALL_SECONDS = 1.0
"""How long a plugin may take to introduce itself: one that hangs must not keep the others waiting."""


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """What a plugin says of itself: its type (``CSIPlugin``), its name, its own socket, the versions it speaks."""

    type: str
    name: str
    endpoint: str
    versions: tuple[str, ...]


def registration_schema() -> Schema:
    """Return the messages; read at the first call."""
    from hyperkube_lib.grpc_messages import load_schema

    return load_schema(__package__, "pluginregistration.v1.proto")


def ask_plugin(socket: str) -> PluginInfo:
    """Ask the plugin at a registration socket what it is.

    Raises:
        RpcFailed: it does not answer.
    """
    from hyperkube_lib.grpc_messages import Stub, unix_channel

    with unix_channel(socket) as channel:
        found = Stub(channel, registration_schema().service("Registration")).call("GetInfo", {}, CALL_SECONDS)
    versions = tuple(found.get("supported_versions", ()))
    return PluginInfo(found.get("type", ""), found.get("name", ""), found.get("endpoint") or socket, versions)


def serve_registration(server: GrpcServer, info: PluginInfo, told: Callable[[bool, str], None]) -> None:
    """Serve a registration on a server that listens at a socket of its own.

    Args:
        server: serves it.
        info: what is said.
        told: called with whether the kubelet uses the plugin, and if not, why.
    """
    said = {
        "type": info.type,
        "name": info.name,
        "endpoint": info.endpoint,
        "supported_versions": list(info.versions),
    }

    def status(request: dict[str, Any]) -> dict[str, Any]:
        told(bool(request.get("plugin_registered")), str(request.get("error", "")))
        return {}

    handlers = {"GetInfo": lambda _request: said, "NotifyRegistrationStatus": status}
    server.add_service(registration_schema().service("Registration"), handlers)
