"""The docker-archive format: a tar with a manifest, a configuration per image, and its layers.

Source of the format: moby, image/spec/spec.md ("Combined Image JSON + Filesystem Changeset Format").
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import platform
import tarfile
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import IO

import orjson
from hyperkube_lib.image_archive.layer import Layer

from hyperkube.machinery.dataclass import dataclass

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm"}
_CREATED = "1970-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class Image:
    """One image: its names and what a container of it runs unless told otherwise.

    Attributes:
        tags: full references, such as ``docker.io/library/busybox:1``.
        fill: puts the files into the one layer.
        entrypoint, command, environment, working_dir, user, labels: as in the OCI image configuration.
        ports: exposed ports, such as ``80/tcp``.
        stop_signal: by name, empty for the runtime's default.
    """

    tags: Sequence[str]
    fill: Callable[[Layer], None]
    entrypoint: Sequence[str] = ()
    command: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    working_dir: str = ""
    user: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    ports: Sequence[str] = ()
    stop_signal: str = ""

    def configuration(self, diff_id: str) -> bytes:
        """Return the image's configuration, whose digest is the image's ID."""
        config: dict[str, object] = {
            "Entrypoint": list(self.entrypoint),
            "Cmd": list(self.command),
            "Env": [f"{name}={value}" for name, value in self.environment.items()],
            "WorkingDir": self.working_dir,
            "User": self.user,
            "Labels": dict(self.labels),
            "ExposedPorts": {port: {} for port in self.ports},
            "StopSignal": self.stop_signal,
        }
        return orjson.dumps(
            {
                "architecture": _ARCHITECTURES.get(platform.machine(), platform.machine()),
                "os": "linux",
                "created": _CREATED,
                "config": {name: value for name, value in config.items() if value},
                "rootfs": {"type": "layers", "diff_ids": [diff_id]},
                "history": [{"created": _CREATED, "created_by": "hyperkube"}],
            }
        )


def write_docker_archive(path: Path, images: Sequence[Image]) -> None:
    """Write images to a file; one of the same content is written the same, byte for byte."""
    manifest = []
    with contextlib.ExitStack() as open_files, tarfile.open(path, "w") as archive:
        for image in images:
            layer_file = open_files.enter_context(tempfile.TemporaryFile(dir=path.parent))
            layer = Layer(layer_file)
            image.fill(layer)
            diff_id = layer.finish()
            configuration = image.configuration(diff_id)
            config_name, layer_name = (
                f"{hashlib.sha256(configuration).hexdigest()}.json",
                f"{diff_id.removeprefix('sha256:')}.tar",
            )
            size = layer_file.tell()
            layer_file.seek(0)
            _member(archive, layer_name, size, layer_file)
            _member(archive, config_name, len(configuration), io.BytesIO(configuration))
            manifest.append({"Config": config_name, "RepoTags": list(image.tags), "Layers": [layer_name]})
        text = orjson.dumps(manifest)
        _member(archive, "manifest.json", len(text), io.BytesIO(text))


def _member(archive: tarfile.TarFile, name: str, size: int, data: IO[bytes]) -> None:
    info = tarfile.TarInfo(name)
    info.size = size
    archive.addfile(info, data)
