"""What a driver's own sidecar does elsewhere: the calls for one VolumeSnapshotContent.

Source: external-snapshotter ``pkg/sidecar-controller/snapshot_controller.go``.
"""

from __future__ import annotations

from typing import Any

from hyperkube_controller.csi_snapshotter.objects import (
    BEING_CREATED,
    BEING_DELETED,
    CLASSES,
    CONTENT_BOUND,
    CONTENTS,
    DELETION_SECRET,
    annotated,
    content_status,
    error_status,
)
from hyperkube_lib.csi import CsiFailed
from hyperkube_lib.csi_controllers import Driver, Drivers, secret_data

from hyperkube.client.client import Client
from hyperkube.client.events import EventRecorder
from hyperkube.client.reconcile import NotYet
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.objects import (
    Object,
    annotations_of,
    has_finalizer,
    is_being_deleted,
    name_of,
    without_finalizer,
)

READY_SECONDS = 5.0
"""How often a driver is asked whether a snapshot is ready."""
_PARAMETERS = "csi.storage.k8s.io/"
_SNAPSHOTS, _LISTS = "CREATE_DELETE_SNAPSHOT", "LIST_SNAPSHOTS"


class Contents:
    """Has snapshots made and deleted by their drivers."""

    def __init__(self, client: Client, recorder: EventRecorder, drivers: Drivers, clock: Clock) -> None:
        self._client = client
        self._recorder = recorder
        self._drivers = drivers
        self._clock = clock

    def sync(self, content: Object, driver: Driver) -> float | None:
        """Bring a content to what it is to be; return after how many seconds to look again.

        Raises:
            NotYet: a call failed, and is tried again.
        """
        try:
            if is_being_deleted(content):
                self._delete(content, driver)
                return None
            status = content.get("status") or {}
            if status.get("readyToUse") or annotations_of(content).get(BEING_DELETED) == "yes":
                return None
            return self._create(content, driver)
        except VolumeFailed as error:
            self._failed(content, error)
            raise NotYet(str(error)) from error

    def _create(self, content: Object, driver: Driver) -> float | None:
        """Have a snapshot made, or look for one that is given; again until it is ready."""
        if _SNAPSHOTS not in driver.can():
            raise VolumeFailed(f"CSI driver {driver.name} does not support snapshots")
        given = content["spec"]["source"].get("snapshotHandle")
        if given:
            status = content_status(self._look(driver, given, self._secret(content)))
        else:
            if annotations_of(content).get(BEING_CREATED) != "yes":
                # Kept before the call: what may have been made is deleted even when the content is deleted meanwhile.
                content = self._client.update(CONTENTS, annotated(content, {BEING_CREATED: "yes"}))
            answer = driver.control("CreateSnapshot", self._request(content))
            status = content_status(answer["snapshot"])
        content = self._client.update(CONTENTS, {**content, "status": status}, subresource="status")
        if not status["readyToUse"]:
            return READY_SECONDS
        if BEING_CREATED in annotations_of(content):
            self._client.update(CONTENTS, annotated(content, {BEING_CREATED: None}))
        return None

    def _request(self, content: Object) -> dict[str, Any]:
        parameters: Object = {}
        name = content["spec"].get("volumeSnapshotClassName")
        if name:
            try:
                parameters = self._client.get(CLASSES, name).get("parameters") or {}
            except NotFound as error:
                raise VolumeFailed(f'failed to get snapshot class {name}: "{name}" not found') from error
        return {
            "name": f"snapshot-{content['spec']['volumeSnapshotRef']['uid']}",
            "source_volume_id": content["spec"]["source"]["volumeHandle"],
            "parameters": {key: value for key, value in parameters.items() if not key.startswith(_PARAMETERS)},
            "secrets": self._secret(content),
        }

    def _secret(self, content: Object) -> dict[str, str]:
        name, namespace = (annotations_of(content).get(key, "") for key in DELETION_SECRET)
        return secret_data(self._client, {"name": name, "namespace": namespace} if name and namespace else {})

    def _look(self, driver: Driver, handle: str, secrets: dict[str, str]) -> dict[str, Any]:
        """Return a snapshot that is there already; one that the driver cannot list is taken to be ready."""
        if _LISTS not in driver.can():
            return {"snapshot_id": handle, "ready_to_use": True}
        answer = driver.control("ListSnapshots", {"snapshot_id": handle, "secrets": secrets})
        entries = answer.get("entries") or ()
        if not entries:
            raise VolumeFailed(f"can not find snapshot for snapshotID {handle}")
        return dict(entries[0]["snapshot"])

    def _delete(self, content: Object, driver: Driver) -> None:
        """Delete what the driver has made, if that is wanted; then let the content go."""
        if not has_finalizer(content, CONTENT_BOUND):
            return
        if annotations_of(content).get(BEING_DELETED) != "yes" and content["spec"]["volumeSnapshotRef"].get("uid"):
            raise NotYet("its snapshot is there still")
        handle = (content.get("status") or {}).get("snapshotHandle") or content["spec"]["source"].get("snapshotHandle")
        if not handle and annotations_of(content).get(BEING_CREATED) == "yes":
            handle = self._lost_handle(content, driver)
        if handle and content["spec"]["deletionPolicy"] == "Delete":
            driver.control("DeleteSnapshot", {"snapshot_id": handle, "secrets": self._secret(content)})
        self._client.update(CONTENTS, without_finalizer(content, CONTENT_BOUND))

    def _lost_handle(self, content: Object, driver: Driver) -> str:
        """Return what a snapshot is called that may have been made, and the answer lost; empty if it was not.

        It is asked for once more: where it was made, the driver says what it is called.
        """
        try:
            return str(driver.control("CreateSnapshot", self._request(content))["snapshot"]["snapshot_id"])
        except CsiFailed as error:
            if error.is_final:
                return ""
            raise

    def _failed(self, content: Object, error: VolumeFailed) -> None:
        is_deletion = is_being_deleted(content)
        what = "delete" if is_deletion else "create"
        text = f"Failed to {what} snapshot: failed to take snapshot of the volume: {error}"
        if is_deletion:
            text = f"Failed to delete snapshot: {error}"
        reason = "SnapshotDeleteError" if is_deletion else "SnapshotCreationFailed"
        try:
            latest = self._client.get(CONTENTS, name_of(content))
        except NotFound:
            return
        status = error_status(latest, text, self._clock.now())
        if status != latest.get("status"):
            self._client.update(CONTENTS, {**latest, "status": status}, subresource="status")
            self._recorder.event(content, "Warning", reason, text)
