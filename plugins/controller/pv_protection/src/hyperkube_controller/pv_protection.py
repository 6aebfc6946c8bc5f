"""pv-protection: a volume that is being deleted stays while it is bound to a claim.

Source: kubernetes ``pkg/controller/volume/pvprotection/pv_protection_controller.go``.
"""

from __future__ import annotations

from hyperkube.client.actions import Action, Update, perform
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import PERSISTENT_VOLUMES
from hyperkube.machinery.objects import (
    Object,
    has_finalizer,
    is_being_deleted,
    with_finalizer,
    without_finalizer,
)
from hyperkube.plugin import Plugin

FINALIZER = "kubernetes.io/pv-protection"


def decide(volume: Object) -> list[Action]:
    """Return the update that puts the finalizer on, or takes it off a deleted volume that is not bound."""
    held = has_finalizer(volume, FINALIZER)
    if not is_being_deleted(volume) and not held:
        return [Update(PERSISTENT_VOLUMES, with_finalizer(volume, FINALIZER))]
    if is_being_deleted(volume) and held and (volume.get("status") or {}).get("phase") != "Bound":
        return [Update(PERSISTENT_VOLUMES, without_finalizer(volume, FINALIZER))]
    return []


class PvProtection(Plugin):
    """Holds volumes back while they are bound."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._volumes = self.informers.informer(PERSISTENT_VOLUMES)
        loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        self._volumes.add_handler(loop.enqueue, loop.enqueue_update)
        return loop

    def _sync(self, name: str) -> None:
        volume = self._volumes.get("", name)
        if volume is not None:
            perform(self.client, None, decide(volume))
