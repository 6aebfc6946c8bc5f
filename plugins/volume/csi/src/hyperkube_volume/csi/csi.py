"""The steps of a csi volume, each a call of its driver.

Sources: kubernetes ``pkg/volume/csi/csi_mounter.go``, ``csi_attacher.go``, ``csi_block.go``, ``csi_plugin.go``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hyperkube_lib.csi import NODE, CsiCalls, CsiFailed, access_mode, volume_capability
from hyperkube_lib.volume_mount import selinux_options
from hyperkube_volume.csi.attachment import VolumeAttachments
from hyperkube_volume.csi.driver_objects import DriverObjects
from hyperkube_volume.csi.drivers import Drivers
from hyperkube_volume.csi.volume_data import (
    FILE,
    label_record,
    load_volume_data,
    remove_volume_data,
    save_volume_data,
)

from hyperkube.client.client import Client
from hyperkube.hookspecs.volume import (
    DeviceRequest,
    MountedVolume,
    VolumeFailed,
    VolumeRequest,
    VolumeSpec,
    VolumeUsage,
)
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.objects import Object, name_of, namespace_of, uid_of

STAGE, STATS, EXPAND, MOUNT_GROUP = (
    "STAGE_UNSTAGE_VOLUME",
    "GET_VOLUME_STATS",
    "EXPAND_VOLUME",
    "VOLUME_MOUNT_GROUP",
)
_MOUNT = "mount"


class CsiVolumes:
    """Serves csi volumes through their drivers; see the protocols of `hyperkube.hookspecs.volume`."""

    driver_type = "CSIPlugin"

    def __init__(self, client: Client | None, clock: Clock, connect: Callable[[str], CsiCalls]) -> None:
        self._drivers = Drivers(connect, client)
        self._objects = DriverObjects(client, clock)
        self._attachments = VolumeAttachments(client, clock)

    def supports(self, volume: Object) -> bool:
        """Handle ``csi``."""
        return "csi" in volume

    # drivers

    def initialize_node(self, node_name: str) -> None:
        """Tell the API of the node before any driver has come.

        Raises:
            VolumeFailed: it cannot be told now.
        """
        self._drivers.initialize_node(node_name)

    def validate_driver(self, name: str, endpoint: str, versions: Sequence[str]) -> None:
        """Check the versions of a driver."""
        del endpoint
        self._drivers.validate(name, versions)

    def register_driver(self, name: str, endpoint: str, versions: Sequence[str], node_name: str) -> None:
        """Use a driver from now on."""
        del versions
        self._drivers.register(name, endpoint, node_name)

    def register_own_driver(self, name: str, driver: CsiCalls, node_name: str) -> None:
        """Use a driver within this process from now on.

        Raises:
            VolumeFailed: the API cannot be told now.
        """
        self._drivers.register_calls(name, "", driver, node_name)

    def deregister_driver(self, name: str, endpoint: str) -> None:
        """Use a driver no more."""
        self._drivers.deregister(name, endpoint)

    def close(self) -> None:
        """Close all connections."""
        self._drivers.close()

    def volume_limits(self) -> Mapping[str, int]:
        """Return the limits of the node by the names that nodes once told them with."""
        return {f"attachable-volumes-csi-{name}": limit for name, limit in self._drivers.limits().items()}

    def supports_selinux_context_mount(self, spec: VolumeSpec) -> bool:
        """Tell whether the driver mounts its volumes with a label."""
        return self._objects.mounts_selinux_labels(_driver(spec))

    # names

    def volume_name(self, spec: VolumeSpec) -> str:
        """Return driver and handle."""
        return f"{_driver(spec)}^{_handle(spec)}"

    def can_attach(self, spec: VolumeSpec) -> bool:
        """Tell whether the driver has a controller that attaches."""
        return spec.persistent_volume is not None and self._objects.attach_required(_driver(spec))

    def can_device_mount(self, spec: VolumeSpec) -> bool:
        """Tell whether the volume is staged: each persistent one with a file system."""
        return spec.persistent_volume is not None and not spec.is_block

    # attaching

    def attach(self, spec: VolumeSpec, node: Object) -> str:
        """Ask the attacher; there is no device that the controller would know of."""
        volume = spec.persistent_volume or {}
        # What a pod has without a claim, of a kind that a driver took over, is known to the attacher from here alone.
        source = {"persistentVolumeName": spec.name} if uid_of(volume) else {"inlineVolumeSpec": volume["spec"]}
        self._attachments.attach(_driver(spec), _handle(spec), source, name_of(node))
        return ""

    def volumes_are_attached(self, specs: Sequence[VolumeSpec], node: Object) -> Mapping[str, bool]:
        """Ask the attachments."""
        return {spec.name: self._attachments.is_attached(_driver(spec), _handle(spec), name_of(node)) for spec in specs}

    def wait_for_attach(self, spec: VolumeSpec, device: str, pod: Object, node: Object) -> str:
        """Check that the attachment is there."""
        del pod
        self._attachments.metadata(_driver(spec), _handle(spec), name_of(node))
        return device

    def detach(self, volume_name: str, node_name: str) -> None:
        """Give the attachment up."""
        driver, _, handle = volume_name.partition("^")
        self._attachments.detach(driver, handle, node_name)

    # staging

    def device_mount_path(self, spec: VolumeSpec, plugin_dir: str) -> str:
        """Return where the volume is staged."""
        folder = hashlib.sha256(_handle(spec).encode()).hexdigest()
        return str(Path(plugin_dir) / _driver(spec) / folder / "globalmount")

    def mount_device(self, request: DeviceRequest) -> None:
        """Stage the volume, if its driver does so."""
        spec, path = request.spec, Path(request.path)
        driver, calls = self._driver_of(spec, "attacher.MountDevice failed to create newCsiDriverClient")
        can = calls.capabilities(NODE)
        # The record comes first: whatever the driver does, a later kubelet knows whom to ask to undo it.
        data = {"driverName": driver, "volumeHandle": _handle(spec), **label_record(request.selinux_label)}
        save_volume_data(path.parent, data)
        path.mkdir(exist_ok=True)
        if STAGE not in can:
            return
        group = str(request.fs_group) if MOUNT_GROUP in can and request.fs_group is not None else ""
        message = self._message(spec, request.node, can, request.get_secret, "nodeStageSecretRef", group)
        add_mount_flags(message, selinux_options(request.selinux_label))
        try:
            calls.call(NODE, "NodeStageVolume", {**message, "staging_target_path": str(path)})
        except CsiFailed as error:
            if error.is_final:
                self._remove_staging(path)
            raise

    def unmount_device(self, path: str) -> None:
        """Unstage the volume."""
        folder = Path(path)
        if not folder.exists() and not (folder.parent / FILE).exists():
            return
        data = load_volume_data(folder.parent)
        calls = self._drivers.get(data["driverName"])
        if STAGE in calls.capabilities(NODE):
            request = {"volume_id": data["volumeHandle"], "staging_target_path": path}
            calls.call(NODE, "NodeUnstageVolume", request)
        self._remove_staging(folder)

    def _remove_staging(self, path: Path) -> None:
        if path.is_dir():
            try:
                path.rmdir()  # never what is in it: a driver that is wrong must not cost data
            except OSError as error:
                raise VolumeFailed(f"remove {path}: {(error.strerror or '').lower()}") from error
        remove_volume_data(path.parent)

    # publishing

    def setup(self, request: VolumeRequest) -> str:
        """Publish the volume for a pod, or an ephemeral one that is made with it."""
        spec, folder = request.spec, Path(request.path)
        driver, calls = self._driver_of(spec, "mounter.SetUpAt failed to get CSI client")
        can, is_inline = calls.capabilities(NODE), spec.persistent_volume is None
        handle = inline_handle(uid_of(request.pod), spec.name) if is_inline else _handle(spec)
        self._objects.check_lifecycle(driver, "Ephemeral" if is_inline else "Persistent")
        group = str(request.fs_group) if MOUNT_GROUP in can and request.fs_group is not None else ""
        message = self._message(
            spec, request.node, can, request.get_secret, "nodePublishSecretRef", group, pod=request.pod
        )
        add_mount_flags(message, selinux_options(request.selinux_label))
        message["volume_id"] = handle
        context = self._objects.pod_context(driver, request, is_inline=is_inline)
        if context:
            message["volume_context"] = {**(message.get("volume_context") or {}), **context}
        if STAGE in can and request.device_mount_path:
            message["staging_target_path"] = request.device_mount_path
        if spec.read_only or request.read_only:
            message["readonly"] = True
        mode = "Ephemeral" if is_inline else "Persistent"
        save_volume_data(
            folder,
            {"specVolID": spec.name, "volumeHandle": handle, "driverName": driver, "volumeLifecycleMode": mode,
             "nodeName": name_of(request.node), **label_record(request.selinux_label)},
        )  # fmt: skip
        calls.call(NODE, "NodePublishVolume", {**message, "target_path": str(folder / _MOUNT)})
        return str(folder / _MOUNT)

    def requires_remount(self, volume: Object) -> bool:
        """Tell whether the driver wants to be called again and again, to renew what is in the volume."""
        return self._objects.requires_republish(str(volume["csi"]["driver"]))

    def teardown(self, mounted: MountedVolume) -> None:
        """Unpublish the volume."""
        folder = Path(mounted.path)
        if not folder.exists():
            return
        if not (folder / FILE).exists() and not any(folder.iterdir()):
            folder.rmdir()  # nothing was begun
            return
        data = load_volume_data(folder)
        calls = self._drivers.get(data["driverName"])
        target = folder / _MOUNT
        calls.call(NODE, "NodeUnpublishVolume", {"volume_id": data["volumeHandle"], "target_path": str(target)})
        if target.is_dir() and not target.is_mount():
            try:
                target.rmdir()
            except OSError as error:
                raise VolumeFailed(f"remove {target}: {(error.strerror or '').lower()}") from error
        remove_volume_data(folder)

    def construct_spec(self, mounted: MountedVolume) -> VolumeSpec:
        """Return driver and handle, as they were kept beside the volume."""
        folder = Path(mounted.path)
        if not folder.is_dir():  # a device: kept below the plugin's own folder
            folder = Path(mounted.plugin_dir) / "volumeDevices" / mounted.name / "data"
        data = load_volume_data(folder)
        source: Object = {"driver": data["driverName"]}
        if data.get("volumeLifecycleMode") == "Ephemeral":
            return VolumeSpec(volume={"name": mounted.name, "csi": source})
        source["volumeHandle"] = data["volumeHandle"]
        volume = {"name": mounted.name, "csi": source}
        return VolumeSpec(volume=volume, persistent_volume={"metadata": {"name": mounted.name}, "spec": volume})

    # devices

    def map_device(self, request: DeviceRequest) -> str:
        """Stage and publish the volume as a device."""
        spec, folder = request.spec, Path(request.path)
        driver, calls = self._driver_of(spec, "blockMapper.SetUpDevice failed to get CSI client")
        can = calls.capabilities(NODE)
        save_volume_data(folder / "data", {"driverName": driver, "volumeHandle": _handle(spec)})
        message = self._message(spec, request.node, can, request.get_secret, "nodeStageSecretRef", "")
        if STAGE in can:
            staging = folder / "staging"
            staging.mkdir(exist_ok=True)
            message["staging_target_path"] = str(staging)
            calls.call(NODE, "NodeStageVolume", message)
        if secrets := self._secrets(spec, request.get_secret, "nodePublishSecretRef", request.pod):
            message["secrets"] = secrets
        target = folder / "publish"
        calls.call(NODE, "NodePublishVolume", {**message, "target_path": str(target), "readonly": spec.read_only})
        return str(target)

    def unmap_device(self, mounted: MountedVolume) -> None:
        """Unpublish and unstage the device."""
        folder = Path(mounted.path)
        if not (folder / "data").exists():
            return
        data = load_volume_data(folder / "data")
        calls, handle = self._drivers.get(data["driverName"]), data["volumeHandle"]
        calls.call(NODE, "NodeUnpublishVolume", {"volume_id": handle, "target_path": str(folder / "publish")})
        (folder / "publish").unlink(missing_ok=True)
        if STAGE in calls.capabilities(NODE):
            calls.call(NODE, "NodeUnstageVolume", {"volume_id": handle, "staging_target_path": str(folder / "staging")})
            if (folder / "staging").is_dir():
                (folder / "staging").rmdir()
        remove_volume_data(folder / "data")

    # what else

    def gives_to_group(self, spec: VolumeSpec) -> bool:
        """Tell whether the kubelet gives the files to the pod's group, as the driver's policy says."""
        if spec.persistent_volume is None:
            return self._objects.fs_group_policy(_driver(spec)) == "File"
        policy = self._objects.fs_group_policy(_driver(spec))
        if policy != "ReadWriteOnceWithFSType":
            return policy == "File"
        modes = spec.volume.get("accessModes") or ()
        return bool(spec.volume["csi"].get("fsType")) and "ReadWriteOnce" in modes

    def usage(self, spec: VolumeSpec, mounted: MountedVolume) -> VolumeUsage:
        """Ask the driver how full the volume is."""
        _, calls = self._driver_of(spec)
        if STATS not in calls.capabilities(NODE):
            raise VolumeFailed(f"driver {_driver(spec)} does not tell how full its volumes are")
        data = load_volume_data(Path(mounted.path))
        request = {"volume_id": data["volumeHandle"], "volume_path": str(Path(mounted.path) / _MOUNT)}
        answer = calls.call(NODE, "NodeGetVolumeStats", request)
        rows = {row.get("unit"): row for row in answer.get("usage") or ()}
        size, inodes = rows.get("BYTES") or {}, rows.get("INODES") or {}
        condition = answer.get("volume_condition") or {}
        return VolumeUsage(
            capacity=size.get("total"), available=size.get("available"), used=size.get("used"),
            inodes=inodes.get("total"), inodes_free=inodes.get("available"), inodes_used=inodes.get("used"),
            abnormal=str(condition.get("message", "")) if condition.get("abnormal") else None,
        )  # fmt: skip

    def node_expand(self, request: DeviceRequest, size: int) -> bool:
        """Let the driver grow the volume on the node."""
        _, calls = self._driver_of(request.spec)
        can = calls.capabilities(NODE)
        if EXPAND not in can:
            return False
        message = self._message(request.spec, request.node, can, request.get_secret, "nodeExpandSecretRef", "")
        message.pop("publish_context", None)
        message.pop("volume_context", None)
        grown = {**message, "volume_path": request.path, "capacity_range": {"required_bytes": size}}
        if STAGE in can:
            grown["staging_target_path"] = request.path
        calls.call(NODE, "NodeExpandVolume", grown)
        return True

    # requests

    def _driver_of(self, spec: VolumeSpec, problem: str = "") -> tuple[str, CsiCalls]:
        return _driver(spec), self._drivers.get(_driver(spec), problem)

    def _message(
        self, spec: VolumeSpec, node: Object, can: frozenset[str], get_secret: Callable[[str, str], Object],
        secret: str, group: str, *, pod: Object | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Return what staging, publishing and expanding have in common."""
        source = spec.volume["csi"]
        modes = spec.volume.get("accessModes") or ["ReadWriteOnce"]
        capability = volume_capability(
            access_mode(modes, can), is_block=spec.is_block, fs_type=str(source.get("fsType") or ""),
            mount_flags=spec.mount_options, mount_group=group,
        )  # fmt: skip
        message: dict[str, Any] = {"volume_capability": capability}
        if spec.persistent_volume is not None:
            message["volume_id"] = _handle(spec)
            if self.can_attach(spec):
                context = self._attachments.metadata(_driver(spec), _handle(spec), name_of(node))
                message["publish_context"] = dict(context)
        if context := source.get("volumeAttributes"):
            message["volume_context"] = dict(context)
        if secrets := self._secrets(spec, get_secret, secret, pod):
            message["secrets"] = secrets
        return message

    def _secrets(
        self, spec: VolumeSpec, get_secret: Callable[[str, str], Object], field: str, pod: Object | None
    ) -> dict[str, str]:
        reference = spec.volume["csi"].get(field)
        if not reference:
            return {}
        namespace = reference.get("namespace") or (namespace_of(pod) if pod is not None else "")
        return self._objects.secret_data(get_secret(namespace, reference["name"]))


def add_mount_flags(message: dict[str, Any], flags: Sequence[str]) -> None:
    """Put more options of ``mount`` into a request; a device is not mounted and has none."""
    mount = message["volume_capability"].get("mount")
    if flags and mount is not None:
        mount["mount_flags"] = [*(mount.get("mount_flags") or ()), *flags]


def inline_handle(pod_uid: str, name: str) -> str:
    """Return the id of a volume that lives with its pod. Source: ``csi_mounter.go`` (makeVolumeHandle)."""
    return f"csi-{hashlib.sha256(f'{pod_uid}{name}'.encode()).hexdigest()}"


def _driver(spec: VolumeSpec) -> str:
    return str(spec.volume["csi"].get("driver") or "")


def _handle(spec: VolumeSpec) -> str:
    handle = spec.volume["csi"].get("volumeHandle")
    if not handle:
        raise VolumeFailed("failed to extract volume handle: the volume has none")
    return str(handle)
