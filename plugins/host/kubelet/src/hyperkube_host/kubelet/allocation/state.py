"""Remembers over a restart of the kubelet what it granted.

A pod without resources is not remembered: it cannot be resized.

Source: kubernetes ``pkg/kubelet/allocation/state/state_checkpoint.go``.
"""

from __future__ import annotations

import logging
import threading
from pathlib import Path

from hyperkube_host.kubelet.checkpointmanager.checkpoint_file import (
    CheckpointCorrupt,
    CheckpointFile,
    canonical_json,
)
from hyperkube_host.kubelet.types.allocation import Allocation

FILE_NAME = "allocated_pods_state"


class AllocationState:
    """Allocations by the uid of their pod; thread-safe."""

    def __init__(self, folder: Path | None) -> None:
        """Keep the checkpoint in `folder`; None keeps nothing over a restart."""
        self._file = None if folder is None else CheckpointFile(folder / FILE_NAME, print_for_hash=canonical_json)
        self._lock = threading.Lock()
        self._entries: dict[str, Allocation] | None = None
        self._logger = logging.getLogger("hyperkube.kubelet")

    def get(self, uid: str) -> Allocation | None:
        """Return what a pod was granted."""
        with self._lock:
            return self._known().get(uid)

    def set(self, uid: str, granted: Allocation) -> None:
        """Remember what a pod was granted."""
        with self._lock:
            if self._known().get(uid) != granted:
                self._known()[uid] = granted
                self._write()

    def remove(self, uid: str) -> None:
        """Forget a pod."""
        with self._lock:
            if self._known().pop(uid, None) is not None:
                self._write()

    def _known(self) -> dict[str, Allocation]:
        if self._entries is None:
            self._entries = self._read()
        return self._entries

    def _read(self) -> dict[str, Allocation]:
        if self._file is None:
            return {}
        try:
            entries = (self._file.read() or {}).get("entries") or {}
            return {str(uid): Allocation.decode(entry) for uid, entry in entries.items()}
        except (CheckpointCorrupt, KeyError, TypeError, AttributeError) as error:
            # What pods ask for is taken for granted then, as for pods that a kubelet without this file admitted.
            self._logger.error("%s cannot be read, resources are granted anew: %s", FILE_NAME, error)  # noqa: TRY400  no bug
            return {}

    def _write(self) -> None:
        if self._file is not None:
            self._file.write({"entries": {uid: granted.encode() for uid, granted in (self._entries or {}).items()}})
