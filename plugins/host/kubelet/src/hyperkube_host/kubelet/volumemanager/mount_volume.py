"""The steps that bring a volume to a pod, and back: attach, wait, mount the device, set up, give to the group.

Each step that was done is noted at once, so that an attempt that fails goes on where the last one stopped, and undoing
undoes what was done. Source: kubernetes ``pkg/volume/util/operationexecutor/operation_generator.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

from hyperkube_host.kubelet.clustertrustbundle.cluster_trust_bundle_manager import TrustAnchors
from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.events import KubeletEventRecorder
from hyperkube_host.kubelet.objects.object_cache import ObjectCache
from hyperkube_host.kubelet.objects.token_manager import TokenManager
from hyperkube_host.kubelet.podcertificate.pod_certificate_manager import PodCertificateManager
from hyperkube_host.kubelet.types.pod_spec import containers_of, init_containers_of
from hyperkube_host.kubelet.volumemanager.actual_state import ActualStateOfWorld, MountedForPod, NodeVolume
from hyperkube_host.kubelet.volumemanager.attachment import Attachments
from hyperkube_host.kubelet.volumemanager.block_devices import link_device, unlink_device
from hyperkube_host.kubelet.volumemanager.mount_labels import MountLabels
from hyperkube_host.kubelet.volumemanager.operations import NameLocks
from hyperkube_host.kubelet.volumemanager.pod_volumes import PodVolume
from hyperkube_host.kubelet.volumemanager.sub_paths import SubPathMounts
from hyperkube_host.kubelet.volumemanager.volume_ownership import (
    follows_api,
    group_of_volume,
    set_volume_ownership,
)

from hyperkube.hookspecs.volume import (
    Attachable,
    BlockMappable,
    DeviceMountable,
    DeviceRequest,
    MountedVolume,
    VolumeFailed,
    VolumeRequest,
)
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, uid_of

_log = logging.getLogger("hyperkube.kubelet.volumes")


class MountFailed(Exception):
    """A volume is not ready; the text is that of the event `reason`. If it is `final`, it never will be."""

    def __init__(self, text: str, *, final: bool = False, reason: str = "FailedMount") -> None:
        super().__init__(text)
        self.final = final
        self.reason = reason

    @classmethod
    def at(cls, step: str, volume: PodVolume, error: Exception) -> MountFailed:
        """Return the failure of a step, in upstream's words."""
        problem = error.message if isinstance(error, ApiError) else str(error)
        final = isinstance(error, ValueError) and not isinstance(error, OSError)  # it is no path at all
        reason = "FailedMapVolume" if step.startswith("MapVolume") else "FailedMount"
        return cls(f'{step} failed for volume "{volume.spec.name}" : {problem}', final=final, reason=reason)


_FAILURES = (VolumeFailed, ApiError, OSError, ValueError)


