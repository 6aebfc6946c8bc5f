"""storageos: a volume of StorageOS, whose device each node has below ``/var/lib/storageos/volumes``.

The API is told who mounts the volume. Its device (or its file behind a loop device, where the kernel has no block
device of it) is formatted once and mounted for the node, and each pod sees it by a bind mount. What a pod has is noted
below the folder of the kind, without credentials: a later kubelet knows what to undo. The API that a secret names is
known to the kubelet that mounted the volume alone; another one takes leave at the default address, as Kubernetes does.
Source: kubernetes 1.24 ``pkg/volume/storageos`` and its client ``github.com/storageos/go-api``.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import quote, urlsplit

from hyperkube_lib.storage_api import StorageApi, StorageRefused, basic_authorization, secret_data
from hyperkube_lib.volume_mount import Mounter, Note, PodNotes, attach_loop, detach_loop, format_and_mount

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import MountedVolume, VolumeFailed, VolumeRequest, Volumes, VolumeSpec
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, labels_of, name_of, namespace_of, uid_of
from hyperkube.plugin import Plugin

__all__ = ["Storageos"]

T = TypeVar("T")
_log = logging.getLogger("hyperkube.volume.storageos")
_NAME = "kubernetes.io/storageos"
_ACCESS = ("ReadWriteOnce", "ReadOnlyMany")
DEVICES: Final = "/var/lib/storageos/volumes"
"""Where a node has its devices, unless the API says another folder."""
_PORT = 5705
_HOSTNAME = "kubernetes.io/hostname"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiConfig:
    """Where the API is and who asks it; several addresses are separated by commas."""

    address: str = "tcp://localhost:5705"
    user: str = "storageos"
    password: str = "storageos"  # noqa: S105  what StorageOS is installed with


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a pod has: the folder where the volume is mounted for the node, and how the API knows the mount."""

    mount: str
    namespace: str
    volume: str
    client: str

    def note(self) -> Note:
        """Return it as it is noted."""
        return {"mount": self.mount, "namespace": self.namespace, "volume": self.volume, "client": self.client}

    @classmethod
    def of(cls, note: Note) -> Record:
        """Return what was noted.

        Raises:
            VolumeFailed: it is no such note.
        """
        try:
            return cls(**note)
        except TypeError as error:
            raise VolumeFailed(f"storageos: {error}") from error


def urls_of(address: str) -> list[str]:
    """Return the URLs that an address stands for: ``tcp`` is HTTP, the first one's scheme goes for those without."""
    found, scheme = [], ""
    for each in address.split(","):
        parts = urlsplit(each if "://" in each else f"{scheme or 'http'}://{each}")
        own = "http" if parts.scheme == "tcp" else parts.scheme
        scheme = scheme or own
        try:
            place = parts.netloc if parts.port is not None else f"{parts.netloc}:{_PORT}"
        except ValueError:
            place = parts.netloc  # the connection tells what is wrong with it
        found.append(f"{own}://{place}{parts.path.rstrip('/')}")
    return found


def config_of(request: VolumeRequest) -> ApiConfig:
    """Return what the volume's secret says of the API, the defaults for a volume without one.

    Raises:
        VolumeFailed: the secret is not there, is of another type, or is empty.
    """
    reference = request.volume["storageos"].get("secretRef")
    if not reference:
        return ApiConfig()
    # A pod's own entry names a secret of its namespace; only a PersistentVolume may name another's, made for this kind.
    own, kind = namespace_of(request.pod), ""
    if request.persistent_volume is not None:
        own, kind = reference.get("namespace") or own, _NAME
    found = secret_data(request.get_secret, own, reference["name"], kind)
    data = {key.lower(): value for key, value in found.items()}
    if not data:
        raise VolumeFailed("empty API config")
    return ApiConfig(
        address=data.get("apiaddress") or ApiConfig().address,
        user=data.get("apiusername", ""),
        password=data.get("apipassword", ""),
    )


