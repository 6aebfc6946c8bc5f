"""Images as devices of the node: ``rbd map`` tells the kernel, whose folder ``/sys/bus/rbd`` shows the device.

Like upstream since 1.10 the node takes no lock of an image: it maps one that no other client watches. Upstream gives
the key on the command line (``--key``), for every process of the node to read: here it is in a file (``--keyfile``).
Source: kubernetes ``pkg/volume/rbd/rbd_util.go`` (AttachDisk, DetachDisk, rbdStatus).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from hyperkube_lib.volume_mount import Programs, secret_file
from hyperkube_volume.rbd.image import Image

from hyperkube.hookspecs.volume import VolumeFailed

WATCHER_STEPS, WATCHER_SECONDS, WATCHER_FACTOR = 10, 1.0, 1.4
"""How long another node's watch is waited for: it ends 30 s (``osd_client_watch_timeout``) after that node's end."""
DEVICE_SECONDS = 10


class Mapper:
    """Maps images and unmaps them."""

    def __init__(self, programs: Programs, sleep: Callable[[float], None], root: Path = Path("/")) -> None:
        """Run `programs`, and find the kernel's files and devices below `root`."""
        self._programs = programs
        self._sleep = sleep
        self._root = root

    def device_of(self, image: Image) -> str:
        """Return the device of an image, empty if it is not mapped."""
        for folder in sorted(self._root.glob("sys/bus/rbd/devices/*")):
            if (_text(folder / "pool"), _text(folder / "name")) == (image.pool, image.image):
                device = self._root / f"dev/rbd{folder.name}"
                if device.exists():
                    return str(device)
        return ""

    def map(self, image: Image, key: str, *, is_shared: bool) -> str:
        """Return the device of an image, mapped before or now.

        Args:
            image: what to map.
            key: of its user; empty for that in the keyring.
            is_shared: whether other clients may have it mapped, because none writes to it.

        Raises:
            VolumeFailed: another client has it, or with the words of ``rbd``.
        """
        if device := self.device_of(image):
            return device
        if not key:
            return self._map(image, ["-k", image.keyring], is_shared=is_shared)
        with secret_file(key) as file:
            return self._map(image, ["--keyfile", file], is_shared=is_shared)

    def unmap(self, image: Image) -> None:
        """Take the device of an image away; no error if it has none.

        Raises:
            VolumeFailed: it is in use.
        """
        device = self.device_of(image)
        if not device:
            return
        done = self._programs.run(["rbd", "unmap", device])
        if done.code:
            text = f"error {done.problem}, rbd output: {done.output}"
            raise VolumeFailed(f"rbd: failed to unmap device {device}, {text}")

    def _map(self, image: Image, credentials: Sequence[str], *, is_shared: bool) -> str:
        client = ["--id", image.user, "-m", ",".join(image.monitors), *credentials]
        if not is_shared:
            self._wait_until_unused(image, client)
        self._load_module()
        done = self._programs.run(["rbd", "map", str(image), *client])
        if done.code:
            raise VolumeFailed(f"rbd: map failed {done.problem}, rbd output: {done.output}")
        for second in range(DEVICE_SECONDS):
            if second:
                self._sleep(1.0)
            if device := self.device_of(image):
                return device
        raise VolumeFailed(f"Could not map image {image}, Timeout after {DEVICE_SECONDS}s")

    def _load_module(self) -> None:
        try:
            self._programs.run(["modprobe", "rbd"])
        except VolumeFailed:
            return  # not installed: the module may be part of the kernel, and `rbd map` says what is amiss

    def _wait_until_unused(self, image: Image, client: Sequence[str]) -> None:
        seconds = WATCHER_SECONDS
        for step in range(WATCHER_STEPS):
            if step:
                self._sleep(seconds)
                seconds *= WATCHER_FACTOR
            done = self._programs.run(["rbd", "status", image.image, "--pool", image.pool, *client])
            if done.code:
                why = f"({done.problem}), rbd output: ({done.output})"
                raise VolumeFailed(f"fail to check rbd image status with: {why}")
            if "watcher=" not in done.output:
                return
        raise VolumeFailed(f"rbd image {image} is still being used")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""
