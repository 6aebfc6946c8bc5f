"""The loop: keys are claims."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from hyperkube_lib.csi import CsiFailed
from hyperkube_lib.csi_controllers import (
    RETRY,
    CsiController,
    Driver,
    DriverSettings,
    bound_volume,
    mutable_parameters,
)

from hyperkube.client.reconcile import NotYet
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, VOLUME_ATTRIBUTES_CLASSES
from hyperkube.machinery.objects import Object, name_of, namespace_of, split_key

if TYPE_CHECKING:
    from hyperkube_controller.csi_modifier.decision import Modify

INFEASIBLE_SECONDS = 300.0
"""How long what the driver finds impossible is not asked for again: upstream's slow set."""
_INFEASIBLE = "INVALID_ARGUMENT"


class CsiModifier(CsiController):
    """Modifies volumes."""

    component = "external-resizer"

    def where(self) -> DriverSettings:
        """Return where drivers are."""
        return self.settings(DriverSettings)

    def watch(self) -> None:
        """Follow claims, and the classes that they may wait for."""
        self._lock = threading.Lock()
        self._failed_finally: set[str] = set()
        """Claims whose last call has certainly left nothing under way; after a restart all may have."""
        self._failures: dict[str, tuple[str, int, float]] = {}
        """Key → the class that was refused, how often, and when it is tried again: telling of it brings the key."""
        self._claims = self.informers.informer(PERSISTENT_VOLUME_CLAIMS)
        self._volumes = self.informers.informer(PERSISTENT_VOLUMES)
        self._classes = self.informers.informer(VOLUME_ATTRIBUTES_CLASSES)
        self._claims.add_handler(self._seen, lambda _old, new: self._seen(new))
        self._classes.add_handler(self._class_seen)

    def _seen(self, claim: Object) -> None:
        from hyperkube_controller.csi_modifier.decision import wants_change

        if wants_change(claim):
            self.loop.enqueue(claim)

    def _class_seen(self, attributes: Object) -> None:
        from hyperkube_controller.csi_modifier.decision import asked_class

        for claim in self._claims.list():
            if asked_class(claim) == name_of(attributes):
                self._seen(claim)

    def sync(self, key: str) -> float | None:
        """Let a claim's volume have the attributes that it asks for."""
        from hyperkube_controller.csi_modifier.decision import Cancel, Modify, cancelled, next_step, wants_change

        claim = self._claims.get(*split_key(key))
        if claim is None or not wants_change(claim):
            return None
        volume = bound_volume(claim, self._volumes)
        source = volume["spec"].get("csi")
        driver = self.drivers.get(source["driver"]) if source else None
        if driver is None:
            return self.look_again() if source else None
        with self._lock:
            step = next_step(claim, failed_finally=key in self._failed_finally)
            refused, _, not_before = self._failures.get(key, ("", 0, 0.0))
        if isinstance(step, Cancel):
            self.recorder.event(claim, "Normal", "VolumeModifyCancelled", "Cancelled modify.")
            self._write(claim, cancelled(claim))
        elif isinstance(step, Modify):
            wait = not_before - self.context.clock.monotonic()
            if step.target == refused and wait > 0:
                return wait
            self._modify(key, claim, volume, driver, step)
        return None

    def _modify(self, key: str, claim: Object, volume: Object, driver: Driver, step: Modify) -> None:
        from hyperkube_controller.csi_modifier.decision import begun, finished, pending

        try:
            parameters = self._parameters(step.target, driver)
        except VolumeFailed as error:
            if isinstance(error, CsiFailed):
                raise NotYet(str(error)) from error  # the driver is away, and does not tell what it can do
            if not step.is_new:
                raise NotYet(str(error)) from error
            if (told := pending(claim)) != claim:
                self.recorder.event(claim, "Warning", "VolumeModifyFailed", str(error))
                self._write(claim, told)
            return
        if step.is_new:
            claim = self._write(claim, begun(claim, step.target, self.context.clock.now()))
            text = f"external resizer is modifying volume {name_of(claim)} with vac {step.target}"
            self.recorder.event(claim, "Normal", "VolumeModify", text)
        request = {"volume_id": volume["spec"]["csi"]["volumeHandle"], "mutable_parameters": parameters}
        try:
            driver.control("ControllerModifyVolume", request)
        except CsiFailed as error:
            self._failed(key, claim, step.target, error)
        # The volume first: a claim that says it is done is not looked at again.
        changed = {"spec": {"volumeAttributesClassName": step.target}}
        self.client.patch(PERSISTENT_VOLUMES, name_of(volume), changed)
        self._write(claim, finished(claim, step.target))
        with self._lock:
            self._failed_finally.discard(key)
            self._failures.pop(key, None)
        text = f"external resizer modified volume {name_of(claim)} with vac {step.target} successfully"
        self.recorder.event(claim, "Normal", "VolumeModifySuccessful", text)

    def _parameters(self, name: str, driver: Driver) -> dict[str, str]:
        found = self._classes.get("", name)
        if found is None:
            raise VolumeFailed(f'VAC "{name}" does not exist.')
        return mutable_parameters(found, driver)

    def _failed(self, key: str, claim: Object, target: str, error: CsiFailed) -> None:
        """Tell of a failure and have it tried again.

        Raises:
            NotYet: always.
        """
        from hyperkube_controller.csi_modifier.decision import failed

        is_infeasible = error.code == _INFEASIBLE
        with self._lock:
            before = self._failures.get(key, ("", 0, 0.0))
            count = before[1] + 1 if before[0] == target else 1
            pause = INFEASIBLE_SECONDS if is_infeasible else RETRY.delay(count)
            self._failures[key] = (target, count, self.context.clock.monotonic() + pause)
            (self._failed_finally.add if error.is_final else self._failed_finally.discard)(key)
        text = str(error) if error.is_final else f"{error}. Still modifying to VAC {target}"
        self.recorder.event(claim, "Warning", "VolumeModifyFailed", text)
        self._write(claim, failed(claim, str(error), self.context.clock.now(), is_infeasible=is_infeasible))
        raise NotYet(text) from error

    def _write(self, before: Object, claim: Object) -> Object:
        """Write what a claim says, unless it says so already: each write brings the key."""
        if claim == before:
            return before
        return self.client.update(PERSISTENT_VOLUME_CLAIMS, claim, namespace_of(claim), subresource="status")
