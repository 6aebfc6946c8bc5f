"""The steps of a flexVolume: each is the driver's, or done here where the driver leaves it to the kubelet.

A driver that attaches is called with ``attach``, ``waitforattach`` and ``mountdevice``, and the pod's folder is a bind
mount of what it mounted; one that does not is called with ``mount`` for each pod.
Source: kubernetes ``pkg/volume/flexvolume/{attacher,detacher,mounter,unmounter,plugin,expander}.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hyperkube_lib.volume_mount import Mounter, format_and_mount, grow_file_system
from hyperkube_volume.flex_volume.driver_call import (
    CallNotSupported,
    Capabilities,
    Driver,
    driver_path,
    options_of,
)

from hyperkube.hookspecs.volume import (
    DeviceRequest,
    MountedVolume,
    VolumeFailed,
    VolumeRequest,
    VolumeSpec,
)
from hyperkube.machinery.objects import Object, name_of, namespace_of

SOURCE: Final = "flexVolume"
_DRIVER_FILE: Final = ".flexvolume-driver"
"""Beside a pod's folder: the driver that mounted it, for after a restart of the kubelet."""
_LONGEST_NAME: Final = 255
"""Bytes of a file's name. Source: limits.h, NAME_MAX."""
_ACCESS: Final = ("ReadWriteOnce", "ReadOnlyMany")


