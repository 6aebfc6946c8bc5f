"""Volumes: data made available to a pod as a folder, a file or a device of the node.

Like Kubernetes' plugins, small protocols instead of one fat class: each `Volumes` can mount; what can also attach,
expand, map as a device and so on says so by implementing more of the protocols below, and of those of
`hyperkube.hookspecs.volume_storage`. The kubelet calls what concerns a node, the controllers what concerns the storage.

The way of a volume to a pod: ``attach`` (storage → node), ``wait_for_attach`` (→ device), ``mount_device`` (→ one
folder of the node, for all pods), ``setup`` (→ the pod's folder). Most kinds have only the last step.

Source of the groups: kubernetes ``pkg/volume/plugins.go``, ``pkg/volume/volume.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from hyperkube.hookspecs import hookspec
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.machinery.objects import Object

BLOCK = "Block"
"""The ``volumeMode`` of devices; any other, and none, is a file system."""


class VolumeFailed(HyperkubeError):
    """The volume cannot be made ready now; it is retried with back-off and shown as an event (FailedMount …)."""


class VolumeAttachedElsewhere(VolumeFailed):
    """It is attached to another node, and can be to one only: that node is named by `node`."""

    def __init__(self, message: str, node: str, device: str = "") -> None:
        super().__init__(message)
        self.node = node
        self.device = device


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeSpec:
    """A volume, whatever it comes from.

    Attributes:
        volume: an entry of ``spec.volumes`` of a pod, or a PersistentVolume's spec with ``name`` added.
        persistent_volume: the PersistentVolume, None for a volume that is part of the pod.
        read_only: whether the source itself, or the pod's reference to the claim, says so.
    """

    volume: Object
    persistent_volume: Object | None = None
    read_only: bool = False

    @property
    def name(self) -> str:
        """The PersistentVolume's name, else that of the pod's entry."""
        if self.persistent_volume is not None:
            return str(self.persistent_volume["metadata"]["name"])
        return str(self.volume.get("name", ""))

    @property
    def is_block(self) -> bool:
        """Whether pods get the device itself."""
        return self.persistent_volume is not None and self.volume.get("volumeMode") == BLOCK

    @property
    def mount_options(self) -> tuple[str, ...]:
        """The options of ``mount`` that the PersistentVolume asks for."""
        return tuple(self.volume.get("mountOptions") or ()) if self.persistent_volume is not None else ()


def _no_event(_type: str, _reason: str, _message: str) -> None:
    """Take an event that has no reader."""


def _no_certificate(_index: int) -> tuple[bytes, bytes]:
    raise VolumeFailed("this host requests no pod certificates")


def _no_anchors(_source: Object) -> bytes:
    raise VolumeFailed("this host reads no cluster trust bundles")


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeRequest:
    """One volume of one pod.

    Attributes:
        volume: the entry of ``spec.volumes``, with a claim already resolved into its volume's source.
        pod: the pod, read-only.
        path: the folder to fill; it exists and belongs to the pod.
        read_only: whether every mount of it is read-only.
        get_config_map, get_secret: (namespace, name) → object, from the kubelet's caches; raise NotFound.
        request_token: (audience, expiry seconds) → token status of the pod's service account.
        node: the node object.
        persistent_volume: the PersistentVolume, None for a volume that is part of the pod.
        device: what `Attachable.wait_for_attach` returned.
        device_mount_path: where `DeviceMountable.mount_device` mounted it.
        plugin_dir: as in `DeviceRequest`, empty if the caller has none.
        fs_group: the group that gets the files; the kubelet gives them to it unless the kind does, see `OwnsFiles`.
        selinux_label: what to mount it with, see `SELinuxMountable`; empty for none.
        record_event: (type, reason, message) → an event of the pod.
        pod_certificate: index of a projected source → private key and certificates (PEM); raises VolumeFailed.
        trust_anchors: a ``clusterTrustBundle`` source → certificates (PEM); raises VolumeFailed.
    """

    volume: Object
    pod: Object
    path: str
    read_only: bool
    node: Object
    get_config_map: Callable[[str, str], Object]
    get_secret: Callable[[str, str], Object]
    request_token: Callable[[str, int], Object]
    persistent_volume: Object | None = None
    device: str = ""
    device_mount_path: str = ""
    plugin_dir: str = ""
    fs_group: int | None = None
    selinux_label: str = ""
    record_event: Callable[[str, str, str], None] = _no_event
    pod_certificate: Callable[[int], tuple[bytes, bytes]] = _no_certificate
    trust_anchors: Callable[[Object], bytes] = _no_anchors

    @property
    def spec(self) -> VolumeSpec:
        """The volume without the pod."""
        read_only = any(isinstance(source, dict) and bool(source.get("readOnly")) for source in self.volume.values())
        return VolumeSpec(volume=self.volume, persistent_volume=self.persistent_volume, read_only=read_only)


@dataclass(frozen=True, slots=True, kw_only=True)
class MountedVolume:
    """What is known of a pod's volume even after a restart, when the pod itself may be gone.

    Attributes:
        name: of the folder: the PersistentVolume's, else that of the pod's entry.
        pod_uid: the pod's.
        path: what ``setup`` was asked to fill, or ``map_device`` to link.
        plugin_dir: as in `DeviceRequest`.
    """

    name: str
    pod_uid: str
    path: str
    plugin_dir: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRequest:
    """One volume of the node, for all its pods.

    Attributes:
        spec: the volume.
        pod: the first pod that wants it.
        device: what `Attachable.wait_for_attach` returned, empty for kinds that are not attached.
        path: where to mount it, as `DeviceMountable.device_mount_path` said; for devices, `BlockMappable`'s folder.
        plugin_dir: the folder of this kind below the kubelet's root: ``plugins/NAME``.
        node, fs_group, selinux_label, get_secret, record_event: as in `VolumeRequest`.
    """

    spec: VolumeSpec
    pod: Object
    node: Object
    device: str
    path: str
    plugin_dir: str
    fs_group: int | None = None
    selinux_label: str = ""
    get_secret: Callable[[str, str], Object]
    record_event: Callable[[str, str, str], None] = _no_event


class Volumes(Protocol):
    """One kind of volume; on its own, one that is mountable and nothing else."""

    def supports(self, volume: Object) -> bool:
        """Tell whether a ``spec.volumes`` entry or a PersistentVolume's spec is of this kind."""

    def setup(self, request: VolumeRequest) -> str:
        """Make the data available and return the folder or file to mount, usually ``request.path``.

        Called before the pod's containers start, once per start of the kubelet, and at every sync if it `Remounts`;
        must be idempotent and replace changed content atomically (a reader sees all of the old or all of the new).
        May block: it does not run on a thread that anything else waits for.

        Raises:
            VolumeFailed: the message says what is missing.
            NotFound: a source that is not optional does not exist.
        """

    def teardown(self, mounted: MountedVolume) -> None:
        """Undo `setup` after the pod ended, and remove ``mounted.path``; no error if nothing is left.

        Raises:
            VolumeFailed: something is still mounted; called again later.
        """


