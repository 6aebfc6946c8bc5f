"""scaleIO: a volume of a ScaleIO system, which the gateway maps to the node's client (SDC); its device is mounted.

The client's GUID is the node's label ``scaleio.sdcGUID``, else what ``drv_cfg`` says. What a pod has is noted below the
folder of the kind, with the name of the secret and not its content: a later kubelet unmaps it with what the secret says
then.
Source: kubernetes 1.20 ``pkg/volume/scaleio`` and its client ``github.com/thecodeteam/goscaleio``.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from hyperkube_lib.storage_api import StorageApi, basic_authorization, secret_data
from hyperkube_lib.volume_mount import Mounter, Note, PodNotes, format_and_mount

from hyperkube.client.connection_pool import TlsOptions
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import MountedVolume, VolumeFailed, VolumeRequest, Volumes, VolumeSpec
from hyperkube.kinds.resources import SECRETS
from hyperkube.machinery.objects import Object, labels_of, namespace_of, uid_of
from hyperkube.plugin import Plugin

__all__ = ["Scaleio"]

_log = logging.getLogger("hyperkube.volume.scaleio")
_NAME = "kubernetes.io/scaleio"
_ACCESS = ("ReadWriteOnce", "ReadOnlyMany")
GUID_LABEL: Final = "scaleio.sdcGUID"
DRV_CFG: Final = "/opt/emc/scaleio/sdc/bin/drv_cfg"
SECONDS: Final = 30
"""A device that was mapped is waited for so long."""
_ID = re.compile(r"[0-9A-Za-z]+")
_VERSION = re.compile(r"\d+\.\d+")

GetSecret = Callable[[str, str], Object]
"""(namespace, name) → secret; raises NotFound."""


class Gateway:
    """A session with the gateway of a system; each method raises `VolumeFailed` where it refuses or does not answer."""

    def __init__(self, note: Note, credentials: dict[str, str]) -> None:
        """Log in, with the ``username`` and ``password`` of a secret."""
        url, tls = _url(note["gateway"]), TlsOptions(insecure=note["sslEnabled"] != "true")
        login = basic_authorization(credentials.get("username", ""), credentials.get("password", ""))
        session = basic_authorization("", str(StorageApi(url, login, tls).call("GET", "/login")))
        version = _VERSION.match(str(StorageApi(url, session, tls).call("GET", "/version")))
        json = f"application/json;version={version[0]}" if version else "application/json"
        self._api = StorageApi(url, {**session, "Accept": json, "Content-Type": json}, tls)
        self._system = note["system"]

    def client_id(self, guid: str) -> str:
        """Return the id of the client with a GUID."""
        systems = self._api.objects("/types/System/instances")
        system = next((each for each in systems if each.get("name") == self._system), None)
        if system is None:
            raise VolumeFailed("scaleio: system not found")
        clients = self._api.objects(f"/instances/System::{_id_of(system)}/relationships/Sdc")
        found = next((each for each in clients if str(each.get("sdcGuid")).lower() == guid.lower()), None)
        if found is None:
            raise VolumeFailed("scaleio: Couldn't find SDC")
        return _id_of(found)

    def volume(self, name: str) -> Object:
        """Return a volume by its name."""
        found = self._api.call("POST", "/types/Volume/instances/action/queryIdByKey", {"name": name})
        if not isinstance(found, str) or not _ID.fullmatch(found):
            raise VolumeFailed("scaleio: volume not found")
        return self._api.object("GET", f"/instances/Volume::{found}")

    def map(self, volume: str, client: str, *, several: bool) -> None:
        """Let a client have a volume; `several` if others may have it, too."""
        wanted = {"sdcId": client, "allowMultipleMappings": "true" if several else "false"}
        self._api.call("POST", f"/instances/Volume::{volume}/action/addMappedSdc", wanted)

    def unmap(self, volume: str, client: str) -> None:
        """Let a client have a volume no more; others keep it."""
        wanted = {"sdcId": client, "ignoreScsiInitiators": "true"}
        self._api.call("POST", f"/instances/Volume::{volume}/action/removeMappedSdc", wanted)


def _url(gateway: str) -> str:
    return gateway.rstrip("/") + ("" if urlsplit(gateway).path.strip("/") else "/api")


def _id_of(found: Object) -> str:
    key = str(found.get("id") or "")
    if not _ID.fullmatch(key):
        raise VolumeFailed(f"scaleio: {key!r} is no id")
    return key


def is_mapped(volume: Object, client: str) -> bool:
    """Tell whether a client has a volume."""
    mapped = volume.get("mappedSdcInfo")
    return isinstance(mapped, list) and any(isinstance(each, dict) and each.get("sdcId") == client for each in mapped)


class ScaleioVolumes:
    """Maps and mounts; see `Volumes`, `OwnsFiles`, `Persistent` and `Reconstructable`."""

    def __init__(
        self, mounter: Mounter, secret: GetSecret, sleep: Callable[[float], None], root: Path = Path("/")
    ) -> None:
        """Take what mounts, reads the secret of a volume that is undone, and waits; `root` has the node's ``dev``."""
        self._mounter, self._secret, self._sleep, self._root = mounter, secret, sleep, root
        self._locks: dict[str, threading.Lock] = {}

    def supports(self, volume: Object) -> bool:
        """Handle ``scaleIO``."""
        return "scaleIO" in volume

    def setup(self, request: VolumeRequest) -> str:
        """Have the volume mapped to this node, and mount its device; what failed half-way is undone.

        Raises:
            VolumeFailed: the gateway refuses, the device does not come, or it cannot be mounted.
        """
        if self._mounter.is_mount_point(request.path):
            return request.path
        note = note_of(request)
        notes, own = PodNotes(request.plugin_dir), (uid_of(request.pod), request.spec.name)
        with self._hold(note):
            credentials = _credentials(request.get_secret, note)
            notes.save(*own, note)
            try:
                gateway = Gateway(note, credentials)
                self._mount(request, self._attach(gateway, note, several=_is_for_many(request.spec)))
            except VolumeFailed:
                self._release(notes, own, note, request.get_secret)
                raise
        return request.path

    def _attach(self, gateway: Gateway, note: Note, *, several: bool) -> str:
        """Return the device of a volume, which is mapped to this node if it is not."""
        client, volume = gateway.client_id(note["guid"] or self._guid()), gateway.volume(note["volume"])
        key = _id_of(volume)
        if not is_mapped(volume, client):
            gateway.map(key, client, several=several)
        for _ in range(SECONDS):
            found = sorted((self._root / "dev/disk/by-id").glob(f"emc-vol-*-{key}"))
            if found:
                return str(found[0].resolve())
            self._sleep(1.0)
        raise VolumeFailed("scaleio: volume attach timeout")

    def _guid(self) -> str:
        done = self._mounter.programs.run([DRV_CFG, "--query_guid"])
        if done.code:
            raise VolumeFailed(f"drv_cfg --query_guid failed: {done.problem}: {done.output}")
        return done.output.strip()

    def _mount(self, request: VolumeRequest, device: str) -> None:
        Path(request.path).mkdir(mode=0o750, parents=True, exist_ok=True)
        fs_type = str(request.volume["scaleIO"].get("fsType") or "xfs")
        options = ["ro" if request.spec.read_only else "rw"]
        try:
            format_and_mount(self._mounter, device, request.path, fs_type, options)
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
            with self._hold(note):
                self._release(notes, own, note, self._secret)

    def _release(self, notes: PodNotes, own: tuple[str, str], note: Note, secret: GetSecret) -> None:
        """Forget what a pod had; with the last, the node has the volume no more."""
        if all(_key(other) != _key(note) for other in notes.others(*own)):
            try:
                gateway = Gateway(note, _credentials(secret, note))
                client, volume = gateway.client_id(note["guid"] or self._guid()), gateway.volume(note["volume"])
                if is_mapped(volume, client):
                    gateway.unmap(_id_of(volume), client)
            except VolumeFailed as error:
                # Nothing has it open any more, and the secret may be gone: upstream goes on, too.
                _log.warning("detaching failed for volume %s: %s", note["volume"], error)
        notes.forget(*own)

    def _hold(self, note: Note) -> threading.Lock:
        return self._locks.setdefault(" ".join(_key(note)), threading.Lock())

    def gives_to_group(self, spec: VolumeSpec) -> bool:
        """Give its files to the pod's group."""
        del spec
        return True

    def access_modes(self) -> Sequence[str]:
        """Return those of a device that others may read."""
        return _ACCESS

    def construct_spec(self, mounted: MountedVolume) -> VolumeSpec:
        """Return a spec that names no system: unmounting needs the note alone."""
        return VolumeSpec(volume={"name": mounted.name, "scaleIO": {"volumeName": mounted.name}})


