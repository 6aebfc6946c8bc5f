"""persistentvolume-expander: a bound claim that asks for more gets a volume that is larger.

The volume grows first, then its object says so, then the claim: an attempt that was broken off goes on where it
stopped. Volumes of drivers that are not installed here are left to their own resizers; those of kinds that have left
the tree are left to the CSI driver that took over, whose name the claim is given.

Source: kubernetes ``pkg/controller/volume/expand/expand_controller.go``, ``operation_generator.go``
(GenerateExpandVolumeFunc), ``pkg/volume/util/resize_util.go``.
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperkube_lib.csi_translation import kind_of_volume
from hyperkube_lib.volume_kinds import VolumeKinds, spec_of_persistent_volume

from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import NotYet, ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.hookspecs.volume_storage import Expandable
from hyperkube.kinds.conditions import with_condition, without_condition
from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.objects import (
    Object,
    annotations_of,
    is_being_deleted,
    metadata,
    name_of,
    namespace_of,
    split_key,
    uid_of,
)
from hyperkube.machinery.quantity import parse
from hyperkube.plugin import Plugin

RESIZER = "volume.kubernetes.io/storage-resizer"
RESIZING, FS_RESIZE_PENDING = "Resizing", "FileSystemResizePending"
_ON_NODE = "Waiting for user to (re-)start a pod to finish file system resize of volume on node."


def wanted_size(claim: Object) -> str:
    """Return the size that a bound claim asks for beyond what it has; empty if it asks for no more."""
    spec, status = claim.get("spec") or {}, claim.get("status") or {}
    if status.get("phase") != "Bound" or not spec.get("volumeName") or is_being_deleted(claim):
        return ""
    asked = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    has = (status.get("capacity") or {}).get("storage")
    return str(asked) if asked and has and parse(str(asked)).value() > parse(str(has)).value() else ""


def capacity_of(obj: Object, field: str) -> int:
    """Return the bytes of ``capacity`` in a field of an object; 0 if it does not say."""
    found = ((obj.get(field) or {}).get("capacity") or {}).get("storage")
    return parse(str(found)).value() if found else 0


class PersistentvolumeExpander(Plugin):
    """Grows volumes."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._recorder = EventRecorder(self.client, self.context.clock, "volume_expand")
        self._kinds = VolumeKinds(self.context)
        self._claims = self.informers.informer(PERSISTENT_VOLUME_CLAIMS)
        self._volumes = self.informers.informer(PERSISTENT_VOLUMES)
        loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)

        def seen(claim: Object) -> None:
            if wanted_size(claim):
                loop.enqueue(claim)

        self._claims.add_handler(seen, lambda _old, new: seen(new))
        return loop

    def close(self) -> None:
        """Close the kinds of volumes."""
        self._kinds.close()

    def _sync(self, key: str) -> None:
        claim = self._claims.get(*split_key(key))
        size = wanted_size(claim) if claim is not None else ""
        if claim is None or not size:
            return
        volume = self._volumes.get("", claim["spec"]["volumeName"])
        if volume is None or ((volume.get("spec") or {}).get("claimRef") or {}).get("uid") != uid_of(claim):
            raise NotYet("the claim's volume is not known yet")
        if (migrated := kind_of_volume(volume["spec"])) is not None:
            text = f"CSI migration enabled for {migrated.plugin}; waiting for external resizer to expand the pvc"
            self._recorder.event(claim, "Normal", "ExternalExpanding", text)
            self._name_resizer(claim, migrated.driver)
            return
        found = self._kinds.find(spec_of_persistent_volume(volume))
        if found is None or not isinstance(found[1], Expandable):
            text = "waiting for an external controller to expand this PVC"
            self._recorder.event(claim, "Normal", "ExternalExpanding", text)
            return
        if _condition(claim, FS_RESIZE_PENDING) and capacity_of(volume, "spec") >= parse(size).value():
            return  # the rest is the node's
        self._grow(claim, volume, found[1], size)

    def _name_resizer(self, claim: Object, driver: str) -> None:
        """Write on the claim which driver's resizer is to grow it: that looks for claims with its name on them."""
        if annotations_of(claim).get(RESIZER) != driver:
            meta = {**metadata(claim), "annotations": {**annotations_of(claim), RESIZER: driver}}
            self.client.update(PERSISTENT_VOLUME_CLAIMS, {**claim, "metadata": meta}, subresource="status")

    def _grow(self, claim: Object, volume: Object, kind: Expandable, size: str) -> None:
        claim = self._tell(claim, {"type": RESIZING, "status": "True"})
        wanted, has = parse(size).value(), capacity_of(volume, "spec")
        if has < wanted:
            try:
                grown = kind.expand(spec_of_persistent_volume(volume), wanted, has)
            except VolumeFailed as error:
                text = f'error expanding volume "{namespace_of(claim)}/{name_of(claim)}" of plugin: {error}'
                self._recorder.event(claim, "Warning", "VolumeResizeFailed", text)
                raise NotYet(text) from error
            shown = size if grown <= wanted else str(grown)
            self.client.patch(PERSISTENT_VOLUMES, name_of(volume), {"spec": {"capacity": {"storage": shown}}})
        is_block = (volume.get("spec") or {}).get("volumeMode") == "Block"
        if kind.requires_fs_resize() and not is_block:
            self._tell(claim, {"type": FS_RESIZE_PENDING, "status": "True", "message": _ON_NODE})
            text = "Require file system resize of volume on node"
            self._recorder.event(claim, "Normal", "FileSystemResizeRequired", text)
            return
        self._tell(claim, None, {"storage": size})
        text = f"ExpandVolume succeeded for volume {namespace_of(claim)}/{name_of(claim)}"
        self._recorder.event(claim, "Normal", "VolumeResizeSuccessful", text)

    def _tell(self, claim: Object, condition: Object | None, capacity: Mapping[str, str] | None = None) -> Object:
        """Write how far a claim is: one condition of the two, or neither and its new capacity."""
        status = claim.get("status") or {}
        conditions = without_condition(status.get("conditions") or (), RESIZING)
        conditions = without_condition(conditions, FS_RESIZE_PENDING)
        if condition is not None:
            if any(one.get("type") == condition["type"] for one in status.get("conditions") or ()):
                return claim
            conditions = with_condition(conditions, condition, self.context.clock.now())
        changed: Object = {**status, "conditions": conditions}
        if capacity is not None:
            changed["capacity"] = {**(status.get("capacity") or {}), **capacity}
        try:
            return self.client.update(PERSISTENT_VOLUME_CLAIMS, {**claim, "status": changed}, subresource="status")
        except NotFound as error:
            raise NotYet("the claim was deleted") from error


def _condition(claim: Object, kind: str) -> bool:
    return any(one.get("type") == kind for one in (claim.get("status") or {}).get("conditions") or ())