@runtime_checkable
class Remounts(Protocol):
    """Volumes whose content follows something: `Volumes.setup` is called at every sync of the pod."""

    def requires_remount(self, volume: Object) -> bool:
        """Tell whether this one's does."""


@runtime_checkable
class OwnsFiles(Protocol):
    """Volumes for which it is not self-evident whether the pod's ``fsGroup`` gets the files."""

    def gives_to_group(self, spec: VolumeSpec) -> bool:
        """Tell whether the kubelet is to give them; without this protocol it does for mounted file systems."""


@runtime_checkable
class SELinuxMountable(Protocol):
    """Volumes all of whose files can have one SELinux label, by an option of their mount (``context=``)."""

    def supports_selinux_context_mount(self, spec: VolumeSpec) -> bool:
        """Tell whether this one's can: its requests then come with the label, where the node has SELinux."""


@runtime_checkable
class Reconstructable(Protocol):
    """Volumes that are recognized by what is on the disk, after a restart of the kubelet."""

    def construct_spec(self, mounted: MountedVolume) -> VolumeSpec:
        """Return as much of the volume as `Attachable`, `DeviceMountable` and `BlockMappable` need to undo theirs.

        Raises:
            VolumeFailed: it cannot be told; the volume is cleaned up by `Volumes.teardown` alone.
        """


