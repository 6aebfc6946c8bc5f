"""podcertificaterequest-cleaner: requests for certificates of pods go half an hour after they were made.

Kubelets wait for an answer no longer than that, and an answered request is of no more use.
Source: kubernetes ``pkg/controller/certificates/cleaner/pcrcleaner.go``.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from hyperkube.client.actions import Action, Again, Delete, perform
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import POD_CERTIFICATE_REQUESTS
from hyperkube.machinery.objects import Object, metadata, split_key
from hyperkube.machinery.times import parse_time
from hyperkube.plugin import Plugin

THRESHOLD = timedelta(minutes=30)


def decide(request: Object, now: datetime) -> list[Action]:
    """Return the deletion of a request that is over, or when to look again."""
    left = (parse_time(metadata(request)["creationTimestamp"]) + THRESHOLD - now).total_seconds()
    return [Again(left)] if left > 0 else [Delete.of(POD_CERTIFICATE_REQUESTS, request)]


class PodcertificaterequestCleaner(Plugin):
    """Deletes requests when their time is over."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._requests = self.informers.informer(POD_CERTIFICATE_REQUESTS)
        loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        self._requests.add_handler(loop.enqueue)
        return loop

    def _sync(self, key: str) -> float | None:
        request = self._requests.get(*split_key(key))
        if request is None:
            return None
        return perform(self.client, None, decide(request, self.context.clock.now()))
