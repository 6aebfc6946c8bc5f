"""`CriServer`: both services of CRI v1 on a unix socket, and the server of streams beside them."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperkube_lib.cri import IMAGE_SERVICE, RUNTIME_SERVICE, cri_schema
from hyperkube_lib.cri_server.image_service import ImageService
from hyperkube_lib.cri_server.runtime_service import RuntimeService
from hyperkube_lib.cri_server.streaming import StreamingServer
from hyperkube_lib.grpc_messages import GrpcServer, Handler, RpcFailed, unix_socket_of

from hyperkube.hookspecs.runtime import ContainerNotFound, Runtime, RuntimeFailed
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import UsageError

THREADS = 32
_GRACE_SECONDS = 1.0


class CriServer:
    """Serves a runtime on a socket that only its owner may use: its clients are as good as root on this node."""

    def __init__(self, runtime: Runtime, endpoint: str, clock: Clock) -> None:
        """Prepare; nothing is opened before `start`.

        Raises:
            UsageError: the endpoint is no unix socket.
        """
        self._path = Path(unix_socket_of(endpoint))
        self._streams = StreamingServer(runtime, clock)
        self._server = GrpcServer(THREADS)
        services = (
            (RUNTIME_SERVICE, RuntimeService(runtime, self._streams, clock).handlers()),
            (IMAGE_SERVICE, ImageService(runtime).handlers()),
        )
        for name, handlers in services:
            self._server.add_service(
                cri_schema().service(name), {method: refusing(call) for method, call in handlers.items()}
            )

    def start(self) -> None:
        """Serve.

        Raises:
            UsageError: another server listens on the socket, or it cannot be made.
        """
        try:
            self._clear_path()
            mask = os.umask(0o077)
            try:
                self._server.listen(str(self._path))
            finally:
                os.umask(mask)
        except (OSError, RuntimeError) as error:
            raise UsageError(f"CRI cannot be served on {str(self._path)!r}: {error}") from error
        self._streams.start()
        self._server.start()

    def _clear_path(self) -> None:
        """Remove the socket of a server that has ended, and nothing else."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISSOCK(self._path.lstat().st_mode):
                raise FileExistsError("there is a file that is no socket")
            if _answers(self._path):
                raise FileExistsError("another server listens there")
            self._path.unlink()

    def close(self) -> None:
        """End all calls and streams, and remove the socket."""
        self._server.stop(_GRACE_SECONDS)
        self._streams.close()
        self._path.unlink(missing_ok=True)


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(str(path)) == 0


def refusing(call: Handler) -> Handler:
    """Return a call whose runtime's failures are gRPC's: a status that clients of CRI look for, and the text."""

    def answer(request: Mapping[str, Any]) -> Any:
        try:
            return call(dict(request))
        except ContainerNotFound as error:
            raise RpcFailed("NOT_FOUND", str(error)) from error
        except RuntimeFailed as error:
            raise RpcFailed("UNKNOWN", str(error)) from error

    return answer
