"""The loop: keys are ``attachment:NAME``, ``volume:NAME`` and ``listing:DRIVER``."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet

from hyperkube_controller.csi_attacher.requests import (
    attached,
    finalizer_of,
    node_id_of,
    publish_request,
    with_error,
    with_node_id,
)
from hyperkube_lib.csi import CsiFailed
from hyperkube_lib.csi_controllers import CsiController, Driver, DriverSettings, secret_data
from hyperkube_lib.csi_translation import TranslationFailed, repaired_handle, translated_volume

from hyperkube.client.reconcile import NotYet
from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.kinds.resources import CSI_NODES, NODES, PERSISTENT_VOLUMES, VOLUME_ATTACHMENTS
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.objects import (
    Object,
    has_finalizer,
    is_being_deleted,
    name_of,
    with_finalizer,
    without_finalizer,
)
from hyperkube.machinery.pages import EndlessList, all_pages

LISTING_SECONDS = 60.0
"""Upstream's ``--reconcile-sync``."""
MOST_VOLUMES = 1_000_000
"""As many as a driver may list; of those only the attached ones are kept."""
_PUBLISH, _LISTS = "PUBLISH_UNPUBLISH_VOLUME", {"LIST_VOLUMES", "LIST_VOLUMES_PUBLISHED_NODES"}


