"""volumeattributesclass-protection: a class that is being deleted stays while a volume or a claim refers to it.

Source: kubernetes ``pkg/controller/volume/vacprotection/vac_protection_controller.go``.
"""

from __future__ import annotations

from collections.abc import Callable

from hyperkube.client.actions import Action, Update, perform
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, VOLUME_ATTRIBUTES_CLASSES
from hyperkube.machinery.objects import (
    Object,
    has_finalizer,
    is_being_deleted,
    name_of,
    with_finalizer,
    without_finalizer,
)
from hyperkube.plugin import Plugin

FINALIZER = "kubernetes.io/vac-protection"
_INDEX = "volumeattributesclass"
ClassesOf = Callable[[Object], tuple[str, ...]]


def decide(attributes_class: Object, *, used: bool) -> list[Action]:
    """Return the update that puts the finalizer on, or takes it off a deleted class that nothing refers to."""
    held, going = has_finalizer(attributes_class, FINALIZER), is_being_deleted(attributes_class)
    if not going and not held:
        return [Update(VOLUME_ATTRIBUTES_CLASSES, with_finalizer(attributes_class, FINALIZER))]
    if going and held and not used:
        return [Update(VOLUME_ATTRIBUTES_CLASSES, without_finalizer(attributes_class, FINALIZER))]
    return []


def classes_of_volume(volume: Object) -> tuple[str, ...]:
    """Return the name of the volume's class, if it has one."""
    name = (volume.get("spec") or {}).get("volumeAttributesClassName")
    return (name,) if name else ()


def classes_of_claim(claim: Object) -> tuple[str, ...]:
    """Return the names of the classes that the claim asks for, has, and is being moved to."""
    status = claim.get("status") or {}
    names = {
        (claim.get("spec") or {}).get("volumeAttributesClassName"),
        status.get("currentVolumeAttributesClassName"),
        (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
    }
    return tuple(sorted(name for name in names if name))


class VolumeattributesclassProtection(Plugin):
    """Holds classes back while volumes and claims refer to them."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._classes = self.informers.informer(VOLUME_ATTRIBUTES_CLASSES)
        self._volumes = self.informers.informer(PERSISTENT_VOLUMES)
        self._claims = self.informers.informer(PERSISTENT_VOLUME_CLAIMS)
        self._loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)
        self._classes.add_handler(self._loop.enqueue, self._loop.enqueue_update)
        for informer, classes_of in ((self._volumes, classes_of_volume), (self._claims, classes_of_claim)):
            informer.add_index(_INDEX, classes_of)
            informer.add_handler(on_update=self._left(classes_of), on_delete=self._gone(classes_of))
        return self._loop

    def _left(self, classes_of: ClassesOf) -> Callable[[Object, Object], None]:
        """Return a handler that looks at the classes to which an object refers no more."""

        def on_update(old: Object, new: Object) -> None:
            for name in set(classes_of(old)) - set(classes_of(new)):
                self._loop.queue.add(name)

        return on_update

    def _gone(self, classes_of: ClassesOf) -> Callable[[Object], None]:
        def on_delete(obj: Object) -> None:
            for name in classes_of(obj):
                self._loop.queue.add(name)

        return on_delete

    def _sync(self, name: str) -> None:
        attributes_class = self._classes.get("", name)
        if attributes_class is not None:
            perform(self.client, None, decide(attributes_class, used=self._is_used(name_of(attributes_class))))

    def _is_used(self, name: str) -> bool:
        return bool(self._claims.by_index(_INDEX, name)) or bool(self._volumes.by_index(_INDEX, name))
