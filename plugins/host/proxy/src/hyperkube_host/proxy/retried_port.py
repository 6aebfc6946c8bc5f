"""A port that may be taken when the proxy starts: it is tried again until it is free.

Source: kubernetes ``cmd/kube-proxy/app/server.go`` (serveHealthz, serveMetrics: wait.Until).
"""

from __future__ import annotations

import logging
import threading
from typing import Protocol

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import UsageError

RETRY_SECONDS = 5.0
_log = logging.getLogger("hyperkube.proxy")


class Port(Protocol):
    """What listens: its start raises UsageError where the address cannot be bound, and may be called again then."""

    def start(self) -> None:
        """Listen."""

    def close(self) -> None:
        """Listen no longer; idempotent, also before a start."""


class RetriedPort:
    """Starts a port now or, on a thread that lives until then, as soon as its address can be bound."""

    def __init__(self, what: str, port: Port, clock: Clock) -> None:
        self._what = what
        self._port = port
        self._clock = clock
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Listen, or begin to try."""
        if not self._try():
            self._thread = threading.Thread(target=self._retry, name="retried-port", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Try no more, and listen no longer."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()
        self._port.close()

    def _try(self) -> bool:
        try:
            self._port.start()
        except UsageError as error:
            _log.error("%s is not served: %s; trying again in %d s", self._what, error, RETRY_SECONDS)
            return False
        return True

    def _retry(self) -> None:
        while not self._clock.wait(self._closed, RETRY_SECONDS):
            if self._try():
                _log.info("%s is served", self._what)
                return