class FlexVolumes:
    """See the protocols of `hyperkube.hookspecs.volume`; thread-safe."""

    def __init__(self, folder: Path, mounter: Mounter | None = None) -> None:
        """Look for drivers in a folder."""
        self._folder = folder
        self._mounter = mounter or Mounter()
        self._lock = threading.Lock()
        self._known: dict[str, Capabilities] = {}

    def supports(self, volume: Object) -> bool:
        """Handle ``flexVolume`` of the drivers that are installed: others may be a plugin's."""
        if SOURCE not in volume:
            return False
        try:
            driver_path(self._folder, str(volume[SOURCE].get("driver") or ""))
        except VolumeFailed:
            return False
        return True

    # what concerns the storage

    def can_attach(self, spec: VolumeSpec) -> bool:
        """Tell whether its driver attaches."""
        return self._capabilities(spec.volume).attach

    def volume_name(self, spec: VolumeSpec) -> str:
        """Return the driver's name of it, else the volume's own, with the driver before it."""
        driver = self._driver(spec.volume)
        try:
            told = str(driver.call("getvolumename", self._options(spec)).get("volumeName") or "")
        except CallNotSupported:
            told = spec.name
        return f"{driver.name}/{told or spec.name}"

    def attach(self, spec: VolumeSpec, node: Object) -> str:
        """Have it attached and return the device."""
        try:
            answer = self._driver(spec.volume).call("attach", self._options(spec), name_of(node))
        except CallNotSupported:
            return ""
        return str(answer.get("device") or "")

    def volumes_are_attached(self, specs: Sequence[VolumeSpec], node: Object) -> Mapping[str, bool]:
        """Ask the drivers; what one leaves to the caller counts as attached."""
        return {spec.name: self._is_attached(spec, node) for spec in specs}

    def _is_attached(self, spec: VolumeSpec, node: Object) -> bool:
        try:
            answer = self._driver(spec.volume).call("isattached", self._options(spec), name_of(node))
        except CallNotSupported:
            return True
        return bool(answer.get("attached"))

    def wait_for_attach(self, spec: VolumeSpec, device: str, pod: Object, node: Object) -> str:
        """Have the driver wait for the device."""
        del pod, node
        try:
            answer = self._driver(spec.volume).call("waitforattach", device, self._options(spec))
        except CallNotSupported:
            return device
        return str(answer.get("device") or device)

    def detach(self, volume_name: str, node_name: str) -> None:
        """Have it detached."""
        driver, name = self._of_name(volume_name)
        try:
            driver.call("detach", name, node_name)
        except CallNotSupported:
            return

    def access_modes(self) -> Sequence[str]:
        """Return the modes that Kubernetes allows, whatever the driver can."""
        return _ACCESS

    def requires_fs_resize(self) -> bool:
        """Say that nodes are asked, too: whether they have work to do the driver knows."""
        return True

    def expand(self, spec: VolumeSpec, size: int, old_size: int) -> int:
        """Have it grown.

        Raises:
            VolumeFailed: the driver cannot.
        """
        driver = self._driver(spec.volume)
        try:
            answer = driver.call("expandvolume", self._options(spec), "", str(size), str(old_size))
        except CallNotSupported as error:
            raise VolumeFailed(f"volumes of driver {driver.name!r} do not grow") from error
        grown = answer.get("volumeNewSize") or size
        if not isinstance(grown, int):
            raise VolumeFailed(f"driver {driver.name!r}, call 'expandvolume': volumeNewSize is no number")
        return grown

    # what concerns the node

    def can_device_mount(self, spec: VolumeSpec) -> bool:
        """Tell whether it is mounted once for all pods: where it was attached."""
        return not spec.is_block and self.can_attach(spec)

    def device_mount_path(self, spec: VolumeSpec, plugin_dir: str) -> str:
        """Return the place of the driver's mounts."""
        driver = self._driver(spec.volume).name
        told = self.volume_name(spec).removeprefix(f"{driver}/")
        if told in {".", ".."} or "/" in told or not told.isprintable() or len(told.encode()) > _LONGEST_NAME:
            raise VolumeFailed(f"driver {driver!r}: {told[:_LONGEST_NAME]!r} cannot be the name of a folder")
        return str(Path(plugin_dir) / driver.replace("/", "~") / "mounts" / told)

    def mount_device(self, request: DeviceRequest) -> None:
        """Have the device mounted, or mount it."""
        if self._mounter.is_mount_point(request.path):
            return
        Path(request.path).mkdir(mode=0o750, parents=True, exist_ok=True)
        spec = request.spec
        options = self._options(spec, secret=_secret(spec.volume[SOURCE], request))
        try:
            self._driver(spec.volume).call("mountdevice", request.path, request.device, options)
        except CallNotSupported:
            flags = [*(("ro",) if spec.read_only else ()), *spec.mount_options]
            fs_type = spec.volume[SOURCE].get("fsType") or ""
            format_and_mount(self._mounter, request.device, request.path, fs_type, flags)
        except VolumeFailed:
            self._mounter.clean_up(request.path)
            raise

    def unmount_device(self, path: str) -> None:
        """Have it unmounted, or unmount it."""
        if not Path(path).is_dir():
            return
        driver = Path(path).parents[1].name.replace("~", "/")
        try:
            Driver(driver, driver_path(self._folder, driver), self._mounter.programs).call("unmountdevice", path)
        except CallNotSupported:
            self._mounter.clean_up(path)
            return
        self._mounter.clean_up(path)

    def node_expand(self, request: DeviceRequest, size: int) -> bool:
        """Have the file system grown, or grow it."""
        spec = request.spec
        options = self._options(spec)
        try:
            self._driver(spec.volume).call("expandfs", options, request.device, request.path, str(size), "0")
        except CallNotSupported:
            grow_file_system(self._mounter.programs, request.device, request.path)
        return True

    def setup(self, request: VolumeRequest) -> str:
        """Mount in the pod's folder: what is mounted on the node already, else what the driver mounts."""
        if self._mounter.is_mount_point(request.path):
            return request.path
        spec = request.spec
        Path(request.path).mkdir(mode=0o750, parents=True, exist_ok=True)
        read_only = spec.read_only or request.read_only
        if request.device_mount_path:
            options = ["bind", *(("ro",) if read_only else ())]
            self._mounter.mount(request.device_mount_path, request.path, "none", options)
            return request.path
        driver = self._driver(spec.volume)
        marker = _marker(request.path)
        marker.write_text(driver.name, encoding="utf-8")  # first: what is mounted must be unmounted by its driver
        made = options_of(
            spec.volume[SOURCE], name=spec.name, read_only=read_only, pod=request.pod,
            fs_group=request.fs_group, secret=_secret(spec.volume[SOURCE], request),
        )  # fmt: skip
        try:
            driver.call("mount", request.path, made)
        except (VolumeFailed, CallNotSupported) as error:
            self._mounter.clean_up(request.path)
            marker.unlink(missing_ok=True)
            raise VolumeFailed(str(error)) from error
        return request.path

    def teardown(self, mounted: MountedVolume) -> None:
        """Unmount the pod's folder, by its driver if that mounted it."""
        marker = _marker(mounted.path)
        if marker.exists() and Path(mounted.path).is_dir():
            name = marker.read_text(encoding="utf-8")
            driver = Driver(name, driver_path(self._folder, name), self._mounter.programs)
            try:
                driver.call("unmount", mounted.path)
            except CallNotSupported:
                self._mounter.clean_up(mounted.path)
        self._mounter.clean_up(mounted.path)
        marker.unlink(missing_ok=True)

    def gives_to_group(self, spec: VolumeSpec) -> bool:
        """Tell whether the kubelet gives the files to the pod's group: unless the driver says that it must not."""
        return self._capabilities(spec.volume).fs_group

    # drivers

    def _driver(self, volume: Object) -> Driver:
        name = str(volume[SOURCE].get("driver") or "")
        driver = Driver(name, driver_path(self._folder, name), self._mounter.programs)
        with self._lock:
            if name not in self._known:
                self._known[name] = driver.init()
        return driver

    def _capabilities(self, volume: Object) -> Capabilities:
        return self._known[self._driver(volume).name]

    def _of_name(self, volume_name: str) -> tuple[Driver, str]:
        driver, _, name = volume_name.rpartition("/")
        return Driver(driver, driver_path(self._folder, driver), self._mounter.programs), name

    def _options(self, spec: VolumeSpec, secret: Object | None = None) -> str:
        return options_of(spec.volume[SOURCE], name=spec.name, read_only=spec.read_only, secret=secret)


def _secret(source: Mapping[str, Any], request: DeviceRequest | VolumeRequest) -> Object | None:
    """Return the secret that a volume's source names, None if it names none."""
    reference: Mapping[str, Any] = source.get("secretRef") or {}
    if not reference.get("name"):
        return None
    namespace = str(reference.get("namespace") or namespace_of(request.pod))
    return request.get_secret(namespace, str(reference["name"]))


def _marker(path: str) -> Path:
    folder = Path(path)
    return folder.with_name(f"{_DRIVER_FILE}-{folder.name}")