class CsiAttacher(CsiController):
    """Attaches and detaches."""

    component = "external-attacher"

    def where(self) -> DriverSettings:
        """Return where drivers are."""
        return self.settings(DriverSettings)

    def watch(self) -> None:
        """Follow attachments, and the volumes that they keep."""
        self._lock = threading.Lock()
        self._forced: set[str] = set()
        """Attachments that the driver says differ from their status: called for once more."""
        self._listed: set[str] = set()
        """Drivers that are asked every minute what is attached: those with attachments."""
        self._attachments = self.informers.informer(VOLUME_ATTACHMENTS)
        self._volumes = self.informers.informer(PERSISTENT_VOLUMES)
        self._nodes = self.informers.informer(NODES)
        self._csi_nodes = self.informers.informer(CSI_NODES)
        self._kinds: Mapping[str, Callable[[str], float | None]] = {
            "attachment": self._sync_attachment,
            "volume": self._sync_volume,
            "listing": self._sync_listing,
        }
        self._attachments.add_handler(self._seen, lambda _old, new: self._seen(new), self._gone)
        self._volumes.add_handler(self._volume_seen, lambda _old, new: self._volume_seen(new))

    def _seen(self, attachment: Object) -> None:
        self.loop.queue.add(f"attachment:{name_of(attachment)}")
        driver = attachment["spec"]["attacher"]
        with self._lock:
            is_listed = driver in self._listed
            self._listed.add(driver)
        if not is_listed:
            self.loop.queue.add_after(f"listing:{driver}", LISTING_SECONDS)

    def _gone(self, attachment: Object) -> None:
        if name := (attachment["spec"].get("source") or {}).get("persistentVolumeName"):
            self.loop.queue.add(f"volume:{name}")

    def _volume_seen(self, volume: Object) -> None:
        if is_being_deleted(volume) and _csi_spec(volume):
            self.loop.queue.add(f"volume:{name_of(volume)}")

    def sync(self, key: str) -> float | None:
        """Look at an attachment, a volume or all attachments of a driver."""
        kind, _, rest = key.partition(":")
        return self._kinds[kind](rest)

    # attachments

    def _sync_attachment(self, name: str) -> float | None:
        attachment = self._attachments.get("", name)
        if attachment is None:
            return None
        driver = self.drivers.get(attachment["spec"]["attacher"])
        if driver is None:
            return self.look_again()
        with self._lock:
            is_forced = name in self._forced
            self._forced.discard(name)
        try:
            if is_being_deleted(attachment):
                self._detach(attachment, driver, is_forced=is_forced)
            else:
                self._attach(attachment, driver, is_forced=is_forced)
        except NotFound:
            return None  # the attachment is gone meanwhile
        return None

    def _attach(self, attachment: Object, driver: Driver, *, is_forced: bool) -> None:
        if (attachment.get("status") or {}).get("attached") and not is_forced:
            return
        try:
            attachment, context = self._publish(attachment, driver)
        except VolumeFailed as error:
            self._tell(attachment, "attachError", error)
            raise NotYet(f"failed to attach: {error}") from error
        self._write_status(attached(attachment, context))

    def _publish(self, attachment: Object, driver: Driver) -> tuple[Object, Mapping[str, str]]:
        """Attach; return the attachment as it is stored now, and what the driver tells the node.

        A driver that does not attach has nothing to do, and the attachment no finalizer.
        """
        if _PUBLISH not in driver.can():
            return attachment, {}
        spec = self._volume_spec(attachment, driver, attaches=True)
        node_id = self._node_id(attachment, driver, is_detached=False)
        marked = with_finalizer(with_node_id(attachment, node_id), finalizer_of(driver.name))
        if marked != attachment:
            attachment = self.client.update(VOLUME_ATTACHMENTS, marked)
        secrets = secret_data(self.client, spec["csi"].get("controllerPublishSecretRef") or {})
        request = publish_request(spec, node_id, secrets, driver.can())
        answer = driver.control("ControllerPublishVolume", request)
        return attachment, answer.get("publish_context") or {}

    def _detach(self, attachment: Object, driver: Driver, *, is_forced: bool) -> None:
        finalizer = finalizer_of(driver.name)
        if not has_finalizer(attachment, finalizer) and not is_forced:
            return
        try:
            if _PUBLISH in driver.can():
                self._unpublish(attachment, driver)
        except VolumeFailed as error:
            self._tell(attachment, "detachError", error)
            raise NotYet(f"failed to detach: {error}") from error
        latest = self.client.get(VOLUME_ATTACHMENTS, name_of(attachment))
        if (latest.get("status") or {}).get("attached"):
            latest = self._write_status({**latest, "status": {"attached": False}})
        self.client.update(VOLUME_ATTACHMENTS, without_finalizer(latest, finalizer))

    def _unpublish(self, attachment: Object, driver: Driver) -> None:
        spec = self._volume_spec(attachment, driver, attaches=False)
        request = {
            "volume_id": spec["csi"]["volumeHandle"],
            "node_id": self._node_id(attachment, driver, is_detached=True),
            "secrets": secret_data(self.client, spec["csi"].get("controllerPublishSecretRef") or {}),
        }
        driver.control("ControllerUnpublishVolume", request)

    def _volume_spec(self, attachment: Object, driver: Driver, *, attaches: bool) -> Object:
        """Return the spec of the attachment's volume, which is kept from now on as long as it is attached."""
        source = attachment["spec"].get("source") or {}
        if (inline := source.get("inlineVolumeSpec")) is not None:
            if "csi" not in inline:
                raise VolumeFailed("inline volume spec contains nil CSI source")
            return dict(inline)
        name = source.get("persistentVolumeName")
        if not name:
            raise VolumeFailed("neither InlineCSIVolumeSource nor PersistentVolumeName specified in VA source")
        volume = self._volumes.get("", name)
        if volume is None:
            raise VolumeFailed(f'persistentvolume "{name}" not found')
        if attaches and is_being_deleted(volume):
            raise VolumeFailed(f'PersistentVolume "{name}" is marked for deletion')
        spec = translated_volume(volume)["spec"]
        if "csi" not in spec:
            raise VolumeFailed("pv spec contained non-csi source that was not migrated")
        if attaches and not has_finalizer(volume, finalizer_of(driver.name)):
            self.client.update(PERSISTENT_VOLUMES, with_finalizer(volume, finalizer_of(driver.name)))
        return dict(spec)

    def _node_id(self, attachment: Object, driver: Driver, *, is_detached: bool) -> str:
        name = attachment["spec"]["nodeName"]
        csi_node, node = self._csi_nodes.get("", name), self._nodes.get("", name)
        return node_id_of(attachment, driver.name, csi_node, node, is_detached=is_detached)

    def _tell(self, attachment: Object, field: str, error: Exception) -> None:
        """Write a failure, on top of what else was written by this attempt."""
        latest = self.client.get(VOLUME_ATTACHMENTS, name_of(attachment))
        before = ((latest.get("status") or {}).get(field) or {}).get("message")
        if before != str(error):  # one write per failure: each brings the key back at once
            self._write_status(with_error(latest, field, error, self.context.clock.now()))

    def _write_status(self, attachment: Object) -> Object:
        return self.client.update(VOLUME_ATTACHMENTS, attachment, subresource="status")

    # volumes

    def _sync_volume(self, name: str) -> None:
        """Let a volume go that is deleted and attached to no node any more."""
        volume = self._volumes.get("", name)
        spec = _csi_spec(volume) if volume is not None and is_being_deleted(volume) else {}
        if volume is None or not spec:
            return
        finalizer = finalizer_of(spec["csi"]["driver"])
        if not has_finalizer(volume, finalizer) or name in self._attached_volumes():
            return
        if self.drivers.get(spec["csi"]["driver"]) is not None:
            self.client.update(PERSISTENT_VOLUMES, without_finalizer(volume, finalizer))

    def _attached_volumes(self) -> AbstractSet[str]:
        sources = (each["spec"].get("source") or {} for each in self._attachments.list())
        return {str(source.get("persistentVolumeName", "")) for source in sources}

    # what drivers say is attached

    def _sync_listing(self, name: str) -> float | None:
        """Compare the attachments of a driver with what it lists, every minute while there are any."""
        driver = self.drivers.get(name)
        ours = [each for each in self._attachments.list() if each["spec"]["attacher"] == name]
        try:
            if driver is None or not ours or not driver.can() >= _LISTS:
                with self._lock:
                    self._listed.discard(name)
                return None
            compared = [found for each in ours if (found := self._compared(each, driver)) is not None]
            published = _published(driver, {each.handle for each in compared})
        except CsiFailed as error:
            self.context.logger.warning("driver %s does not list its volumes: %s", name, error)
            return LISTING_SECONDS
        for each in compared:
            self._compare(each, published)
        return LISTING_SECONDS

    def _compared(self, attachment: Object, driver: Driver) -> _Attached | None:
        """Return what a driver calls an attachment's volume and node; None if that cannot be told."""
        try:
            spec = self._volume_spec(attachment, driver, attaches=False)
            node_id = self._node_id(attachment, driver, is_detached=True)
            return _Attached(attachment, repaired_handle(spec["csi"]["volumeHandle"], node_id), node_id)
        except VolumeFailed as error:
            self.context.logger.warning("attachment %s cannot be compared: %s", name_of(attachment), error)
            return None

    def _compare(self, each: _Attached, published: Mapping[str, AbstractSet[str]]) -> None:
        attachment = each.attachment
        says = bool((attachment.get("status") or {}).get("attached"))
        if says != (each.node_id in published.get(each.handle, ())):
            text = "attachment %s of volume %s has attached=%s, its driver says otherwise"
            self.context.logger.warning(text, name_of(attachment), each.handle, says)
            with self._lock:
                self._forced.add(name_of(attachment))
            self.loop.queue.add(f"attachment:{name_of(attachment)}")


