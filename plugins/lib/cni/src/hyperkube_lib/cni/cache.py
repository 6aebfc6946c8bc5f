"""What was asked for a container and what came of it, in the files that libcni writes.

DEL and CHECK need both after a restart, and other tools look there. One file per attachment:
``FOLDER/results/NETWORK-CONTAINER-INTERFACE``.

Source: CNI ``libcni/api.go`` (cachedInfo).
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from hyperkube.machinery.dataclass import dataclass

KIND = "cniCacheV1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A container's interface in a network.

    Attributes:
        configuration: the network's, as its file was read.
        namespace_path: empty when it is not known.
        arguments: the pairs of ``CNI_ARGS``.
        capabilities: what the programs could be told.
    """

    container_id: str
    interface: str
    network: str
    configuration: str = ""
    namespace_path: str = ""
    arguments: tuple[tuple[str, str], ...] = ()
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    result: Mapping[str, Any] = field(default_factory=dict)


class AttachmentCache:
    """The attachments of a node, as files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "results"

    def _path(self, attachment: Attachment) -> Path:
        return self._folder / f"{attachment.network}-{attachment.container_id}-{attachment.interface}"

    def save(self, attachment: Attachment) -> None:
        """Write it, replacing what was there at once.

        Raises:
            OSError: the folder cannot be written.
        """
        content: dict[str, Any] = {
            "kind": KIND,
            "containerId": attachment.container_id,
            "config": base64.b64encode(attachment.configuration.encode()).decode(),
            "ifName": attachment.interface,
            "networkName": attachment.network,
            "netns": attachment.namespace_path,
            "cniArgs": [list(pair) for pair in attachment.arguments],
            "capabilityArgs": dict(attachment.capabilities),
            "result": dict(attachment.result),
        }
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._path(attachment)
        fresh = path.with_name(f".{path.name}.new")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        with os.fdopen(os.open(fresh, flags, 0o600), "w", encoding="utf-8") as out:
            json.dump({key: value for key, value in content.items() if value}, out)
        fresh.replace(path)

    def remove(self, attachment: Attachment) -> None:
        """Forget it; no error if it is not there."""
        self._path(attachment).unlink(missing_ok=True)

    def of_container(self, container_id: str) -> list[Attachment]:
        """Return the attachments of one container."""
        return [found for found in self._read(f"*-{container_id}-*") if found.container_id == container_id]

    def all(self) -> list[Attachment]:
        """Return all attachments."""
        return list(self._read("*"))

    def _read(self, pattern: str) -> Iterator[Attachment]:
        for path in sorted(self._folder.glob(pattern)):
            found = None if path.name.startswith(".") else _attachment(path)
            if found is not None:
                yield found


def _attachment(path: Path) -> Attachment | None:
    """Return what a file says, None if it is not ours to understand."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw["kind"] != KIND:
            return None
        return Attachment(
            container_id=raw["containerId"],
            interface=raw["ifName"],
            network=raw["networkName"],
            configuration=base64.b64decode(raw.get("config") or "").decode(),
            namespace_path=raw.get("netns") or "",
            arguments=tuple((key, value) for key, value in raw.get("cniArgs") or ()),
            capabilities=raw.get("capabilityArgs") or {},
            result=raw.get("result") or {},
        )
    except (OSError, ValueError, KeyError, TypeError, binascii.Error):
        return None