class Control:
    """What is asked of the API, at the first address that answers."""

    def __init__(self, config: ApiConfig) -> None:
        headers = basic_authorization(config.user, config.password) if config.user and config.password else {}
        self._apis = [StorageApi(f"{url}/v1", headers) for url in urls_of(config.address)]

    def mount(self, record: Record, fs_type: str) -> None:
        """Tell that a node mounts a volume.

        Raises:
            VolumeFailed: there is no such volume, or another node has it.
        """
        body = {"mountpoint": record.mount, "fsType": fs_type}
        self._ask(lambda api: api.call("POST", f"{_path(record)}/mount", _mounting(record) | body))

    def unmount(self, record: Record) -> None:
        """Tell that a node has a volume no more.

        Raises:
            VolumeFailed: the API does not answer, or knows nothing of it.
        """
        self._ask(lambda api: api.call("POST", f"{_path(record)}/unmount", _mounting(record)))

    def device_folder(self, node: str) -> str:
        """Return where a node has its devices."""
        try:
            found = self._ask(lambda api: api.object("GET", f"/nodes/{quote(node, safe='')}"))
        except VolumeFailed as error:
            _log.warning("node device path lookup failed: %s", error)
            return DEVICES
        return str(found.get("deviceDir") or DEVICES)

    def volume_id(self, record: Record) -> str:
        """Return the id of a volume.

        Raises:
            VolumeFailed: there is no such volume.
        """
        found = self._ask(lambda api: api.object("GET", _path(record)))
        key = str(found.get("id") or "")
        if not key or "/" in key or key in {".", ".."}:
            raise VolumeFailed(f"storageos: volume {record.namespace}/{record.volume} has id {key!r}")
        return key

    def _ask(self, call: Callable[[StorageApi], T]) -> T:
        problem = VolumeFailed("storageos: no address of the API is known")
        for api in self._apis:
            try:
                return call(api)
            except StorageRefused:
                raise
            except VolumeFailed as error:
                problem = error
        raise problem


def _path(record: Record) -> str:
    return f"/namespaces/{quote(record.namespace, safe='')}/volumes/{quote(record.volume, safe='')}"


def _mounting(record: Record) -> dict[str, str]:
    return {"id": "", "name": record.volume, "namespace": record.namespace, "client": record.client}


