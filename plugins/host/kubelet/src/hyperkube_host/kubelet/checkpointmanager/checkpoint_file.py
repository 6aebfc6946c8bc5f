"""A checkpoint: a JSON file with a checksum, replaced as a whole.

Source: kubernetes ``pkg/kubelet/checkpointmanager/checkpoint_manager.go``, ``checksum/checksum.go``.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hyperkube.kinds.workloads import fnv32a
from hyperkube.machinery.errors import HyperkubeError

LARGEST_BYTES = 64 << 20


class CheckpointCorrupt(HyperkubeError):
    """The file is no checkpoint, or its checksum is not that of its content."""


def canonical_json(content: Mapping[str, Any]) -> str:
    """Return a text that is the same for equal content: what the checksum of our own formats is made of."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


class CheckpointFile:
    """One checkpoint on disk."""

    def __init__(
        self, path: Path, *, key: str = "checksum", print_for_hash: Callable[[Mapping[str, Any]], str]
    ) -> None:
        """Take the path, the member with the checksum, and what prints the other members for it."""
        self.path = path
        self._key = key
        self._print = print_for_hash

    def read(self) -> dict[str, Any] | None:
        """Return the content without its checksum; None when there is no file.

        Raises:
            CheckpointCorrupt: the file cannot be trusted.
        """
        try:
            if self.path.stat().st_size > LARGEST_BYTES:
                raise CheckpointCorrupt(f"{self.path}: larger than {LARGEST_BYTES} bytes")
            content = json.loads(self.path.read_text(encoding="utf-8"))
            checksum = content.pop(self._key)
            expected = fnv32a(self._print(content).encode())
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise CheckpointCorrupt(f"{self.path}: {error}") from error
        if checksum != expected:
            raise CheckpointCorrupt(f"{self.path}: checkpoint is corrupted")
        return dict(content)

    def write(self, content: Mapping[str, Any]) -> None:
        """Replace the file: a crash leaves the old one or the new one."""
        full = {**content, self._key: fnv32a(self._print(content).encode())}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".", dir=self.path.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(full, file, separators=(",", ":"))
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self.path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise

    def remove(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)