class VolumeMounter:
    """Does the steps for one volume at a time; methods may block as long as the plugins do."""

    def __init__(
        self,
        directories: KubeletDirectories,
        state: ActualStateOfWorld,
        objects: ObjectCache,
        tokens: TokenManager,
        node: Callable[[], Object],
        attachments: Attachments,
        recorder: KubeletEventRecorder | None,
        sub_paths: SubPathMounts,
        pod_certificates: PodCertificateManager,
        trust_anchors: TrustAnchors,
        labels: MountLabels,
    ) -> None:
        self._labels = labels
        self._pod_certificates = pod_certificates
        self._trust_anchors = trust_anchors
        self._sub_paths = sub_paths
        self._directories = directories
        self._state = state
        self._objects = objects
        self._tokens = tokens
        self._node = node
        self._attachments = attachments
        self._recorder = recorder
        self._locks = NameLocks()

    # to the pod

    def mount(self, pod: Object, volume: PodVolume) -> None:
        """Make a volume ready for a pod.

        Raises:
            MountFailed: it is not.
        """
        with self._locks.hold(volume.unique_name):
            uid, on_node = uid_of(pod), self._state.volume(volume)
            if volume.is_for_one_pod and self._state.is_mounted_elsewhere(volume.unique_name, uid):
                text = "volume uses the ReadWriteOncePod access mode and is already in use by another pod"
                raise MountFailed.at("MountVolume.SetUp", volume, VolumeFailed(text))
            # Noted before anything is done: what an attempt that fails leaves behind is undone like the rest.
            on_node.pods.add(uid)
            attachable, device_mountable = volume.attachable, volume.device_mountable
            if attachable is not None and on_node.device is None:
                on_node.device = self._attach(pod, volume, attachable)
            if volume.spec.is_block:
                self._map(pod, volume, on_node)
                return
            if device_mountable is not None and not on_node.device_mount_path:
                self._mount_device(pod, volume, on_node, device_mountable)
            self._set_up(pod, volume, on_node)

    def refresh(self, pod: Object, volume: PodVolume) -> None:
        """Let the content of a volume that is ready follow its sources.

        Raises:
            MountFailed: it does not.
        """
        self._set_up(pod, volume, self._state.volume(volume))

    def _attach(self, pod: Object, volume: PodVolume, plugin: Attachable) -> str:
        try:
            device = self._attachments.attach(volume, plugin, self._node())
        except (VolumeFailed, ApiError) as error:
            # Waiting for the controller is no failure of the mount: the controller has events of its own.
            reason = "FailedAttachVolume" if not self._attachments.by_controller else ""
            text = f'AttachVolume.Attach failed for volume "{volume.spec.name}" : {error}'
            raise MountFailed(text, reason=reason) from error
        try:
            return plugin.wait_for_attach(volume.spec, device, pod, self._node())
        except _FAILURES as error:
            raise MountFailed.at("MountVolume.WaitForAttach", volume, error) from error

    def _mount_device(self, pod: Object, volume: PodVolume, on_node: NodeVolume, plugin: DeviceMountable) -> None:
        try:
            folder = str(self._directories.plugin(volume.plugin_name))
            path = plugin.device_mount_path(volume.spec, folder)
            self._labels.check_mounted(volume, path)
            plugin.mount_device(self._device_request(pod, volume, on_node, path))
        except _FAILURES as error:
            raise MountFailed.at("MountVolume.MountDevice", volume, error) from error
        on_node.device_mount_path = path

    def _device_request(self, pod: Object, volume: PodVolume, on_node: NodeVolume, path: str) -> DeviceRequest:
        return DeviceRequest(
            spec=volume.spec,
            pod=pod,
            node=self._node(),
            device=on_node.device or "",
            path=path,
            plugin_dir=str(self._directories.plugin(volume.plugin_name)),
            fs_group=_fs_group(pod),
            selinux_label=volume.selinux_label,
            get_secret=self._objects.secret,
            record_event=self._event_of(pod),
        )

    def device_request(self, pod: Object, volume: PodVolume, path: str) -> DeviceRequest:
        """Return what a kind is told of a volume that is on the node; `path` is for one that is not mounted for all."""
        on_node = self._state.volume(volume)
        return self._device_request(pod, volume, on_node, on_node.device_mount_path or path)

    def _set_up(self, pod: Object, volume: PodVolume, on_node: NodeVolume) -> None:
        folder = self._directories.volume(uid_of(pod), volume.plugin_name, volume.spec.name)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path = volume.plugin.setup(self._request(pod, volume, on_node, str(folder)))
            self._own(pod, volume, path)
        except _FAILURES as error:
            raise MountFailed.at("MountVolume.SetUp", volume, error) from error
        self._state.mark_mounted(uid_of(pod), MountedForPod(volume, path))

    def _request(self, pod: Object, volume: PodVolume, on_node: NodeVolume, folder: str) -> VolumeRequest:
        containers = [*init_containers_of(pod), *containers_of(pod)]
        mounts = [m for c in containers for m in c.get("volumeMounts") or [] if m["name"] == volume.name]
        return VolumeRequest(
            volume=volume.spec.volume,
            pod=pod,
            path=folder,
            read_only=volume.spec.read_only or (bool(mounts) and all(mount.get("readOnly") for mount in mounts)),
            node=self._node(),
            get_config_map=self._objects.config_map,
            get_secret=self._objects.secret,
            request_token=lambda audience, seconds: self._tokens.token(pod, audience, seconds),
            persistent_volume=volume.spec.persistent_volume,
            device=on_node.device or "",
            device_mount_path=on_node.device_mount_path,
            plugin_dir=str(self._directories.plugin(volume.plugin_name)),
            fs_group=_fs_group(pod),
            selinux_label=volume.selinux_label,
            record_event=self._event_of(pod),
            pod_certificate=partial(self._pod_certificates.credential_bundle, pod, volume.name),
            trust_anchors=self._trust_anchors.anchors,
        )

    def _event_of(self, pod: Object) -> Callable[[str, str, str], None]:
        def record(kind: str, reason: str, message: str) -> None:
            if self._recorder is not None:
                self._recorder.pod_event(pod, kind, reason, message)

        return record

    def _own(self, pod: Object, volume: PodVolume, path: str) -> None:
        """Give a volume to the pod's group: once, or at every sync when its content may be new."""
        group = group_of_volume(pod, volume)
        known = self._state.mounted(uid_of(pod)).get(volume.name)
        follows = follows_api(volume.spec.volume)
        if group is None or (known is not None and not follows):
            return
        policy = (pod["spec"].get("securityContext") or {}).get("fsGroupChangePolicy")
        set_volume_ownership(path, group, read_only=follows, on_root_mismatch=policy == "OnRootMismatch")

    def _map(self, pod: Object, volume: PodVolume, on_node: NodeVolume) -> None:
        plugin = volume.plugin
        if not isinstance(plugin, BlockMappable):
            error = VolumeFailed(f"volume plugin {volume.plugin_name!r} has no block devices")
            raise MountFailed.at("MapVolume.SetUpDevice", volume, error)
        folder = self._directories.device_folder(volume.plugin_name, volume.spec.name)
        try:
            device = plugin.map_device(self._device_request(pod, volume, on_node, str(folder)))
        except _FAILURES as error:
            raise MountFailed.at("MapVolume.SetUpDevice", volume, error) from error
        on_node.device_mount_path = str(folder)
        link = self._directories.volume_device(uid_of(pod), volume.plugin_name, volume.spec.name)
        try:
            link_device(device, link, folder / uid_of(pod))
        except OSError as error:
            raise MountFailed.at("MapVolume.MapPodDevice", volume, error) from error
        self._state.mark_mounted(uid_of(pod), MountedForPod(volume, device, is_device=True))

    # and back

    def unmount(self, uid: str, volume: PodVolume) -> None:
        """Take a volume from a pod; the last one takes it from the node.

        Raises:
            VolumeFailed, OSError: it is in use, or the storage does not let go.
        """
        with self._locks.hold(volume.unique_name):
            on_node = self._state.volume(volume)
            # A storage that did not let go is asked again, when the pod's own part is long undone.
            if uid not in on_node.left:
                self._take_from_pod(uid, volume)
                on_node.pods.discard(uid)
                on_node.left.add(uid)
            if not on_node.pods:
                self._release(uid, volume, on_node)
            on_node.left.discard(uid)

    def unmount_left(self, uid: str) -> None:
        """Take from the node what an earlier `unmount` of a pod could not.

        Raises:
            VolumeFailed, OSError: see `unmount`.
        """
        for volume in self._state.left_by(uid):
            self.unmount(uid, volume)

    def _take_from_pod(self, uid: str, volume: PodVolume) -> None:
        if volume.spec.is_block:
            link = self._directories.volume_device(uid, volume.plugin_name, volume.spec.name)
            folder = self._directories.device_folder(volume.plugin_name, volume.spec.name)
            unlink_device(link, folder / uid)
        else:
            self._sub_paths.clean(uid, volume.spec.name)
            folder = self._directories.volume(uid, volume.plugin_name, volume.spec.name)
            volume.plugin.teardown(self._mounted_volume(uid, volume, folder))
        self._state.mark_unmounted(uid, volume.name)

    def _mounted_volume(self, uid: str, volume: PodVolume, path: Path) -> MountedVolume:
        folder = str(self._directories.plugin(volume.plugin_name))
        return MountedVolume(name=volume.spec.name, pod_uid=uid, path=str(path), plugin_dir=folder)

    def _release(self, uid: str, volume: PodVolume, on_node: NodeVolume) -> None:
        """Undo what was done once for all pods."""
        plugin, spec = volume.plugin, volume.spec
        if spec.is_block and isinstance(plugin, BlockMappable):
            folder = self._directories.device_folder(volume.plugin_name, spec.name)
            plugin.unmap_device(self._mounted_volume(uid, volume, folder))
            self._directories.remove_device_folder(folder)
        elif (mountable := volume.device_mountable) is not None:
            folder = self._directories.plugin(volume.plugin_name)
            mountable.unmount_device(on_node.device_mount_path or mountable.device_mount_path(spec, str(folder)))
        on_node.device_mount_path = ""
        if (attachable := volume.attachable) is not None:
            self._attachments.detach(volume, attachable, self._node())
            _log.info("volume %s is detached from this node", volume.unique_name)
        self._state.forget(volume.unique_name)


def _fs_group(pod: Object) -> int | None:
    group = (pod["spec"].get("securityContext") or {}).get("fsGroup")
    return None if group is None else int(group)
