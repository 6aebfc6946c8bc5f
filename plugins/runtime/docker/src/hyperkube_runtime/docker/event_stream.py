"""The daemon's events over HTTP: a JSON object a line, for as long as the connection holds."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
from collections.abc import Iterator

from hyperkube_runtime.docker.engine import UNREACHABLE, EngineFailed, Json


class HttpEventStream:
    """See `EventStream`; the answer's head was read already."""

    def __init__(self, connection: socket.socket, answer: http.client.HTTPResponse) -> None:
        """Take the connection and what reads from it; events may be hours apart."""
        connection.settimeout(None)
        self._connection = connection
        self._answer = answer
        self._closed = False

    def __iter__(self) -> Iterator[Json]:
        """Yield the events.

        Raises:
            EngineFailed: the daemon went away, or says what is none.
        """
        try:
            for line in self._answer:
                if line.strip():
                    yield json.loads(line)
        except (OSError, http.client.HTTPException, ValueError) as error:
            if not self._closed:
                raise EngineFailed(UNREACHABLE, f"the stream of events broke: {error}") from error

    def close(self) -> None:
        """Wake the reader, and let the connection go."""
        self._closed = True
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()
