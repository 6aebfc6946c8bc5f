"""A gRPC service of the container manager, on a socket in a folder that only the node's administrators may enter."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hyperkube_lib.grpc_messages import GrpcServer, Handler, Service

_THREADS = 4


class SocketService:
    """Serves one service; what an earlier run left at the socket's path is replaced."""

    def __init__(self, socket: Path) -> None:
        """Take the path of the socket."""
        self._socket = socket
        self._server: GrpcServer | None = None

    def start(self, service: Service, handlers: Mapping[str, Handler]) -> None:
        """Serve: method → handler."""
        self._socket.parent.mkdir(parents=True, exist_ok=True)
        self._socket.parent.chmod(0o750)
        self._socket.unlink(missing_ok=True)
        self._server = GrpcServer(threads=_THREADS)
        self._server.add_service(service, handlers)
        self._server.listen(str(self._socket))
        self._server.start()

    def close(self) -> None:
        """Serve no more."""
        if self._server is not None:
            self._server.stop()
