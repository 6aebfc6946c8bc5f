"""cephfs: a folder of a Ceph file system, mounted in the pod's folder.

``ceph-fuse`` mounts it where ``mount.fuse.ceph`` is installed, the kernel where it is not, or where FUSE fails.
Upstream gives the kernel's mount the key among its options, for every process of the node to read: here both get it in
a file.
Source: kubernetes 1.27 ``pkg/volume/cephfs/cephfs.go``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from hyperkube_lib.volume_mount import Mounter, secret_file, secret_key

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import MountedVolume, VolumeFailed, VolumeRequest, Volumes, VolumeSpec
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

__all__ = ["Cephfs"]

_ACCESS = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany")
_HELPER = "sbin/mount.fuse.ceph"


@dataclass(frozen=True, slots=True)
class Share:
    """What is mounted.

    Attributes:
        monitors: their addresses, with commas between them: the client chooses.
        path: of the folder in the file system.
        user: whose key it is.
        secret_file: the node's own file with the key, for a volume that names no Secret.
    """

    monitors: str
    path: str
    user: str
    secret_file: str


def share_of(volume: Object) -> Share:
    """Return what a volume names.

    Raises:
        VolumeFailed: it names no monitors, or what would be more options of ``mount``.
    """
    source = volume["cephfs"]
    user = str(source.get("user") or "admin")
    share = Share(
        monitors=",".join(source.get("monitors") or ()),
        path=f"/{str(source.get('path') or '').removeprefix('/')}",
        user=user,
        secret_file=str(source.get("secretFile") or f"/etc/ceph/{user}.secret"),
    )
    if not share.monitors:
        raise VolumeFailed("cephfs: the volume names no monitors")
    for field, value in (("user", share.user), ("secretFile", share.secret_file)):
        if "," in value or "\n" in value:
            raise VolumeFailed(f"cephfs: {field} {value!r} must have no comma and be one line")
    return share


class CephfsVolumes:
    """Mounts folders of Ceph; see `Volumes`, `Persistent` and `Reconstructable`."""

    def __init__(self, mounter: Mounter | None = None, root: Path = Path("/")) -> None:
        """Mount with the machine's programs unless others are given; `root` has the helper of FUSE, if any."""
        self._mounter = mounter or Mounter()
        self._helper = root / _HELPER

    def supports(self, volume: Object) -> bool:
        """Handle ``cephfs``."""
        return "cephfs" in volume

    def setup(self, request: VolumeRequest) -> str:
        """Mount the folder; what failed half-way is undone.

        Raises:
            VolumeFailed: there is no key, or with the words of the programs.
        """
        if self._mounter.is_mount_point(request.path):
            return request.path
        share, reference = share_of(request.volume), request.volume["cephfs"].get("secretRef")
        key = secret_key(request.get_secret, request.pod, reference) if reference else ""
        Path(request.path).mkdir(mode=0o750, parents=True, exist_ok=True)
        spec = request.spec
        options = [*(("ro",) if spec.read_only or request.read_only else ()), *spec.mount_options]
        try:
            self._mount(share, key, request.path, options)
        except VolumeFailed:
            self._mounter.clean_up(request.path)
            raise
        return request.path

    def teardown(self, mounted: MountedVolume) -> None:
        """Unmount it.

        Raises:
            VolumeFailed: it is busy.
        """
        self._mounter.clean_up(mounted.path)

    def access_modes(self) -> Sequence[str]:
        """Return those of a file system that many nodes mount."""
        return _ACCESS

    def construct_spec(self, mounted: MountedVolume) -> VolumeSpec:
        """Return a spec without the monitors: unmounting needs the folder alone."""
        return VolumeSpec(volume={"name": mounted.name, "cephfs": {"monitors": [], "path": mounted.path}})

    # mounting

    def _mount(self, share: Share, key: str, path: str, options: Sequence[str]) -> None:
        problem = ""
        if os.access(self._helper, os.X_OK):
            try:
                self._mount_with_fuse(share, key, path, options)
            except VolumeFailed as error:
                problem = f"{error}\n"
            else:
                return
        try:
            self._mount_with_kernel(share, key, path, options)
        except VolumeFailed as error:
            raise VolumeFailed(f"{problem}CephFS: mount failed: {error}") from error

    def _mount_with_kernel(self, share: Share, key: str, path: str, options: Sequence[str]) -> None:
        read_only, others = [each for each in options if each == "ro"], [each for each in options if each != "ro"]
        with _file_of(share, key) as file:
            own = [f"name={share.user}", f"secretfile={file}"]
            self._mounter.mount(f"{share.monitors}:{share.path}", path, "ceph", [*read_only, *own, *others])

    def _mount_with_fuse(self, share: Share, key: str, path: str, options: Sequence[str]) -> None:
        with _file_of(share, key and f"[client.{share.user}]\nkey = {key}\n") as file:
            line = ["-k", file, "-m", share.monitors, path, "-r", share.path, "--id", share.user]
            line += ["-o", ",".join(options)] if options else []
            done = self._mounter.programs.run(["ceph-fuse", *line])
        if done.code or "starting fuse" not in done.output:
            text = f"Ceph-fuse failed: {done.problem}\narguments: [{' '.join(line)}]\nOutput: {done.output}"
            raise VolumeFailed(text)


def _file_of(share: Share, text: str) -> AbstractContextManager[str]:
    """Return the file of the key: one with `text` in it, or the node's own if that is empty."""
    return secret_file(text) if text else nullcontext(share.secret_file)


class Cephfs(Plugin):
    """The cephfs volumes."""

    @hookimpl
    def volume_kinds(self) -> Volumes:
        """Return the kind."""
        return CephfsVolumes()
