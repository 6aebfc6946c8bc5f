"""What an ``rbd`` volume says, and what is kept of it beside the mount: everything but keys.

Source: kubernetes ``pkg/volume/rbd/rbd.go``; the defaults are the API's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from hyperkube_lib.volume_mount import read_record, record_of, write_record

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object

_FOLDERS = ("mounts", "volumeDevices")
"""Where records are, below the folder of the kind: never below a mount, where pods write."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image.

    Attributes:
        pool, image: what names it in its cluster.
        monitors: the addresses of the cluster's monitors; the client chooses.
        user, keyring: who maps it, and the node's own file with the key, for a volume that names no Secret.
        name: of the volume.
    """

    pool: str
    image: str
    monitors: tuple[str, ...]
    user: str = "admin"
    keyring: str = "/etc/ceph/keyring"
    name: str = ""

    def __str__(self) -> str:
        return f"{self.pool}/{self.image}"

    @property
    def folder(self) -> str:
        """What the image is called below the folder of the mounts."""
        return f"{self.pool}-image-{self.image}".replace("/", "~")


def image_of(volume: Object, name: str) -> Image:
    """Return the image of a volume, or of the spec of a PersistentVolume.

    Raises:
        VolumeFailed: it names none, or what programs would take for an option.
    """
    source = volume["rbd"]
    found = Image(
        pool=str(source.get("pool") or "rbd"),
        image=str(source.get("image") or ""),
        monitors=tuple(str(each) for each in source.get("monitors") or ()),
        user=str(source.get("user") or "admin"),
        keyring=str(source.get("keyring") or "/etc/ceph/keyring"),
        name=name,
    )
    if not found.monitors or not found.image:
        raise VolumeFailed("rbd: the volume names no monitors, or no image")
    if found.pool.startswith("-") or found.image.startswith("-"):
        raise VolumeFailed(f"rbd: {str(found)!r} must not begin with a dash, nor may the image")
    return found


def save(image: Image, folder: Path) -> None:
    """Keep an image beside the folder that it is mounted on, or that has its device.

    Raises:
        VolumeFailed: it cannot be written.
    """
    write_record(record_of(folder), asdict(image), "rbd: create err {file}/{error}")


def load(folder: Path) -> Image | None:
    """Return the image that was kept beside a folder; None if none was.

    Raises:
        VolumeFailed: it cannot be read.
    """
    return _load(record_of(folder))


def _load(file: Path) -> Image | None:
    return read_record(file, lambda found: Image(**{**found, "monitors": tuple(found["monitors"])}), "rbd: ")


def images_below(plugin_dir: Path) -> Iterator[Image]:
    """Yield the images that are in use on the node."""
    for file in sorted(file for folder in _FOLDERS for file in (plugin_dir / folder).glob("*.json")):
        image = _load(file)
        if image is not None:
            yield image
