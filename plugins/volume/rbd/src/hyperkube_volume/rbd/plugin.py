"""The steps of an rbd volume. Source: kubernetes ``pkg/volume/rbd/{rbd,attacher}.go``."""

from __future__ import annotations

from pathlib import Path

from hyperkube_lib.volume_mount import (
    HostPrograms,
    Mounter,
    NetworkDisks,
    format_and_mount,
    record_of,
    secret_key,
    selinux_options,
)
from hyperkube_volume.rbd.image import Image, image_of, images_below, load, save
from hyperkube_volume.rbd.mapper import Mapper

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.volume import DeviceRequest, MountedVolume, VolumeFailed, Volumes, VolumeSpec
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin


class RbdVolumes(NetworkDisks):
    """Maps and mounts; see `NetworkDisks`, `BlockMappable`, `Persistent` and `Reconstructable`."""

    def __init__(self, mounter: Mounter, mapper: Mapper) -> None:
        super().__init__(mounter)
        self._mapper = mapper

    def supports(self, volume: Object) -> bool:
        """Handle ``rbd``."""
        return "rbd" in volume

    def volume_name(self, spec: VolumeSpec) -> str:
        """Return monitors, pool and image; upstream leaves out the pool, and takes images of two pools for one."""
        image = image_of(spec.volume, spec.name)
        return f"[{' '.join(image.monitors)}]:{image}"

    # attaching

    def wait_for_attach(self, spec: VolumeSpec, device: str, pod: Object, node: Object) -> str:
        """Wait for nothing: mapping takes the secret that comes with the mount."""
        del spec, pod, node
        return device

    # the node

    def device_mount_path(self, spec: VolumeSpec, plugin_dir: str) -> str:
        """Return the folder of the image."""
        return str(Path(plugin_dir) / "mounts" / image_of(spec.volume, spec.name).folder)

    def mount_device(self, request: DeviceRequest) -> None:
        """Map the image, format it if it is empty, and mount it."""
        if self._mounter.is_mount_point(request.path):
            return
        image, device = self._map(request)
        folder, source = Path(request.path), request.spec.volume["rbd"]
        read_only = request.spec.read_only or bool(source.get("readOnly"))
        options = [
            *(("ro",) if read_only else ()),
            *selinux_options(request.selinux_label),
            *request.spec.mount_options,
        ]
        fs_type = str(source.get("fsType") or "")
        try:
            folder.mkdir(mode=0o750, parents=True, exist_ok=True)
            format_and_mount(self._mounter, device, request.path, fs_type, options)
        except VolumeFailed as error:
            self._release(image, folder)
            text = f"failed to mount device {device} at {folder} (fstype: {fs_type}), error {error}"
            raise VolumeFailed(f"rbd: {text}") from error

    def unmount_device(self, path: str) -> None:
        """Unmount the image, and unmap it."""
        image = load(Path(path))
        if image is None:
            self._mounter.clean_up(path)
        else:
            self._release(image, Path(path))

    def construct_spec(self, mounted: MountedVolume) -> VolumeSpec:
        """Return the image of a volume, as it was kept.

        Raises:
            VolumeFailed: none was.
        """
        for image in images_below(Path(mounted.plugin_dir)):
            if image.name == mounted.name:
                source = {"monitors": list(image.monitors), "pool": image.pool, "image": image.image}
                source |= {"user": image.user, "keyring": image.keyring}
                return VolumeSpec(volume={"name": mounted.name, "rbd": source})
        raise VolumeFailed(f"no rbd image of volume {mounted.name} is known here")

    # devices

    def map_device(self, request: DeviceRequest) -> str:
        """Map the image; the device is as it is."""
        return self._map(request)[1]

    def unmap_device(self, mounted: MountedVolume) -> None:
        """Unmap it."""
        image = load(Path(mounted.path))
        if image is not None:
            self._unmap(image, Path(mounted.path))

    def _map(self, request: DeviceRequest) -> tuple[Image, str]:
        spec, folder = request.spec, Path(request.path)
        image, reference = image_of(spec.volume, spec.name), spec.volume["rbd"].get("secretRef")
        key = secret_key(request.get_secret, request.pod, reference) if reference else ""
        is_shared = spec.persistent_volume is not None and spec.volume.get("accessModes") == ["ReadOnlyMany"]
        # The record comes first: whatever happens, a later kubelet knows what to unmap.
        save(image, folder)
        try:
            return image, self._mapper.map(image, key, is_shared=is_shared)
        except VolumeFailed:
            record_of(folder).unlink(missing_ok=True)
            raise

    def _release(self, image: Image, folder: Path) -> None:
        self._mounter.clean_up(str(folder))
        self._unmap(image, folder)

    def _unmap(self, image: Image, folder: Path) -> None:
        self._mapper.unmap(image)
        record_of(folder).unlink(missing_ok=True)


class Rbd(Plugin):
    """The rbd volumes."""

    @hookimpl
    def volume_kinds(self) -> Volumes:
        """Return the kind."""
        programs = HostPrograms()
        return RbdVolumes(Mounter(programs), Mapper(programs, self.context.clock.sleep))
