"""The way to a member of etcd through a proxy.

gRPC takes no socket of ours, and its own way through a proxy knows neither TLS nor Unix sockets. So it connects to a
Unix socket that only this user may open, and what it says there goes on by a connection that `Dial` has made.

Source of the behaviour: kubernetes apiserver ``pkg/storage/storagebackend/factory/etcd3.go`` (EgressLookup).
"""

from __future__ import annotations

import logging
import shutil
import socket
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from hyperkube.machinery.dial import Dial

DIAL_SECONDS = 20.0
"""As long as Kubernetes lets it take to reach etcd (dialTimeout)."""
_CHUNK = 65_536

logger = logging.getLogger("hyperkube.storage")


class Tunnel:
    """Takes connections for one member until it is closed; each has two threads.

    Attributes:
        path: the Unix socket.
    """

    def __init__(self, dial: Dial, host: str, port: int) -> None:
        self._dial = dial
        self._member = host, port
        self._failure = ""
        self._folder = tempfile.mkdtemp(prefix="hyperkube-etcd-")  # of mode 0700
        self.path = str(Path(self._folder) / "s")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen()
        threading.Thread(target=self._serve, name="etcd-tunnel", daemon=True).start()

    def close(self) -> None:
        """Take no more connections; those there are end with their client. Idempotent."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread, which `close` alone does not
        self._listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._pass, args=(client,), name="etcd-tunnel", daemon=True).start()

    def _pass(self, client: socket.socket) -> None:
        with client:
            try:
                member = self._dial(*self._member, seconds=DIAL_SECONDS)
            except OSError as error:
                self._tell(str(error))
                return
            self._tell("")
            with member:
                back = threading.Thread(target=_copy, args=(member, client), name="etcd-tunnel", daemon=True)
                back.start()
                _copy(client, member)
                back.join()

    def _tell(self, failure: str) -> None:
        """Log a failure that is another than the last: gRPC tries again every two seconds."""
        if failure and failure != self._failure:
            logger.warning("etcd at %s:%d cannot be reached through the egress selector: %s", *self._member, failure)
        self._failure = failure


def _copy(source: socket.socket, sink: socket.socket) -> None:
    """Move bytes until one side closes, and let neither wait for more."""
    with suppress(OSError):
        while data := source.recv(_CHUNK):
            sink.sendall(data)
    for side in (source, sink):
        with suppress(OSError):
            side.shutdown(socket.SHUT_RDWR)