def note_of(request: VolumeRequest) -> Note:
    """Return what is kept of a volume.

    Raises:
        VolumeFailed: it does not say enough.
    """
    source = request.volume["scaleIO"]
    reference = source.get("secretRef") or {}
    for field, text in (("gateway", "ScaleIO gateway"), ("system", "ScaleIO system"), ("volumeName", "ScaleIO volume")):
        if not source.get(field):
            raise VolumeFailed(f"{text} not provided")
    if not reference.get("name"):
        raise VolumeFailed("secret ref not provided")
    # A pod's own entry names a secret of its namespace; only a PersistentVolume may name another's.
    own = namespace_of(request.pod)
    return {
        "gateway": str(source["gateway"]),
        "sslEnabled": "true" if source.get("sslEnabled") else "false",
        "system": str(source["system"]),
        "volume": str(source["volumeName"]),
        "secretNamespace": own if request.persistent_volume is None else str(reference.get("namespace") or own),
        "secretName": str(reference["name"]),
        "guid": labels_of(request.node).get(GUID_LABEL, ""),
    }


def _key(note: Note) -> tuple[str, str, str]:
    return note.get("gateway", ""), note.get("system", ""), note.get("volume", "")


def _credentials(secret: GetSecret, note: Note) -> dict[str, str]:
    return secret_data(secret, note["secretNamespace"], note["secretName"], _NAME)


def _is_for_many(spec: VolumeSpec) -> bool:
    return spec.persistent_volume is not None and "ReadOnlyMany" in (spec.volume.get("accessModes") or [])


class Scaleio(Plugin):
    """The scaleIO volumes."""

    @hookimpl
    def volume_kinds(self) -> Volumes:
        """Return the kind."""
        return ScaleioVolumes(Mounter(), self._read_secret, self.context.clock.sleep)

    def _read_secret(self, namespace: str, name: str) -> Object:
        if self.context.client is None:
            raise VolumeFailed("scaleio: without an API server there are no secrets")
        return self.context.client.get(SECRETS, name, namespace)