class StorageosVolumes:
    """Mounts volumes; see `Volumes`, `OwnsFiles`, `Persistent` and `Reconstructable`."""

    def __init__(self, mounter: Mounter | None = None, control: Callable[[ApiConfig], Control] = Control) -> None:
        """Mount with the machine's programs, and ask the API over HTTP, unless others are given."""
        self._mounter = mounter or Mounter()
        self._control = control
        self._locks: dict[str, threading.Lock] = {}
        self._known: dict[str, ApiConfig] = {}

    def supports(self, volume: Object) -> bool:
        """Handle ``storageos``."""
        return "storageos" in volume

    def setup(self, request: VolumeRequest) -> str:
        """Mount the volume for the node if it is not, and show it to the pod; what failed half-way is undone.

        Raises:
            VolumeFailed: the API refuses, there is no device, or it cannot be mounted.
        """
        if self._mounter.is_mount_point(request.path):
            return request.path
        config, record = config_of(request), _record(request)
        notes, own = PodNotes(request.plugin_dir), (uid_of(request.pod), request.spec.name)
        with self._hold(record.mount):
            notes.save(*own, record.note())
            self._known[record.mount] = config
            try:
                self._mount_for_node(request, record, self._control(config))
                self._bind(request, record)
            except VolumeFailed:
                self._release(notes, own, record)
                raise
        return request.path

    def _mount_for_node(self, request: VolumeRequest, record: Record, control: Control) -> None:
        if self._mounter.is_mount_point(record.mount):
            return
        source = request.volume["storageos"]
        fs_type = str(source.get("fsType") or "")
        control.mount(record, fs_type)
        device = self._device(f"{control.device_folder(record.client)}/{control.volume_id(record)}")
        Path(record.mount).mkdir(mode=0o750, parents=True, exist_ok=True)
        options = ["ro"] if source.get("readOnly") else []
        try:
            format_and_mount(self._mounter, device, record.mount, fs_type, options)
        except VolumeFailed:
            _give_back(self._mounter, device)
            raise

    def _device(self, path: str) -> str:
        """Return the block device of what a node has of a volume."""
        found = Path(path)
        if not found.exists():
            raise VolumeFailed(f"stat {path}: no such file or directory")
        if found.is_block_device():
            return path
        if not found.is_file():
            raise VolumeFailed("device not supported")
        return attach_loop(self._mounter.programs, path)

    def _bind(self, request: VolumeRequest, record: Record) -> None:
        Path(request.path).mkdir(mode=0o750, parents=True, exist_ok=True)
        read_only = request.spec.read_only or request.read_only
        options = ["bind", *(("ro",) if read_only else ()), *request.spec.mount_options]
        try:
            self._mounter.mount(record.mount, request.path, options=options)
        except VolumeFailed:
            self._mounter.clean_up(request.path)
            raise

    def teardown(self, mounted: MountedVolume) -> None:
        """Take it from the pod, and from the node with the last pod.

        Raises:
            VolumeFailed: it is busy.
        """
        self._mounter.clean_up(mounted.path)
        notes, own = PodNotes(mounted.plugin_dir), (mounted.pod_uid, mounted.name)
        if (note := notes.load(*own)) is not None:
            record = Record.of(note)
            with self._hold(record.mount):
                self._release(notes, own, record)

    def _release(self, notes: PodNotes, own: tuple[str, str], record: Record) -> None:
        """Forget what a pod had; the node's mount goes with the last."""
        if all(note.get("mount") != record.mount for note in notes.others(*own)):
            real = os.path.realpath(record.mount)
            devices = {mount.source for mount in self._mounter.mounts_below(record.mount) if mount.path == real}
            self._mounter.clean_up(record.mount)
            for device in sorted(devices):
                _give_back(self._mounter, device)
            try:
                self._control(self._known.pop(record.mount, ApiConfig())).unmount(record)
            except VolumeFailed as error:
                # The volume is free here all the same, and credentials may be unknown: upstream goes on, too.
                _log.warning("mount reference for volume %s could not be removed: %s", record.volume, error)
        notes.forget(*own)

    def _hold(self, mount: str) -> threading.Lock:
        return self._locks.setdefault(mount, threading.Lock())

    def gives_to_group(self, spec: VolumeSpec) -> bool:
        """Give its files to the pod's group."""
        del spec
        return True

    def access_modes(self) -> Sequence[str]:
        """Return those of a device that others may read."""
        return _ACCESS

    def construct_spec(self, mounted: MountedVolume) -> VolumeSpec:
        """Return the volume that a pod had, as it was noted; else one of the volume's own name."""
        note = PodNotes(mounted.plugin_dir).load(mounted.pod_uid, mounted.name)
        source = {"volumeName": mounted.name, "volumeNamespace": "default"}
        if note is not None:
            record = Record.of(note)
            source = {"volumeName": record.volume, "volumeNamespace": record.namespace}
        return VolumeSpec(volume={"name": mounted.name, "storageos": source})


def _record(request: VolumeRequest) -> Record:
    source = request.volume["storageos"]
    namespace = str(source.get("volumeNamespace") or namespace_of(request.pod))
    volume = str(source.get("volumeName") or "")
    if not volume or "/" in f"{namespace}{volume}":
        raise VolumeFailed(f"storageos: volume {f'{namespace}/{volume}'!r} must be a namespace and a name in it")
    mount = f"{request.plugin_dir}/mounts/{request.spec.name}.{namespace}.{volume}"
    client = labels_of(request.node).get(_HOSTNAME) or name_of(request.node)
    return Record(mount=mount, namespace=namespace, volume=volume, client=client)


def _give_back(mounter: Mounter, device: str) -> None:
    if device.startswith("/dev/loop"):
        detach_loop(mounter.programs, device)


class Storageos(Plugin):
    """The storageos volumes."""

    @hookimpl
    def volume_kinds(self) -> Volumes:
        """Return the kind."""
        return StorageosVolumes()
