"""Renews a certificate of the node before it ends: the one for the API server, or the one that the kubelet serves with.

Between 70 and 90 per cent of its life a new key is made and a certificate requested; the pair is stored, and those who
use the files take it up: clients with their next connection, the HTTPS port within seconds. Until the first
certificate for serving is issued, the kubelet serves with one that it has signed itself.
Source: client-go ``util/certificate/certificate_manager.go``.
"""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable
from datetime import datetime

from cryptography import x509
from hyperkube_host.kubelet.certificate.csr import (
    BootstrapFailed,
    CertificateStore,
    CertificateTemplate,
    new_key,
    request_certificate,
    request_of,
)

from hyperkube.client.client import Client
from hyperkube.machinery.backoff import Backoff
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import ApiError

WAIT_SECONDS = 900.0
POLL_SECONDS = 1.0
BACKOFF = Backoff(initial=2.0, cap=128.0)
_logger = logging.getLogger("hyperkube.kubelet")


def rotation_deadline(certificate: x509.Certificate, share: float) -> datetime:
    """Return when a certificate is to be renewed; `share` from 0 to 1 spreads nodes over a fifth of its life."""
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    return begin + (end - begin) * (0.7 + 0.2 * share)


class CertificateManager:
    """Keeps one certificate fresh, on a thread of its own."""

    def __init__(
        self,
        client: Client,
        template: Callable[[], CertificateTemplate],
        store: CertificateStore,
        clock: Clock,
        share: Callable[[], float] = random.random,
    ) -> None:
        """Take what is needed; nothing is asked before `start`.

        Args:
            client: acts as the node.
            template: returns what is to be certified, asked before each request: a node's addresses may change.
            store: where the pairs are kept.
            clock: for deadlines.
            share: returns where within the time for renewal this node's turn is, from 0 to 1.
        """
        self._client = client
        self._template = template
        self._store = store
        self._clock = clock
        self._share = share
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Renew until `close`."""
        name = f"certificates-{self._store.current.stem}"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def seconds_left(self) -> float:
        """Return the seconds until the certificate is to be renewed; 0 or less: now."""
        certificate = self._store.certificate()
        if certificate is None or not self._store.is_issued():
            return 0.0
        return (rotation_deadline(certificate, self._share()) - self._clock.now()).total_seconds()

    def rotate(self) -> bool:
        """Request a certificate and store it; tell whether one was issued."""
        key = new_key()
        wanted = request_of(key, self._template())
        try:
            certificate = request_certificate(self._client, wanted, self._clock, self._pause, WAIT_SECONDS)
        except (BootstrapFailed, ApiError, OSError) as error:
            if not self._stopped.is_set():
                _logger.warning("certificate %s is not renewed yet: %s", self._store.current.name, error)
            return False
        self._store.store(certificate, key, self._clock)
        _logger.info("took up a new certificate in %s", self._store.current)
        return True

    def _run(self) -> None:
        failures = 0
        while not self._stopped.wait(max(0.0, self.seconds_left()) if failures == 0 else BACKOFF.delay(failures)):
            failures = 0 if self.rotate() else failures + 1

    def _pause(self) -> bool:
        return self._stopped.wait(POLL_SECONDS)
