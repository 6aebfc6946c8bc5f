"""tokencleaner: bootstrap tokens are deleted when they have expired.

Source: kubernetes ``pkg/controller/bootstrap/tokencleaner.go``.
"""

from __future__ import annotations

from datetime import datetime

from hyperkube_lib.bootstrap_tokens import NAMESPACE, TYPE, seconds_left

from hyperkube.client.actions import Action, Again, Delete, perform
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import SECRETS
from hyperkube.machinery.objects import Object, is_being_deleted, split_key
from hyperkube.plugin import Plugin


def decide(secret: Object, now: datetime) -> list[Action]:
    """Return the deletion of an expired token, or when to look again; an unreadable time counts as over."""
    left = seconds_left(secret, now)
    if left is None or is_being_deleted(secret):
        return []
    return [Again(left)] if left > 0 else [Delete.of(SECRETS, secret)]


class Tokencleaner(Plugin):
    """Deletes expired bootstrap tokens."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._secrets = self.informers.informer(SECRETS, NAMESPACE, f"type={TYPE}")
        loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        self._secrets.add_handler(loop.enqueue, loop.enqueue_update)
        return loop

    def _sync(self, key: str) -> float | None:
        secret = self._secrets.get(*split_key(key))
        return None if secret is None else perform(self.client, None, decide(secret, self.context.clock.now()))
