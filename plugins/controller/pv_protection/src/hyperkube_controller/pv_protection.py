"""pv-protection: a volume that is being deleted stays while it is bound to a claim.

Source: kubernetes ``pkg/controller/volume/pvprotection/pv_protection_controller.go``.
"""

from __future__ import annotations

from hyperkube.client.actions import Action, Update, perform
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import PERSISTENT_VOLUMES
from hyperkube.machinery.objects import Object, is_being_deleted, metadata
from hyperkube.plugin import Plugin

FINALIZER = "kubernetes.io/pv-protection"


def decide(volume: Object) -> list[Action]:
    """Return the update that puts the finalizer on, or takes it off a deleted volume that is not bound."""
    finalizers = list(metadata(volume).get("finalizers") or [])
    held = FINALIZER in finalizers
    if not is_being_deleted(volume) and not held:
        return [_with(volume, [*finalizers, FINALIZER])]
    if is_being_deleted(volume) and held and (volume.get("status") or {}).get("phase") != "Bound":
        return [_with(volume, [name for name in finalizers if name != FINALIZER])]
    return []


def _with(volume: Object, finalizers: list[str]) -> Update:
    return Update(PERSISTENT_VOLUMES, {**volume, "metadata": {**metadata(volume), "finalizers": finalizers}})


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
