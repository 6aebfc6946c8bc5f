"""What OpenStack tells a machine about itself: on a config drive, or by the metadata service; in the order of the file.

Source: cloud-provider-openstack ``pkg/util/metadata/metadata.go``; https://docs.openstack.org/nova/latest/user/metadata.html.
"""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from hyperkube_cloud.openstack.config import CONFIG_DRIVE
from hyperkube_lib.cloud_provider.rest import Json, Request, Send
from hyperkube_lib.volume_mount.programs import HostPrograms, Programs

from hyperkube.hookspecs.cloud import CloudUnavailable
from hyperkube.hookspecs.volume import VolumeFailed

URL: Final = "http://169.254.169.254/openstack/latest/meta_data.json"
FILE: Final = "openstack/latest/meta_data.json"
LABEL: Final = "config-2"
TIMEOUT: Final = 5.0
"""Seconds: the metadata service is near, or not at all."""
_BY_LABEL: Final = Path("/dev/disk/by-label")


class Metadata:
    """Reads it once; thread-safe."""

    def __init__(
        self, send: Send, order: Sequence[str], programs: Programs | None = None, by_label: Path = _BY_LABEL
    ) -> None:
        """Take the way to the metadata service, what mounts drives, and where those are found by label."""
        self._send, self._order = send, order
        self._programs, self._by_label = programs or HostPrograms(), by_label
        self._lock = threading.Lock()
        self._known: Json = {}

    @property
    def name(self) -> str:
        """The server's name.

        Raises:
            CloudUnavailable: this is no machine of OpenStack's; also for `zone`.
        """
        return str(self._read().get("name") or "")

    @property
    def zone(self) -> str:
        """The server's availability zone."""
        return str(self._read().get("availability_zone") or "")

    def _read(self) -> Json:
        ways: Mapping[str, Callable[[], bytes]] = {CONFIG_DRIVE: self._from_drive}
        with self._lock:
            problems = []
            for each in self._order if not self._known else ():
                try:
                    self._known = _parsed(ways.get(each, self._from_service)())
                    break
                except (CloudUnavailable, VolumeFailed, OSError) as error:
                    problems.append(f"{each}: {error}")
            if not self._known:
                raise CloudUnavailable(f"no metadata of this machine: {'; '.join(problems)}")
            return self._known

    def _from_service(self) -> bytes:
        answer = self._send(Request(method="GET", url=URL, headers={}))
        if answer.status != 200:
            raise CloudUnavailable(f"unexpected status code when reading metadata from {URL}: {answer.status}")
        return answer.body

    def _from_drive(self) -> bytes:
        device = str(self._by_label / LABEL)
        if not Path(device).exists():
            device = self._programs.run(["blkid", "-l", "-t", f"LABEL={LABEL}", "-o", "device"]).output.strip()
        if not device:
            raise CloudUnavailable("there is no config drive")
        with self._mounted(device) as folder:
            return (folder / FILE).read_bytes()

    @contextmanager
    def _mounted(self, device: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="configdrive") as folder:
            for kind in ("iso9660", "vfat"):
                done = self._programs.run(["mount", "-t", kind, "-o", "ro", device, folder])
                if done.code == 0:
                    break
            else:
                raise CloudUnavailable(f"error mounting configdrive {device}: {done.problem}")
            try:
                yield Path(folder)
            finally:
                self._programs.run(["umount", folder])


def _parsed(content: bytes) -> Json:
    try:
        told = json.loads(content)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict) or not told.get("uuid"):
        raise CloudUnavailable("invalid metadata, uuid seems empty")
    return told