@dataclass(frozen=True, slots=True)
class _Attached:
    """An attachment, and what its driver calls the volume and the node."""

    attachment: Object
    handle: str
    node_id: str


def _csi_spec(volume: Object) -> Object:
    """Return the spec of a volume as its CSI driver knows it, empty for one without a driver."""
    try:
        spec: Object = translated_volume(volume)["spec"]
    except TranslationFailed:
        return {}
    return spec if "csi" in spec else {}


def _published(driver: Driver, ours: AbstractSet[str]) -> dict[str, AbstractSet[str]]:
    """Return volume id → ids of the nodes that have it, of those volumes: what else a driver lists is not kept.

    Raises:
        CsiFailed: the driver does not list them, or not to an end.
    """

    def read(token: str) -> tuple[Iterable[Object], str]:
        answer = driver.control("ListVolumes", {"starting_token": token} if token else {})
        return answer.get("entries") or (), str(answer.get("next_token") or "")

    found: dict[str, AbstractSet[str]] = {}
    try:
        for entry in all_pages(read, most=MOST_VOLUMES):
            handle = str((entry.get("volume") or {}).get("volume_id", ""))
            if handle in ours:
                found[handle] = frozenset((entry.get("status") or {}).get("published_node_ids") or ())
    except EndlessList as error:
        raise CsiFailed("OUT_OF_RANGE", f"ListVolumes: {error}") from error
    return found
