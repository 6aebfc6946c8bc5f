"""The loop: keys are ``snapshot:NAMESPACE/NAME``, ``content:NAME`` and ``claim:NAMESPACE/NAME``."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from hyperkube_controller.csi_snapshotter.objects import (
    AS_SOURCE,
    BEING_DELETED,
    BOUND,
    CLAIM_AS_SOURCE,
    CLASSES,
    CONTENT_BOUND,
    CONTENTS,
    GROUP,
    SNAPSHOTS,
    annotated,
    content_of,
    default_class,
    error_status,
    snapshot_status,
)
from hyperkube_lib.csi_controllers import CsiController, DriverSettings
from hyperkube_lib.csi_translation import translated_volume

from hyperkube.client.actions import Delete, delete
from hyperkube.client.informer import Informer
from hyperkube.client.reconcile import NotYet
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.kinds.conditions import is_true
from hyperkube.kinds.resources import CUSTOM_RESOURCE_DEFINITIONS, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from hyperkube.machinery.errors import AlreadyExists, NotFound
from hyperkube.machinery.objects import (
    Object,
    annotations_of,
    has_finalizer,
    is_being_deleted,
    key_of,
    name_of,
    namespace_of,
    split_key,
    uid_of,
    with_finalizer,
    without_finalizer,
)

_NAMES = frozenset(f"{resource.resource}.{GROUP}" for resource in (SNAPSHOTS, CONTENTS, CLASSES))


class CsiSnapshotter(CsiController):
    """Takes, binds and deletes snapshots."""

    component = "snapshot-controller"

    def where(self) -> DriverSettings:
        """Return where drivers are."""
        return self.settings(DriverSettings)

    def watch(self) -> None:
        """Wait for the kinds; then follow snapshots and contents."""
        from hyperkube_controller.csi_snapshotter.contents import Contents

        self._lock = threading.Lock()
        self._there: set[str] = set()
        self._snapshots: Informer | None = None
        self._claims = self.informers.informer(PERSISTENT_VOLUME_CLAIMS)
        self._volumes = self.informers.informer(PERSISTENT_VOLUMES)
        self._contents = Contents(self.client, self.recorder, self.drivers, self.context.clock)
        self._kinds: Mapping[str, Callable[[str], float | None]] = {
            "snapshot": self._sync_snapshot,
            "content": self._sync_content,
            "claim": self._sync_claim,
        }
        kinds = self.informers.informer(CUSTOM_RESOURCE_DEFINITIONS)
        kinds.add_handler(self._kind_seen, lambda _old, new: self._kind_seen(new))

    def _kind_seen(self, definition: Object) -> None:
        if name_of(definition) not in _NAMES or not is_true(definition.get("status") or {}, "Established"):
            return
        with self._lock:
            self._there.add(name_of(definition))
            if self._there != _NAMES or self._snapshots is not None:
                return
            self._snapshots = self.informers.informer(SNAPSHOTS)
            self._content_objects = self.informers.informer(CONTENTS)
            self._classes = self.informers.informer(CLASSES)
        self._snapshots.add_handler(self._seen, lambda _old, new: self._seen(new), self._snapshot_gone)
        self._content_objects.add_handler(
            self._content_seen, lambda _old, new: self._content_seen(new), self._content_seen
        )
        self._classes.add_handler(lambda _class: self._look_at_all(), lambda _old, _new: self._look_at_all())

    def _look_at_all(self) -> None:
        for snapshot in self._snapshots.list() if self._snapshots is not None else ():
            self._seen(snapshot)

    def _seen(self, snapshot: Object) -> None:
        self.loop.queue.add(f"snapshot:{key_of(snapshot)}")
        if (snapshot.get("status") or {}).get("readyToUse"):
            self._snapshot_gone(snapshot)

    def _snapshot_gone(self, snapshot: Object) -> None:
        """Look at the claim of a snapshot that is taken, or is gone."""
        if name := (snapshot["spec"].get("source") or {}).get("persistentVolumeClaimName"):
            self.loop.queue.add(f"claim:{namespace_of(snapshot)}/{name}")

    def _content_seen(self, content: Object) -> None:
        self.loop.queue.add(f"content:{name_of(content)}")
        reference = content["spec"].get("volumeSnapshotRef") or {}
        self.loop.queue.add(f"snapshot:{reference.get('namespace', '')}/{reference.get('name', '')}")

    def sync(self, key: str) -> float | None:
        """Look at a snapshot, a content or a claim that is copied."""
        kind, _, rest = key.partition(":")
        return self._kinds[kind](rest)

    # snapshots

    def _sync_snapshot(self, key: str) -> float | None:
        snapshot = self._snapshots.get(*split_key(key)) if self._snapshots is not None else None
        if snapshot is None:
            return None
        if is_being_deleted(snapshot):
            self._delete(snapshot)
            return None
        try:
            content = self._bound_content(snapshot)
        except VolumeFailed as error:
            self._failed(snapshot, error)
            raise NotYet(str(error)) from error
        if content is None:
            return self.look_again()
        finalizers = with_finalizer(with_finalizer(snapshot, AS_SOURCE), BOUND)
        if finalizers != snapshot:
            snapshot = self.client.update(SNAPSHOTS, finalizers, namespace_of(snapshot))
        self._tell(snapshot, content)
        return None

    def _bound_content(self, snapshot: Object) -> Object | None:
        """Return the content of a snapshot, made if there is none yet; None if others look after its driver.

        Raises:
            VolumeFailed: there is none, and none can be made.
        """
        source = snapshot["spec"].get("source") or {}
        if given := source.get("volumeSnapshotContentName"):
            return self._given_content(snapshot, given)
        found = self._content_objects.get("", f"snapcontent-{uid_of(snapshot)}")
        if found is not None:
            return found
        if (snapshot.get("status") or {}).get("readyToUse"):
            raise VolumeFailed("VolumeSnapshotContent is missing")
        return self._make_content(snapshot, source.get("persistentVolumeClaimName", ""))

    def _given_content(self, snapshot: Object, name: str) -> Object:
        content = self._content_objects.get("", name)
        if content is None:
            raise VolumeFailed(f"VolumeSnapshotContent {name} is missing")
        reference = content["spec"].get("volumeSnapshotRef") or {}
        is_its = (reference.get("namespace"), reference.get("name")) == (namespace_of(snapshot), name_of(snapshot))
        if not is_its or (reference.get("uid") and reference["uid"] != uid_of(snapshot)):
            raise VolumeFailed(f"VolumeSnapshotContent [{name}] is bound to a different snapshot")
        if reference.get("uid"):
            return content
        spec = {**content["spec"], "volumeSnapshotRef": {**reference, "uid": uid_of(snapshot)}}
        return self.client.update(CONTENTS, with_finalizer({**content, "spec": spec}, CONTENT_BOUND))

    def _make_content(self, snapshot: Object, claim_name: str) -> Object | None:
        claim = self._claims.get(namespace_of(snapshot), claim_name)
        if claim is None:
            raise VolumeFailed(f'failed to retrieve PVC {claim_name} from the lister: "{claim_name}" not found')
        volume = self._volumes.get("", (claim.get("spec") or {}).get("volumeName") or "")
        if (claim.get("status") or {}).get("phase") != "Bound" or volume is None:
            raise VolumeFailed(f"the PVC {claim_name} is not yet bound to a PV, will not attempt to take a snapshot")
        volume = translated_volume(volume)
        driver = str((volume["spec"].get("csi") or {}).get("driver", ""))
        if not driver:
            raise VolumeFailed(f"Volume Snapshot is only supported for CSI volumes, not for {name_of(volume)}")
        if self.drivers.get(driver) is None:
            return None
        snapshot, snapshot_class = self._class_of(snapshot, driver)
        made = content_of(snapshot, volume, snapshot_class)
        if not has_finalizer(claim, CLAIM_AS_SOURCE):
            self.client.update(PERSISTENT_VOLUME_CLAIMS, with_finalizer(claim, CLAIM_AS_SOURCE), namespace_of(claim))
        try:
            content = self.client.create(CONTENTS, made)
        except AlreadyExists:
            return self.client.get(CONTENTS, name_of(made))  # by this controller, before its cache showed it
        text = f"Waiting for a snapshot {key_of(snapshot)} to be created by the CSI driver."
        self.recorder.event(snapshot, "Normal", "CreatingSnapshot", text)
        return content

    def _class_of(self, snapshot: Object, driver: str) -> tuple[Object, Object]:
        """Return the snapshot, with a class from now on, and that class."""
        name = snapshot["spec"].get("volumeSnapshotClassName")
        if not name:
            found = default_class(self._classes.list(), driver)
            spec = {**snapshot["spec"], "volumeSnapshotClassName": name_of(found)}
            return self.client.update(SNAPSHOTS, {**snapshot, "spec": spec}, namespace_of(snapshot)), found
        chosen = self._classes.get("", name)
        if chosen is None:
            raise VolumeFailed(f'Failed to get snapshot class with error volumesnapshotclass "{name}" not found')
        if chosen["driver"] != driver:
            text = f"Failed to set default snapshot class, driver {driver} is not that of class {name}"
            raise VolumeFailed(text)
        return snapshot, chosen

    def _tell(self, snapshot: Object, content: Object) -> None:
        before, status = snapshot.get("status") or {}, snapshot_status(content)
        if before == status:
            return
        self.client.update(SNAPSHOTS, {**snapshot, "status": status}, namespace_of(snapshot), subresource="status")
        handle = (content.get("status") or {}).get("snapshotHandle")
        if handle and not before.get("creationTime") and status.get("creationTime"):
            text = f"Snapshot {key_of(snapshot)} was successfully created by the CSI driver."
            self.recorder.event(snapshot, "Normal", "SnapshotCreated", text)
        if status["readyToUse"] and not before.get("readyToUse"):
            text = f"Snapshot {key_of(snapshot)} is ready to use."
            self.recorder.event(snapshot, "Normal", "SnapshotReady", text)

    def _failed(self, snapshot: Object, error: VolumeFailed) -> None:
        text = f"Failed to create snapshot content with error {error}"
        status = error_status(snapshot, text, self.context.clock.now())
        if status != snapshot.get("status"):
            changed = {**snapshot, "status": status}
            self.client.update(SNAPSHOTS, changed, namespace_of(snapshot), subresource="status")
            self.recorder.event(snapshot, "Warning", "SnapshotContentCreationFailed", text)

    def _delete(self, snapshot: Object) -> None:
        """Delete the content with a snapshot, unless it is to be kept; then let the snapshot go."""
        if self._is_copied(snapshot):
            raise NotYet("a volume is being made of the snapshot")
        name = (snapshot.get("status") or {}).get("boundVolumeSnapshotContentName") or f"snapcontent-{uid_of(snapshot)}"
        try:
            content = self.client.get(CONTENTS, name)
        except NotFound:
            content = None
        if content is not None and content["spec"]["volumeSnapshotRef"].get("uid") == uid_of(snapshot):
            if annotations_of(content).get(BEING_DELETED) != "yes":
                content = self.client.update(CONTENTS, annotated(content, {BEING_DELETED: "yes"}))
            if content["spec"]["deletionPolicy"] == "Delete":
                if not is_being_deleted(content):
                    delete(self.client, Delete.of(CONTENTS, content))
                return  # its disappearance brings the snapshot again
        left = without_finalizer(without_finalizer(snapshot, AS_SOURCE), BOUND)
        if left != snapshot:
            self.client.update(SNAPSHOTS, left, namespace_of(snapshot))

    def _is_copied(self, snapshot: Object) -> bool:
        for claim in self._claims.list():
            source = claim["spec"].get("dataSourceRef") or claim["spec"].get("dataSource") or {}
            is_of_it = source.get("kind") == "VolumeSnapshot" and source.get("name") == name_of(snapshot)
            pending = (claim.get("status") or {}).get("phase") == "Pending"
            if is_of_it and pending and namespace_of(claim) == namespace_of(snapshot):
                return True
        return False

    # contents and claims

    def _sync_content(self, name: str) -> float | None:
        content = self._content_objects.get("", name)
        if content is None:
            return None
        driver = self.drivers.get(content["spec"]["driver"])
        return self._contents.sync(content, driver) if driver is not None else self.look_again()

    def _sync_claim(self, key: str) -> None:
        """Let a claim go of which no snapshot is being taken any more."""
        claim = self._claims.get(*split_key(key))
        if claim is None or not has_finalizer(claim, CLAIM_AS_SOURCE) or self._snapshots is None:
            return
        for snapshot in self._snapshots.list():
            name = (snapshot["spec"].get("source") or {}).get("persistentVolumeClaimName")
            is_ready = (snapshot.get("status") or {}).get("readyToUse")
            if name == name_of(claim) and namespace_of(snapshot) == namespace_of(claim) and not is_ready:
                return
        changed = without_finalizer(claim, CLAIM_AS_SOURCE)
        self.client.update(PERSISTENT_VOLUME_CLAIMS, changed, namespace_of(claim))
