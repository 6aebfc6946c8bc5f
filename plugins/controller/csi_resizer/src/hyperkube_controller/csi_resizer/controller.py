"""The loop: keys are claims."""

from __future__ import annotations

import threading

from hyperkube_controller.csi_resizer.decision import (
    INFEASIBLE_CODES,
    allocated,
    begun,
    failed,
    finished,
    next_size,
    on_node,
    resize_state,
    wants_more,
)
from hyperkube_lib.csi import CsiFailed, access_mode, volume_capability
from hyperkube_lib.csi_controllers import RETRY, CsiController, Driver, DriverSettings, bound_volume, secret_data
from hyperkube_lib.csi_translation import translated_volume

from hyperkube.client.reconcile import NotYet
from hyperkube.hookspecs.volume import BLOCK, VolumeFailed
from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from hyperkube.machinery.objects import Object, name_of, namespace_of, split_key
from hyperkube.machinery.quantity import Quantity, parse

_EXPAND = "EXPAND_VOLUME"
INFEASIBLE_SECONDS = 300.0
"""How long what the driver finds impossible is not asked for again: upstream's slow set."""


class CsiResizer(CsiController):
    """Grows volumes."""

    component = "external-resizer"

    def where(self) -> DriverSettings:
        """Return where drivers are."""
        return self.settings(DriverSettings)

    def watch(self) -> None:
        """Follow claims."""
        self._lock = threading.Lock()
        self._failed_finally: set[str] = set()
        self._failures: dict[str, tuple[str, int, float]] = {}
        """Key → the size that was refused, how often, and when it is tried again: each telling of it brings the key."""
        self._claims = self.informers.informer(PERSISTENT_VOLUME_CLAIMS)
        self._volumes = self.informers.informer(PERSISTENT_VOLUMES)
        self._claims.add_handler(self._seen, lambda _old, new: self._seen(new))

    def _seen(self, claim: Object) -> None:
        if wants_more(claim):
            self.loop.enqueue(claim)

    def sync(self, key: str) -> float | None:
        """Let a claim have what it asks for."""
        claim = self._claims.get(*split_key(key))
        if claim is None or not wants_more(claim):
            return None
        volume = bound_volume(claim, self._volumes)
        source = translated_volume(volume)["spec"].get("csi")
        driver = self.drivers.get(source["driver"]) if source else None
        if driver is None:
            return self.look_again() if source else None
        with self._lock:
            failed_finally = key in self._failed_finally
            refused, _, not_before = self._failures.get(key, ("", 0, 0.0))
        size = next_size(claim, volume, failed_finally=failed_finally)
        wait = not_before - self.context.clock.monotonic()
        if size and size == refused and wait > 0:
            return wait
        if size:
            self._grow(key, claim, volume, driver, size)
        return None

    def _grow(self, key: str, claim: Object, volume: Object, driver: Driver, size: str) -> None:
        now = self.context.clock.now()
        try:
            can_node, can = driver_node_expands(driver), driver.can()
        except CsiFailed as error:
            raise NotYet(str(error)) from error
        if _EXPAND not in can and not can_node:
            return  # neither side grows: the claim's event is that of the expander
        if allocated(claim) != size or resize_state(claim) != "ControllerResizeInProgress":
            claim = self._write(begun(claim, size, now))
        text = f"External resizer is resizing volume {name_of(volume)}"
        self.recorder.event(claim, "Normal", "Resizing", text)
        try:
            got, needs_node = self._expand(volume, driver, size) if _EXPAND in can else (size, True)
        except VolumeFailed as error:
            self._failed(key, claim, volume, driver, error)
        with self._lock:
            self._failed_finally.discard(key)
            self._failures.pop(key, None)
        changed = {"spec": {"capacity": {"storage": got}}}
        self.client.patch(PERSISTENT_VOLUMES, name_of(volume), changed)
        if needs_node:
            self._write(on_node(claim, now))
            text = "Require file system resize of volume on node"
            self.recorder.event(claim, "Normal", "FileSystemResizeRequired", text)
        else:
            self._write(finished(claim, got))
            self.recorder.event(claim, "Normal", "VolumeResizeSuccessful", "Resize volume succeeded")

    def _failed(self, key: str, claim: Object, volume: Object, driver: Driver, error: VolumeFailed) -> None:
        """Tell of a failure and have it tried again.

        Raises:
            NotYet: always.
        """
        text = f'resize volume "{name_of(volume)}" by resizer "{driver.name}" failed: {error}'
        self.recorder.event(claim, "Warning", "VolumeResizeFailed", text)
        code = error.code if isinstance(error, CsiFailed) else ""
        is_final = isinstance(error, CsiFailed) and error.is_final
        size = allocated(claim)
        with self._lock:
            before = self._failures.get(key, ("", 0, 0.0))
            count = before[1] + 1 if before[0] == size else 1
            first = INFEASIBLE_SECONDS if code in INFEASIBLE_CODES else RETRY.delay(count)
            self._failures[key] = (size, count, self.context.clock.monotonic() + first)
            (self._failed_finally.add if is_final else self._failed_finally.discard)(key)
        if is_final:
            told = failed(claim, str(error), self.context.clock.now(), is_infeasible=code in INFEASIBLE_CODES)
            if told["status"] != claim["status"]:
                self._write(told)
        raise NotYet(text) from error

    def _expand(self, volume: Object, driver: Driver, size: str) -> tuple[str, bool]:
        """Return the size that the volume has now, and whether the node has something to do."""
        spec = translated_volume(volume)["spec"]
        source = spec["csi"]
        mode = access_mode(spec.get("accessModes") or (), driver.can())
        capability = volume_capability(
            mode,
            is_block=spec.get("volumeMode") == BLOCK,
            fs_type=source.get("fsType") or "",
            mount_flags=spec.get("mountOptions") or (),
        )
        request = {
            "volume_id": source["volumeHandle"],
            "capacity_range": {"required_bytes": parse(size).value()},
            "secrets": secret_data(self.client, source.get("controllerExpandSecretRef") or {}),
            "volume_capability": capability,
        }
        answer = driver.control("ControllerExpandVolume", request)
        got = int(answer.get("capacity_bytes") or 0)
        shown = size if got <= parse(size).value() else str(Quantity(got, form="BinarySI"))
        return shown, bool(answer.get("node_expansion_required"))

    def _write(self, claim: Object) -> Object:
        return self.client.update(PERSISTENT_VOLUME_CLAIMS, claim, namespace_of(claim), subresource="status")


def driver_node_expands(driver: Driver) -> bool:
    """Tell whether a driver grows volumes at all: a node may do it alone."""
    return bool({"ONLINE", "OFFLINE"} & driver.services())
