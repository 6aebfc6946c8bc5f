"""csrcleaner: certificate signing requests that are done with, or were left undecided, are deleted.

Source: kubernetes ``pkg/controller/certificates/cleaner/cleaner.go``.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from hyperkube_lib import certificate_requests as requests

from hyperkube.client.actions import Action, Again, Delete, perform
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import CERTIFICATE_SIGNING_REQUESTS
from hyperkube.machinery.objects import Object, metadata
from hyperkube.machinery.times import parse_time
from hyperkube.plugin import Plugin

ANSWERED = timedelta(hours=1)
"""How long an issued, denied or failed request stays."""
PENDING = timedelta(hours=24)
"""How long a request stays that is not decided."""


def ends(csr: Object) -> datetime | None:
    """Return when a request is to go, or None if only a change of it can tell."""
    issued = requests.certificate_of(csr)
    times: list[datetime] = []
    conditions = (csr.get("status") or {}).get("conditions") or []
    for entry in conditions:
        since = entry.get("lastUpdateTime")
        final = entry.get("type") in {"Denied", "Failed"} or (entry.get("type") == "Approved" and issued)
        if since and final and entry.get("status", "True") == "True":
            times.append(parse_time(since) + ANSWERED)
    if issued and (expiry := _expiry(issued)) is not None:
        times.append(expiry)
    if not conditions:
        times.append(parse_time(metadata(csr)["creationTimestamp"]) + PENDING)
    return min(times, default=None)


def _expiry(certificate: bytes) -> datetime | None:
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificate(certificate).not_valid_after_utc
    except ValueError:
        return None  # another signer's answer; its age decides


def decide(csr: Object, now: datetime) -> list[Action]:
    """Return the deletion of a request that is over, or when to look again."""
    end = ends(csr)
    if end is None:
        return []
    left = (end - now).total_seconds()
    return [Again(left)] if left > 0 else [Delete.of(CERTIFICATE_SIGNING_REQUESTS, csr)]


class Csrcleaner(Plugin):
    """Deletes requests when their time is over."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._requests = self.informers.informer(CERTIFICATE_SIGNING_REQUESTS)
        loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        self._requests.add_handler(loop.enqueue, loop.enqueue_update)
        return loop

    def _sync(self, name: str) -> float | None:
        csr = self._requests.get("", name)
        if csr is None:
            return None
        return perform(self.client, None, decide(csr, self.context.clock.now()))
