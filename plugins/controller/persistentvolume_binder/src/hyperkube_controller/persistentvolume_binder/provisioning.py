"""Making volumes for claims with the provisioners that are installed here, and deleting what cannot be kept.

Storage that was made and whose volume the API does not take is remembered, so that it is neither made twice nor
forgotten: the volume is offered a few times, then the storage goes.
Source: kubernetes ``pkg/controller/volume/persistentvolume/pv_controller.go`` (provisionClaimOperation).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hyperkube_controller.persistentvolume_binder.decision import (
    BY_CONTROLLER,
    PROVISIONED_BY,
    SELECTED_NODE,
    reference_to,
)

from hyperkube.client.client import Client
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import NotYet
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.hookspecs.volume_storage import Deletable, Provisionable, ProvisionRequest, TakesMountOptions
from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import AlreadyExists, ApiError, NotFound
from hyperkube.machinery.objects import Object, annotations_of, key_of, metadata, name_of, namespace_of, uid_of

ATTEMPTS = 5
"""How often a volume is offered to the API, and how often its storage is tried to be deleted."""
CREATE_SECONDS = 10.0
"""Between two offers."""


@dataclass(slots=True)
class _Unsaved:
    """A volume whose storage there is, and which the API has refused so many times."""

    volume: Object
    refusals: int = 0


class Provisioning:
    """Makes volumes; all calls come from the one worker of the controller."""

    def __init__(
        self,
        client: Client,
        recorder: EventRecorder,
        provisioner: Callable[[str], Provisionable],
        deleter: Callable[[str], Deletable],
        has_node: Callable[[str], bool],
    ) -> None:
        """Take how provisioners and deleters are found by name; both raise VolumeFailed for a plugin that is none."""
        self._client = client
        self._recorder = recorder
        self._provisioner = provisioner
        self._deleter = deleter
        self._has_node = has_node
        self._unsaved: dict[str, _Unsaved] = {}

    def provision(self, claim: Object, storage_class: Object, node: str) -> float | None:
        """Make the claim's volume; return the seconds after which to look again, or None.

        Args:
            claim: the claim.
            storage_class: its class.
            node: where its first pod runs, if that is known.

        Raises:
            NotYet: there is none now; an event says why.
        """
        key, name = key_of(claim), f"pvc-{uid_of(claim)}"
        unsaved = self._unsaved.get(key)
        if unsaved is not None and name_of(unsaved.volume) != name:
            self.abandon(key)  # of an earlier claim of the name
            unsaved = None
        if unsaved is None:
            made = self._make(claim, storage_class, node, name)
            if made is None:
                return None
            unsaved = self._unsaved[key] = _Unsaved(made)
        return self._save(claim, storage_class, unsaved)

    def abandon(self, key: str) -> None:
        """Delete the storage that was made for a claim that is gone, if its volume was never saved."""
        unsaved = self._unsaved.pop(key, None)
        if unsaved is not None:
            self._delete(unsaved.volume)

    def _make(self, claim: Object, storage_class: Object, node: str, name: str) -> Object | None:
        """Have the storage made and return its volume; None if there is nothing to make."""
        if self._exists(name):
            return None
        selected = annotations_of(claim).get(SELECTED_NODE, "")
        if selected and not self._has_node(selected):
            self._reschedule(claim)
            return None
        try:
            maker = self._provisioner(storage_class["provisioner"])
        except VolumeFailed as error:
            raise self._failed(claim, f"Failed to create provisioner: {error}") from error
        options = storage_class.get("mountOptions") or []
        if options and not (isinstance(maker, TakesMountOptions) and maker.supports_mount_option()):
            listed, of = " ".join(options), name_of(storage_class)
            text = "Mount options are not supported by the provisioner but StorageClass"
            raise self._failed(claim, f'{text} "{of}" has mount options [{listed}]')
        request = ProvisionRequest(name=name, claim=claim, storage_class=storage_class, node_name=node)
        try:
            made = maker.provision(request)
        except VolumeFailed as error:
            text = f'Failed to provision volume with StorageClass "{name_of(storage_class)}": {error}'
            failure = self._failed(claim, text)
            self._reschedule(claim)
            raise failure from error
        return complete(made, name, claim, storage_class)

    def _save(self, claim: Object, storage_class: Object, unsaved: _Unsaved) -> float | None:
        key = key_of(claim)
        try:
            self._client.create(PERSISTENT_VOLUMES, unsaved.volume)
        except AlreadyExists:  # an answer was lost, or the cache has yet to show it
            self._unsaved.pop(key)
            return None
        except ApiError as error:
            unsaved.refusals += 1
            if unsaved.refusals < ATTEMPTS:
                return CREATE_SECONDS
            self._unsaved.pop(key)
            failure = self._failed(
                claim, f"Error creating provisioned PV object for claim {key}: {error}. Deleting the volume."
            )
            if why := self._delete(unsaved.volume):
                text = f"Error cleaning provisioned volume for claim {key}: {why}. Please delete manually."
                self._recorder.event(claim, "Warning", "ProvisioningCleanupFailed", text)
            raise failure from error
        self._unsaved.pop(key)
        text = f"Successfully provisioned volume {name_of(unsaved.volume)} using {storage_class['provisioner']}"
        self._recorder.event(claim, "Normal", "ProvisioningSucceeded", text)
        return None

    def _delete(self, volume: Object) -> str:
        """Delete the storage of a volume that was never saved; return why it could not be, or the empty string."""
        why = ""
        for _ in range(ATTEMPTS):
            try:
                self._deleter(annotations_of(volume)[PROVISIONED_BY]).delete(volume)
            except VolumeFailed as error:
                why = str(error)
            else:
                return ""
        return why

    def _exists(self, name: str) -> bool:
        try:
            self._client.get(PERSISTENT_VOLUMES, name)
        except NotFound:
            return False
        return True

    def _failed(self, claim: Object, text: str) -> NotYet:
        self._recorder.event(claim, "Warning", "ProvisioningFailed", text)
        return NotYet(text)

    def _reschedule(self, claim: Object) -> None:
        """Have the scheduler choose again: another node may have room (upstream: rescheduleProvisioning)."""
        if SELECTED_NODE in annotations_of(claim):
            kept = {key: value for key, value in annotations_of(claim).items() if key != SELECTED_NODE}
            changed = {**claim, "metadata": {**metadata(claim), "annotations": kept}}
            self._client.update(PERSISTENT_VOLUME_CLAIMS, changed, namespace_of(claim))


def complete(made: Object, name: str, claim: Object, storage_class: Object) -> Object:
    """Return a provisioner's volume with its name and all that ties it to its claim and its class."""
    marks: Mapping[str, str] = {BY_CONTROLLER: "yes", PROVISIONED_BY: storage_class["provisioner"]}
    meta = {**metadata(made), "name": name, "annotations": {**annotations_of(made), **marks}}
    spec = {
        **made["spec"],
        "claimRef": reference_to(claim),
        "storageClassName": name_of(storage_class),
        "persistentVolumeReclaimPolicy": storage_class.get("reclaimPolicy", "Delete"),
    }
    if storage_class.get("mountOptions"):
        spec["mountOptions"] = storage_class["mountOptions"]
    return {"kind": "PersistentVolume", "apiVersion": "v1", "metadata": meta, "spec": spec}