@runtime_checkable
class Attachable(Protocol):
    """Volumes that are attached to a node before they are mounted, by the controller or by the kubelet."""

    def can_attach(self, spec: VolumeSpec) -> bool:
        """Tell whether this one is attached at all."""

    def volume_name(self, spec: VolumeSpec) -> str:
        """Return the storage's own name of it: two specs with the same name are the same volume.

        Raises:
            VolumeFailed: the spec does not say.
        """

    def attach(self, spec: VolumeSpec, node: Object) -> str:
        """Attach and return the device path, or what stands for it; idempotent.

        Raises:
            VolumeAttachedElsewhere: another node has it.
            VolumeFailed: it cannot be attached now.
        """

    def volumes_are_attached(self, specs: Sequence[VolumeSpec], node: Object) -> Mapping[str, bool]:
        """Tell of each volume, by name, whether the node has it still."""

    def wait_for_attach(self, spec: VolumeSpec, device: str, pod: Object, node: Object) -> str:
        """Wait on the node until the device is there, and return its path.

        Raises:
            VolumeFailed: it does not come.
        """

    def detach(self, volume_name: str, node_name: str) -> None:
        """Detach what has that `volume_name`; no error if it is not attached.

        Raises:
            VolumeFailed: it cannot be detached now.
        """


@runtime_checkable
class DeviceMountable(Protocol):
    """Volumes that are mounted once on a node, and from there into each pod."""

    def can_device_mount(self, spec: VolumeSpec) -> bool:
        """Tell whether this one is."""

    def volume_name(self, spec: VolumeSpec) -> str:
        """Return the storage's own name of it, as `Attachable`."""

    def device_mount_path(self, spec: VolumeSpec, plugin_dir: str) -> str:
        """Return the one place on the node where it is mounted, below `plugin_dir`."""

    def mount_device(self, request: DeviceRequest) -> None:
        """Format the device if it is empty, and mount it at ``request.path``; idempotent.

        Must: never format what holds data.

        Raises:
            VolumeFailed: it cannot be mounted now.
        """

    def unmount_device(self, path: str) -> None:
        """Undo `mount_device`, and remove `path`; no error if it is not mounted.

        Raises:
            VolumeFailed: it is in use.
        """


@runtime_checkable
class BlockMappable(Protocol):
    """Volumes that pods may get as a device."""

    def map_device(self, request: DeviceRequest) -> str:
        """Make the device ready on the node and return its path; idempotent.

        The kubelet links it into the pod's folder and keeps it from being detached while it is in use.

        Raises:
            VolumeFailed: it cannot be made ready now.
        """

    def unmap_device(self, mounted: MountedVolume) -> None:
        """Undo `map_device` when no pod uses the device any more; no error if nothing is left.

        Raises:
            VolumeFailed: it is in use.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeUsage:
    """How full a volume is; bytes and inodes, None for what is not known."""

    capacity: int | None = None
    available: int | None = None
    used: int | None = None
    inodes: int | None = None
    inodes_free: int | None = None
    inodes_used: int | None = None
    abnormal: str | None = None


@runtime_checkable
class MetricsProvider(Protocol):
    """Volumes that tell how full they are; without it the kubelet measures the folder."""

    def usage(self, spec: VolumeSpec, mounted: MountedVolume) -> VolumeUsage:
        """Return the figures.

        Raises:
            VolumeFailed: there are none now.
        """


@runtime_checkable
class AttachLimited(Protocol):
    """Volumes of which a node can have so many."""

    def volume_limits(self) -> Mapping[str, int]:
        """Return resource name (``attachable-volumes-…``) → the most that this node can have."""


@runtime_checkable
class TakesDrivers(Protocol):
    """Kinds that are served by drivers, which introduce themselves to the kubelet at a socket."""

    @property
    def driver_type(self) -> str:
        """The type that drivers name in their registration (``CSIPlugin``)."""

    def validate_driver(self, name: str, endpoint: str, versions: Sequence[str]) -> None:
        """Check what a driver says of itself.

        Raises:
            VolumeFailed: it cannot be used; the driver is told why.
        """

    def register_driver(self, name: str, endpoint: str, versions: Sequence[str], node_name: str) -> None:
        """Begin to use a driver at its socket; one of the same name is replaced.

        Raises:
            VolumeFailed: it cannot be used after all.
        """

    def deregister_driver(self, name: str, endpoint: str) -> None:
        """Use it no more."""


@hookspec
def volume_kinds() -> Volumes:
    """Return the kind of volume this plugin handles.

    Called: once by the kubelet (mounting) and by each of the volume controllers (provisioning, attaching, expanding).
    Order: the first that `supports` a volume handles it.
    Must: keep secret content out of logs, off command lines, and readable by the pod's user only.
    """


class VolumeHooks(Protocol):
    """How a host calls the hooks of this family: by keyword, all plugins at once."""

    def volume_kinds(self) -> list[Volumes]:
        """Call `volume_kinds` of all plugins."""
