"""The remote runtime: containers of a runtime that serves CRI v1 on a socket: containerd, CRI-O, dockershim.

The kubelet decides what a container is; here are only the calls. A runtime that goes away is called again when it is
back: until then every call fails, and the node is not ready.
"""

from __future__ import annotations

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.runtime import Runtime
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

__all__ = ["Remote", "RemoteSettings"]


class RemoteSettings(Record):
    """Settings of the remote runtime.

    Attributes:
        container_runtime_endpoint: the socket of the runtime service.
        image_service_endpoint: that of the image service, empty for the same.
        runtime_request_timeout: seconds that a call may take, beside those that it is given to wait.
    """

    container_runtime_endpoint: str = "unix:///run/containerd/containerd.sock"
    image_service_endpoint: str = ""
    runtime_request_timeout: float = 120.0


class Remote(Plugin):
    """Connects to ``--container-runtime-endpoint``."""

    @hookimpl
    def runtime_build(self) -> Runtime:
        """Build it, with the version of the runtime asked.

        Raises:
            UsageError: the endpoint is no socket, or no runtime that serves CRI v1 answers there.
        """
        from hyperkube_lib.cri import CriClient
        from hyperkube_runtime.remote.runtime import connect

        settings = self.settings(RemoteSettings)
        client = CriClient(
            settings.container_runtime_endpoint, settings.image_service_endpoint, settings.runtime_request_timeout
        )
        return connect(client, settings.container_runtime_endpoint)
