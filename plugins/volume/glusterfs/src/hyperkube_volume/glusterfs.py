"""glusterfs: a volume of a Gluster cluster, whose servers are the addresses of an Endpoints object.

The first server tells the client of the volume, the others do when it is away. The client writes what goes wrong to a
log of its own, which is the pod's and goes with it: ``mount`` itself does not say why it failed.
Source: kubernetes 1.24 ``pkg/volume/glusterfs/glusterfs.go``, ``glusterfs_util.go`` (readGlusterLog).
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from hyperkube_lib.volume_mount import Mounter

from hyperkube.client.client import Client
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import MountedVolume, VolumeFailed, VolumeRequest, Volumes
from hyperkube.kinds.resources import ENDPOINTS
from hyperkube.machinery.objects import Object, name_of, namespace_of, uid_of
from hyperkube.plugin import Plugin

__all__ = ["Glusterfs"]

_ACCESS = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany")
_AUTO_UNMOUNT = "auto_unmount"
_UNKNOWN_OPTION = ("Invalid option auto_unmount", "Invalid argument")
"""What a client says that is older than the option (3.9)."""
_TOLD_LINES, _READ_BYTES = 2, 4096
"""So many of the last lines of the log are told, of so much of its end."""


def endpoints_of(request: VolumeRequest) -> tuple[str, str]:
    """Return namespace and name of the Endpoints with the servers.

    Raises:
        VolumeFailed: the volume does not say.
    """
    source, namespace = request.volume["glusterfs"], namespace_of(request.pod)
    if not source.get("endpoints"):
        raise VolumeFailed("no glusterFS endpoint specified")
    if request.persistent_volume is not None and source.get("endpointsNamespace") is not None:
        namespace = source["endpointsNamespace"]
        if not namespace:
            raise VolumeFailed("endpointnamespace field set, but no endpointnamespace specified")
    return str(namespace), str(source["endpoints"])


def servers_of(endpoints: Object) -> list[str]:
    """Return the addresses of all subsets, each once, in their order."""
    rows = (row for subset in endpoints.get("subsets") or () for row in subset.get("addresses") or ())
    return list(dict.fromkeys(str(row["ip"]) for row in rows if row.get("ip")))


class GlusterfsVolumes:
    """Mounts volumes of Gluster; see `Volumes` and `Persistent`.

    They are not `Reconstructable`: what is mounted does not say which Endpoints led to it. Unmounting needs neither.
    """

    def __init__(self, client: Client | None, mounter: Mounter | None = None) -> None:
        """Read Endpoints with `client`, and mount with the machine's programs unless others are given."""
        self._client = client
        self._mounter = mounter or Mounter()

    def supports(self, volume: Object) -> bool:
        """Handle ``glusterfs``."""
        return "glusterfs" in volume

    def setup(self, request: VolumeRequest) -> str:
        """Mount the volume; what failed half-way is undone, and the end of the client's log told.

        Raises:
            VolumeFailed: there are no servers, or with the words of ``mount``.
            NotFound: there are no such Endpoints.
        """
        if self._mounter.is_mount_point(request.path):
            return request.path
        servers = self._servers(request)
        Path(request.path).mkdir(mode=0o750, parents=True, exist_ok=True)
        try:
            self._mount(request, servers)
        except VolumeFailed as error:
            self._mounter.clean_up(request.path)
            lines = _end_of_log(request)
            _remove_log(request.plugin_dir, request.spec.name, uid_of(request.pod))
            if not lines:
                raise
            why = "the following error information was pulled from the glusterfs log to help diagnose this issue:"
            raise VolumeFailed("\n".join([f"{error}{why}", *lines])) from error
        return request.path

    def teardown(self, mounted: MountedVolume) -> None:
        """Unmount it, and remove the log.

        Raises:
            VolumeFailed: it is busy.
        """
        self._mounter.clean_up(mounted.path)
        _remove_log(mounted.plugin_dir, mounted.name, mounted.pod_uid)

    def access_modes(self) -> Sequence[str]:
        """Return those of a file system that many nodes mount."""
        return _ACCESS

    def _servers(self, request: VolumeRequest) -> list[str]:
        if self._client is None:
            raise VolumeFailed("failed to get kube client to initialize mounter")
        namespace, name = endpoints_of(request)
        servers = servers_of(self._client.get(ENDPOINTS, name, namespace))
        if not servers:
            why = "no valid ipaddress found in endpoint address list"
            raise VolumeFailed(f"failed to execute mount command:[{why}]")
        return servers

    def _mount(self, request: VolumeRequest, servers: Sequence[str]) -> None:
        source = f"{servers[0]}:{request.volume['glusterfs'].get('path') or ''}"
        options = [
            *(("ro",) if request.spec.read_only or request.read_only else ()),
            *_log_options(request),
            "log-level=ERROR",
            f"backup-volfile-servers={':'.join(servers)}",
            _AUTO_UNMOUNT,
            *request.spec.mount_options,
        ]
        try:
            self._mounter.mount(source, request.path, "glusterfs", options)
        except VolumeFailed as error:
            if not any(text in str(error) for text in _UNKNOWN_OPTION):
                raise
            known = [option for option in options if option != _AUTO_UNMOUNT]
            self._mounter.mount(source, request.path, "glusterfs", known)


def _log_options(request: VolumeRequest) -> list[str]:
    """Return where the client writes its log: below the kind's own folder, unless the PersistentVolume says where."""
    if not request.plugin_dir or any(option.startswith("log-file") for option in request.spec.mount_options):
        return []
    file = _log_of(request)
    file.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
    return [f"log-file={file}"]


def _log_of(request: VolumeRequest) -> Path:
    name = f"{name_of(request.pod)}{_log_ending(uid_of(request.pod))}"
    return Path(request.plugin_dir, request.spec.name, name)


def _log_ending(uid: str) -> str:
    return f"-{uid}-glusterfs.log"


def _end_of_log(request: VolumeRequest) -> list[str]:
    """Return the last lines of the log, without their times: the same failure is then the same event."""
    try:
        with _log_of(request).open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - _READ_BYTES, 0))
            lines = file.read(_READ_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return []  # none was written, or it is where the PersistentVolume says
    return [re.sub(r"^\[[^]]*\] ", "", line) for line in lines[-_TOLD_LINES:]]


def _remove_log(plugin_dir: str, name: str, uid: str) -> None:
    """Remove the logs of a volume of a pod, whose name is not known any more when it has ended."""
    if not plugin_dir:
        return
    folder, ending = Path(plugin_dir, name), _log_ending(uid)
    for file in [file for file in folder.glob("*") if file.name.endswith(ending)]:
        file.unlink(missing_ok=True)
    with suppress(OSError):  # other pods of the node have logs of the same volume, or none had one
        folder.rmdir()


class Glusterfs(Plugin):
    """The glusterfs volumes."""

    @hookimpl
    def volume_kinds(self) -> Volumes:
        """Return the kind."""
        return GlusterfsVolumes(self.context.client)
